package peer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/runs"
)

// A manifest is fetched from whoever announced the run, and peers that take part ask now and then whether it goes on.
const (
	// runProtocol has manifests with the proof that the owner is a member. Before it was the same without.
	runProtocol, runProtocolBefore = protocol.ID("/satin/run/2"), protocol.ID("/satin/run/1")

	// manifestTime is for a manifest of the largest size over a slow link.
	manifestTime = 2 * time.Minute
	// maxBesides bounds what is told beside a manifest, and maxRest what of that is no statement.
	maxBesides = statement.MaxTombstone + statement.MaxAnswered + statement.MaxRoster + maxRest
	maxRest    = 64
)

// inquiries are the questions after runs, those of this peer and those of others.
type inquiries struct {
	*base.Base
	board *switchboard.Board
	runs  *conductor
	files *archive
	apps  *catalog
	host  *host.Host
}

// runQuestion asks after a run.
type runQuestion struct {
	Run  job.RunID `cbor:"1,keyasint"`
	Full bool      `cbor:"2,keyasint,omitempty"` // the manifest is wanted
}

// runAnswer is what somebody knows of a run; none of it: nothing.
type runAnswer struct {
	Manifest  []byte `cbor:"1,keyasint,omitempty"`
	Tombstone []byte `cbor:"2,keyasint,omitempty"`
	// Known says that the run goes on, in answer to a question that did not want the manifest.
	Known bool `cbor:"3,keyasint,omitempty"`
	// Answered says that somebody has the answer; Over, that the run is over for the speaker because of it.
	Answered []byte `cbor:"4,keyasint,omitempty"`
	Over     bool   `cbor:"5,keyasint,omitempty"`
	// Roster says who may take part. The speaker has not heard its author for so many seconds.
	Roster    []byte `cbor:"6,keyasint,omitempty"`
	RosterAge uint16 `cbor:"7,keyasint,omitempty"`
	// Led says that whoever has the answer was heard to lead the run.
	Led bool `cbor:"8,keyasint,omitempty"`
}

func (a *runAnswer) Length() int {
	return min(len(a.Manifest)+len(a.Tombstone)+len(a.Answered)+len(a.Roster)+maxRest, wire.MaxValue)
}

func (x *inquiries) serve() {
	for _, version := range []protocol.ID{runProtocol, runProtocolBefore} {
		x.board.Answer(version, 1<<10, manifestTime, func(from peer.ID, b []byte) (any, error) {
			var q runQuestion
			if err := wire.Value().Decode(b, &q); err != nil {
				return nil, err
			}
			a := x.tellOfRun(&q, from)
			if version == runProtocolBefore {
				a.forBefore()
			}
			return a, nil
		})
	}
}

// forBefore leaves out what daemons of before do not know: they would refuse all of the answer for it.
func (a *runAnswer) forBefore() { a.Manifest, a.Led = statement.Unbacked(a.Manifest), false }

// tellOfRun answers a question after a run. Whoever asks after one that this peer does not know may know it.
func (x *inquiries) tellOfRun(q *runQuestion, asker peer.ID) *runAnswer {
	t := x.runs
	t.mu.Lock()
	k := t.core.Knows(q.Run, peerName(asker), q.Full)
	_, there := t.core.Run(q.Run)
	t.mu.Unlock()
	if !there && k.Tombstone == nil && !q.Full {
		t.announced(q.Run, asker)
	}
	a := &runAnswer{Manifest: k.Manifest, Known: k.Known, Over: k.Over, Led: k.Led}
	if k.Held {
		a.Manifest = x.files.manifestHeld(q.Run)
	}
	a.Known = a.Known && a.Manifest == nil
	if len(a.Manifest)+maxBesides > wire.MaxValue {
		return a // the rest will be asked for
	}
	if k.Tombstone != nil {
		a.Tombstone = k.Tombstone.Sealed
	}
	if k.Claim != nil {
		a.Answered = k.Claim.Sealed
	}
	if k.Roster != nil {
		a.Roster, a.RosterAge = k.Roster.Sealed, uint16(min((k.RosterAge+time.Second-1)/time.Second, math.MaxUint16))
	}
	return a
}

// askManifest asks a member for a manifest.
func (x *inquiries) askManifest(ctx context.Context, run job.RunID, from runs.PeerID) *runs.Told {
	told, m, err := x.askOfRun(ctx, &runQuestion{run, true}, from, wire.MaxValue, manifestTime)
	switch {
	case err != nil:
	case m == nil && told.Tombstone == nil && told.Claim == nil:
		err = errUnknownRun
	case m != nil && m.Run != run:
		err = fmt.Errorf("it sent the manifest of run %s", m.Run)
	case m != nil && m.Swarm != x.host.SwarmName():
		err = fmt.Errorf("it sent a manifest for the swarm %q", plain.Clip(m.Swarm))
	case m != nil:
		told.Manifest, told.Unfit = manifestOf(m), x.apps.unfit(m)
	}
	if err != nil {
		x.Log.Debug("run not taken up", "run", run, "from", string(from), "error", err)
		return &runs.Told{Run: run, From: from, Failed: true}
	}
	return told
}

// errUnknownRun is what asking after a run gives when the other side knows nothing of it.
var errUnknownRun = errors.New("it knows of no such run")

// askAfter asks a member whether a run goes on.
func (x *inquiries) askAfter(ctx context.Context, run job.RunID, whom runs.PeerID) *runs.Told {
	told, _, err := x.askOfRun(ctx, &runQuestion{Run: run}, whom, maxBesides, exchangeTime)
	if err != nil {
		return &runs.Told{Run: run, From: whom, Failed: true}
	}
	return told
}

// askOfRun asks one question after a run. Statements that cannot be read are as though they had not been sent.
func (x *inquiries) askOfRun(ctx context.Context, q *runQuestion, from runs.PeerID, limit int, within time.Duration) (
	*runs.Told, *statement.SignedManifest, error) {
	id, err := peer.Decode(string(from))
	if err != nil {
		return nil, nil, err
	}
	var a runAnswer
	if err := x.board.Ask(ctx, id, runProtocol, q, &a, limit, within); err != nil {
		return nil, nil, err
	}
	told := &runs.Told{Run: q.Run, From: from, Known: a.Known, Over: a.Over, Led: a.Led}
	if a.Tombstone != nil {
		s, author, err := statement.OpenTombstone(a.Tombstone)
		if err != nil {
			return nil, nil, err
		}
		if s.Run == q.Run {
			told.Tombstone = tombstoneOf(s, author, a.Tombstone)
		}
	}
	if a.Answered != nil {
		c, err := statement.OpenAnswered(a.Answered)
		if err != nil {
			return nil, nil, err
		}
		if c.Run == q.Run {
			told.Claim = claimOf(c)
		}
	}
	if a.Roster != nil {
		r, author, err := statement.OpenRoster(a.Roster)
		if err != nil {
			return nil, nil, err
		}
		if r.Run == q.Run {
			told.Roster, told.RosterAge = rosterOf(r, author, a.Roster), time.Duration(a.RosterAge)*time.Second
		}
	}
	if a.Manifest == nil {
		return told, nil, nil
	}
	m, err := statement.OpenManifest(a.Manifest)
	return told, m, err
}
