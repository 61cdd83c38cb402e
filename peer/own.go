package peer

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

// What a peer remembers of its own runs while they have no answer: a file for each, written before the run is
// announced, and removed when it has ended. So a peer that was restarted knows what is its own, takes part in
// it again, and asks the others whether they have the answer.

// ownRun is the first part of the file; the signed manifest is the second.
type ownRun struct {
	Args      []string `cbor:"1,keyasint,omitempty"` // as on the owner's command line
	Began     int64    `cbor:"2,keyasint"`           // nanoseconds since 1970
	Suspended bool     `cbor:"3,keyasint,omitempty"`
	Seq       uint64   `cbor:"4,keyasint,omitempty"` // of the last tombstone
}

// maxOwn bounds the own runs without an answer, suspended ones included.
const maxOwn = 256

func (p *Peer) openOwn() (err error) {
	p.own, err = openCabinet(filepath.Join(p.cfg.Host.StateDir, "own"), ".run", maxOwn, 0)
	return err
}

// remember writes an own run down. The table's mutex is held.
func (p *Peer) remember(r *run) error {
	o := &ownRun{Args: r.args, Began: r.began.UnixNano(), Suspended: r.suspended, Seq: r.seq}
	b, err := wire.Value().Encode(o)
	if err != nil {
		return err
	}
	return p.own.write(r.manifest.Run.Hex(), b, r.bytes)
}

// recall reads what was written down of an own run; fs.ErrNotExist if nothing was.
func (p *Peer) recall(run job.RunID) (*ownRun, *statement.SignedManifest, error) {
	parts, err := p.own.read(run.Hex(), 2)
	if err != nil {
		return nil, nil, err
	}
	o := &ownRun{}
	if err := wire.Value().Decode(parts[0], o); err != nil {
		return nil, nil, err
	}
	m, err := statement.OpenManifest(parts[1])
	if err != nil {
		return nil, nil, err
	}
	if m.Owner != p.host.ID() || m.Run != run {
		return nil, nil, errNotOwn
	}
	return o, m, nil
}

// forgetOwn removes the file of an own run that has ended.
func (p *Peer) forgetOwn(run job.RunID) {
	if err := p.own.remove(run.Hex()); err != nil {
		p.log.Warn("what was written down of a run that has ended cannot be removed", "run", run, "error", err)
	}
}

// takeBack takes up this peer's own runs of its earlier lives: as an ordinary peer, for another one may hold
// the root job by now.
func (t *runs) takeBack() {
	p, now := t.p, time.Now()
	for _, name := range p.own.names() {
		id, ok := job.ParseRunID(name)
		if !ok {
			continue
		}
		o, m, err := p.recall(id)
		if err != nil {
			p.log.Warn("own run of an earlier life cannot be read", "run", name, "error", err)
			continue
		}
		if p.answers.has(name) || now.Unix() >= m.Expires {
			p.forgetOwn(id)
			continue
		}
		r := &run{
			manifest: m.Head(), bytes: m.Bytes, mine: true, returned: true, suspended: o.Suspended, args: o.Args,
			began: time.Unix(0, o.Began), seq: o.Seq,
			state: control.RunRunning, over: make(chan struct{}), most: 1,
		}
		t.mu.Lock()
		if o.Suspended {
			t.sleep(r)
		} else if r.why = p.unfit(&m.Manifest); r.why != "" {
			r.state, r.ended = control.RunRefused, now
			close(r.over)
		} else if err = t.start(r, m, beginning{}); err == nil {
			p.log.Info("own run of an earlier life goes on", "run", m.Run, "title", m.Title)
		}
		t.table[m.Run] = r
		t.mu.Unlock()
		if err != nil {
			p.log.Warn("own run of an earlier life cannot go on", "run", m.Run, "error", err)
		}
	}
}

// errNotOwn is what a file is that somebody put there.
var errNotOwn = errors.New("it is the manifest of another peer's run, or of another run")

// sleep puts a suspended run into the table. The mutex is held.
func (t *runs) sleep(r *run) {
	r.state, r.why, r.ended = control.RunSuspended, "suspended: satin-peer resume goes on with it", time.Now()
	close(r.over)
}
