package peer

import (
	"path/filepath"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
)

// Answer is the end of a run as it is kept, by its owner or for him.
type Answer struct {
	Manifest []byte `cbor:"1,keyasint,omitempty"` // as signed
	Outcome  []byte `cbor:"2,keyasint,omitempty"` // session.Outcome of the root job; empty if the run was cancelled
	Ended    int64  `cbor:"3,keyasint"`           // seconds since 1970
	Elapsed  int64  `cbor:"4,keyasint"`           // nanoseconds from submission to end
	Peers    int    `cbor:"5,keyasint,omitempty"` // most peers that took part at one time
	// Answered is the signed statement of whoever had the root job, if that was not the owner.
	Answered []byte `cbor:"6,keyasint,omitempty"`
	// Owner is the peer that it is kept for; empty: this one.
	Owner string `cbor:"7,keyasint,omitempty"`
}

// answers are runs that have ended, each in a file: manifest and outcome are parts of their own, because
// together they may be more than one value may be.
type answers struct{ *cabinet }

const (
	// maxAnswers is how many answers to own runs are kept, and maxHeld how many to those of others, for heldLife.
	maxAnswers = 256
	maxHeld    = 64
	heldLife   = 7 * 24 * time.Hour
)

// openAnswers opens what is kept of runs: the answers to own ones, the answers that differ from these, and
// those that are kept for others.
func (p *Peer) openAnswers() (err error) {
	dir := filepath.Join(p.cfg.Host.StateDir, "answers")
	open := func(at *answers, dir string, most int, life time.Duration) {
		if err == nil {
			at.cabinet, err = openCabinet(dir, ".answer", most, life)
		}
	}
	open(&p.answers, dir, maxAnswers, 0)
	open(&p.disputes, filepath.Join(dir, "disputed"), maxAnswers, 0)
	open(&p.held, filepath.Join(p.cfg.Host.StateDir, "held"), maxHeld, heldLife)
	return err
}

// keep writes an answer and returns when it is on the disk.
func (a answers) keep(run job.RunID, ans *Answer) error {
	head := *ans
	head.Manifest, head.Outcome = nil, nil
	b, err := wire.Value().Encode(&head)
	if err != nil {
		return err
	}
	return a.write(run.Hex(), b, ans.Manifest, ans.Outcome)
}

// load reads an answer; fs.ErrNotExist if there is none.
func (a answers) load(run job.RunID) (*Answer, error) { return a.decode(run, 3) }

// head is an answer without manifest and outcome.
func (a answers) head(run job.RunID) (*Answer, error) { return a.decode(run, 1) }

func (a answers) decode(run job.RunID, n int) (*Answer, error) {
	parts, err := a.read(run.Hex(), n)
	if err != nil {
		return nil, err
	}
	ans := &Answer{}
	if err := wire.Value().Decode(parts[0], ans); err != nil {
		return nil, err
	}
	if n > 1 {
		ans.Manifest, ans.Outcome = parts[1], parts[2]
	}
	return ans, nil
}

// by is the statement of who had the root job; nil if that was the owner.
func (a *Answer) by() *statement.SignedAnswered {
	if len(a.Answered) == 0 {
		return nil
	}
	s, err := statement.OpenAnswered(a.Answered)
	if err != nil {
		return nil
	}
	return s
}
