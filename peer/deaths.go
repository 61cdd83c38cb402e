package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// maxDeaths is how many runs' deaths are remembered.
const maxDeaths = 256

// deathsFile is how a toll is on the disk.
type deathsFile struct {
	At  []int64 `cbor:"1,keyasint"`
	Why string  `cbor:"2,keyasint,omitempty"`
}

// infirmary remembers deaths, also on the disk.
type infirmary struct {
	mu        sync.Mutex // held while something changes
	files     *cabinet.Cabinet
	unwritten sync.Map // job.RunID -> runs.Toll, which the disk has refused, until the run is over
}

// of is what is known of a run. It does not wait for one that is being written, which a disk may take long for: whoever
// asks may hold the conductor's mutex.
func (x *infirmary) of(id job.RunID) runs.Toll {
	if d, ok := x.unwritten.Load(id); ok {
		return d.(runs.Toll)
	}
	var d deathsFile
	parts, err := x.files.Read(id.Hex(), 1)
	if err != nil || wire.Control().Decode(parts[0], &d) != nil || len(d.At) > 2 {
		return runs.Toll{} // there is none, or it cannot be read: the next one writes it anew
	}
	return runs.Toll(d)
}

// note writes one more death down.
func (x *infirmary) note(id job.RunID, now time.Time, why string) (runs.Toll, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := x.of(id).And(now, why)
	b, err := wire.Control().Encode((*deathsFile)(&d))
	if err == nil {
		err = x.files.Write(id.Hex(), b)
	}
	if err != nil {
		x.unwritten.Store(id, d)
	} else {
		x.unwritten.Delete(id)
	}
	return d, err
}

// lift forgets a run's deaths, and says whether it was in quarantine.
func (x *infirmary) lift(id job.RunID) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.of(id).Quarantined() {
		return false, nil
	}
	x.unwritten.Delete(id)
	return true, x.files.Remove(id.Hex())
}

// forget removes what is known of a run that is over.
func (x *infirmary) forget(id job.RunID) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unwritten.Delete(id)
	return x.files.Remove(id.Hex())
}

// list names the runs in quarantine.
func (x *infirmary) list() (ids []job.RunID) {
	for _, f := range x.files.Files() {
		if id, ok := job.ParseRunID(f.Name); ok && x.of(id).Quarantined() {
			ids = append(ids, id)
		}
	}
	x.unwritten.Range(func(id, d any) bool {
		if run := id.(job.RunID); d.(runs.Toll).Quarantined() && !slices.Contains(ids, run) {
			ids = append(ids, run)
		}
		return true
	})
	return ids
}

// engineDied is the death of the process that computed for a run. The session has said goodbye; another one takes
// its place, if package runs has it so.
func (t *conductor) engineDied(r *part, death session.Death) {
	id := r.manifest.Run
	toll, err := t.deaths.note(id, t.Now(), clipText(death.Why.Error()))
	if err != nil {
		t.Log.Warn("a death cannot be remembered beyond this process", "run", id, "error", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parts[id] != r || r.final != nil {
		return // the run has ended meanwhile
	}
	t.Log.Warn("the process that computes for a run has ended", "run", id, "app", r.manifest.App, "why", death.Why,
		"quarantined", toll.Quarantined())
	t.dismiss(r)
	ledger := r.ledger // what is in it the next session has as in another life of this peer
	t.Spawn(func(context.Context) { ledger.Close(false) })
	t.feed(func(c *runs.Core, now time.Time) []runs.Order {
		return c.Deaths.Died(now, id, suspects(death.Jobs), toll)
	})
	if t.parts[id] == r { // it does not go on here
		t.apps.modules.unuse(r.manifest)
	}
}

// suspects are jobs by the names that package runs has for them.
func suspects(jobs []steal.Job) (list []runs.Suspect) {
	for _, j := range jobs {
		list = append(list, runs.Suspect{Path: j.Path, Identity: j.Identity})
	}
	return list
}

// deathNews tells everybody of which jobs a process of its author's died.
type deathNews struct {
	Run  job.RunID `cbor:"1,keyasint"`
	Jobs []suspect `cbor:"2,keyasint"`
	Why  string    `cbor:"3,keyasint,omitempty"`
}

type suspect struct {
	Path     job.Path     `cbor:"1,keyasint,omitempty"`
	Identity job.Identity `cbor:"2,keyasint"`
}

const (
	// maxDeathNews bounds them, in bytes; jobs that do not fit are left out.
	maxDeathNews = 8 << 10
	maxSuspects  = 64
)

// tellDeath tells of a death here.
func (v *voice) tellDeath(o runs.TellDeath) {
	n := deathNews{Run: o.Run, Why: o.Why}
	for _, j := range o.Jobs {
		n.Jobs = append(n.Jobs, suspect(j))
	}
	for {
		b := encode(&n)
		if len(b) <= maxDeathNews {
			v.tell(gossip.KindDeath, b)
			return
		}
		n.Jobs = n.Jobs[:len(n.Jobs)/2]
	}
}

func readDeath(b []byte) (n deathNews, err error) {
	if len(b) > maxDeathNews {
		return n, fmt.Errorf("news of a death of %d bytes, at most %d are accepted", len(b), maxDeathNews)
	}
	if err := wire.Control().Decode(b, &n); err != nil {
		return n, err
	}
	if len(n.Jobs) > maxSuspects || len(n.Why) > maxWhy || plain.Name(n.Why) != n.Why {
		return n, errors.New("news of a death with too many jobs, or a reason that cannot be shown")
	}
	return n, nil
}

// hearDeath takes such news in.
func (t *conductor) hearDeath(author peer.ID, b []byte) {
	n, err := readDeath(b)
	if err != nil {
		return // checked before
	}
	var jobs []runs.Suspect
	for _, j := range n.Jobs {
		jobs = append(jobs, runs.Suspect(j))
	}
	t.input(func(c *runs.Core, now time.Time) []runs.Order {
		return c.Deaths.DeathTold(now, n.Run, peerName(author), jobs, n.Why)
	})
}

// doom ends a run's root job by what one of its jobs has done.
func (t *conductor) doom(o runs.Doom) {
	info, ok := t.core.Run(o.Run)
	if !ok {
		return
	}
	names := make([]string, len(o.Peers))
	for i, id := range o.Peers {
		names[i] = string(id)
	}
	text := fmt.Sprintf("it killed the processes of peers that ran it (%s): %s", strings.Join(names, ", "), o.Why)
	outcome := compute.Killed(names[0], job.ID{Run: o.Run, Path: o.Job.Path}, text)
	t.Spawn(func(context.Context) { t.rootEnded(headOf(info.Manifest), outcome, nil) })
}

// dismiss ends a part's session. The mutex is held.
func (t *conductor) dismiss(r *part) {
	s := r.session
	final := r.stats()
	t.sessions.live.Delete(r.manifest.Run)
	t.crew.arbiter.Leave(r.cores)
	t.crew.memory.leave(r.manifest.Run)
	r.ended = t.Now()
	r.conclude(t, &final)
	t.Spawn(func(context.Context) { s.Close() })
}

// maxWhy bounds a reason that is written down.
const maxWhy = 500

func clipText(s string) string { return plain.Name(plain.OneLine(errors.New(s[:min(len(s), maxWhy)]))) }
