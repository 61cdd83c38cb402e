package peer

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
)

// run is a run as this peer knows it. The mutex of its table guards what changes; session and share do not, once set.
type run struct {
	manifest *statement.SignedManifest // its head; never changed
	bytes    []byte                    // the whole manifest as it travels; nil when the run has ended
	mine     bool
	args     []string // as on the owner's command line; only of own runs
	began    time.Time

	state control.RunState
	why   string
	ended time.Time
	// lost says that the run was given up although its owner has not ended it for good: it is taken up again
	// when it is heard of.
	lost bool
	// returned says that this own run was begun in an earlier life of this peer, or was suspended: others may
	// have gone on with it.
	returned bool
	seq      uint64 // of the last tombstone of an own run

	keeper    *keeper // of its checkpoint; nil: there is none. Not changed once the run is in the table
	suspended bool    // and written down as such

	// again is when an own run, or that this peer has the answer to another's, is told once more.
	again repetition
	// asked is when others were last asked after the run, and turn how often.
	asked  time.Time
	asking bool
	turn   int

	master      peer.ID // who was last heard to hold the root job
	masterHeard time.Time

	claims   []*statement.SignedAnswered // of peers that say they have the answer, and are not believed yet
	answered *statement.SignedAnswered   // of the peer that had the root job at the end, if that is not the owner
	disputed string                      // the peer that has another answer

	session *session.Session // nil unless this peer takes part
	share   *share
	load    loadTeller
	loads   map[peer.ID]*load // what the others that take part have told

	outcome []byte           // of the root job, if this peer is the owner or had it
	stored  error            // why the answer is not on the disk
	most    int              // peers that took part at one time
	reached float64          // share of the tree that was done when it ended
	over    chan struct{}    // closed when the run has ended here
	final   *report.RunStats // of this peer's part, once it has ended
}

// participants are the members that can take part: those that have the application in the same version and
// are not silent.
func (p *Peer) participants(m *statement.Manifest) []*memberCard {
	list := p.members.list()
	fit := list[:0]
	for _, c := range list {
		if p.places.silent(c.Peer) {
			continue
		}
		for _, app := range c.Apps {
			if app.Name == m.App && app.Version == m.Version {
				fit = append(fit, c)
				break
			}
		}
	}
	return fit
}

// stats are the figures of this peer's part in the run so far.
func (r *run) stats() report.RunStats {
	if r.final != nil || r.session == nil {
		if r.final != nil {
			return *r.final
		}
		return report.RunStats{}
	}
	return statsOf(r.session.Pool().Stats(), r.session.Stats())
}

// dry says whether the run has no work on this peer at the moment.
func dry(s *session.Session) bool {
	st := s.Stats()
	return st.Held == 0 && st.Given == 0 && st.Load.Queued == 0 && st.Load.Idle == st.Load.Workers
}

// elapsed is the time since the run began here, until its end.
func (r *run) elapsed(now time.Time) time.Duration {
	if r.state.Ended() {
		now = r.ended
	}
	return now.Sub(r.began)
}
