package runs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// A process that computes may die of the jobs that it runs. Who that happens to tells everybody which jobs those
// were. A job that two peers name has killed both, as far as anybody can tell: it would kill the next one, too. So
// the run fails with its name, at its owner and at whoever holds its root, instead of going on from peer to peer. Where
// results of others are not believed, nor is this: there it has to have killed a process of the owner's, too, or, since
// an owner's machine may compute nothing, of members in as many hands as it takes to believe what strangers computed.
//
// A run whose jobs have killed the process here twice within TollWithin is left alone: it is in quarantine, also after
// a restart of this peer, until its user lifts that. After the first time this peer takes part again.

// A Toll is when that was last, as whoever carries out what is decided here keeps it on the disk.
type Toll struct {
	At  []int64 // Unix seconds, oldest first; at most two
	Why string
}

// TollWithin is for how long one death is held against a run.
const TollWithin = time.Hour

// And is the toll after one more death.
func (t Toll) And(now time.Time, why string) Toll {
	at := append(t.At[:len(t.At):len(t.At)], now.Unix())
	return Toll{at[max(0, len(at)-2):], why}
}

// Quarantined says whether the run is left alone.
func (t Toll) Quarantined() bool {
	const within = int64(TollWithin / time.Second)
	return len(t.At) == 2 && t.At[1]-t.At[0] <= within && t.At[0]-t.At[1] <= within // a clock may have gone back
}

// Text says so to people.
func (t Toll) Text(id RunID) string {
	return fmt.Sprintf("in quarantine here: the process that computes for it ended twice (%s); "+
		"satin-peer resume %s lets it in again", t.Why, id.Hex())
}

// Suspect is a job that ran when a process died: its place in the tree, and the hash of its function and argument.
type Suspect struct {
	Path     job.Path
	Identity job.Identity
}

// deaths are what is known of those of one run, by the peer whose process it was.
type deaths struct {
	by     map[PeerID]*death
	again  repetition // of this peer's own
	doomed bool       // the run is failing because of them

	worst  Suspect  // see killer
	killed []PeerID // by it
	stale  bool     // something was said since that was looked for
}

type death struct {
	jobs []Suspect     // the last ones
	keys []suspectHash // theirs
	why  string
}

// suspectHash tells jobs apart: to compare long paths of all with those of all takes too long.
type suspectHash [sha256.Size]byte

func (s Suspect) hash() suspectHash {
	b := make([]byte, 0, len(s.Identity)+4*len(s.Path))
	b = append(b, s.Identity[:]...)
	for _, step := range s.Path {
		b = binary.LittleEndian.AppendUint32(b, step)
	}
	return sha256.Sum256(b)
}

const (
	// maxSuspects bounds the jobs that one peer names: those of its last deaths.
	maxSuspects = 64
	// maxSteps bounds the steps of their paths, but for the last one's.
	maxSteps = 1 << 13
	// maxVictims bounds the peers whose deaths are remembered of a run.
	maxVictims = 64
	// maxNamed bounds those that are told of when it fails.
	maxNamed = 5
)

// note takes in what a peer says.
func (d *deaths) note(from PeerID, jobs []Suspect, why string) {
	x := d.by[from]
	switch {
	case x == nil && len(d.by) >= maxVictims:
		return
	case x == nil:
		x = &death{}
		if d.by == nil {
			d.by = map[PeerID]*death{}
		}
		d.by[from] = x
	}
	for _, j := range jobs[:min(len(jobs), maxSuspects)] {
		if key := j.hash(); !slices.Contains(x.keys, key) {
			x.jobs, x.keys = append(x.jobs, j), append(x.keys, key)
			d.stale = true
		}
	}
	steps := 0
	for i := len(x.jobs) - 1; i >= 0; i-- {
		if steps += len(x.jobs[i].Path); len(x.jobs)-i > maxSuspects || i < len(x.jobs)-1 && steps > maxSteps {
			x.jobs, x.keys = slices.Clone(x.jobs[i+1:]), slices.Clone(x.keys[i+1:])
			break
		}
	}
	x.why = why
}

// killer is a job that so many peers name that it is believed, with their names: the deepest one, for what is above it
// has perhaps only waited for it.
func (d *deaths) killer(believed func(by []PeerID) bool) (worst Suspect, peers []PeerID) {
	if !d.stale {
		return d.worst, d.killed
	}
	d.stale, d.killed = false, nil
	named, jobs := map[suspectHash][]PeerID{}, map[suspectHash]Suspect{}
	for _, a := range slices.Sorted(maps.Keys(d.by)) {
		for i, key := range d.by[a].keys {
			named[key], jobs[key] = append(named[key], a), d.by[a].jobs[i]
		}
	}
	for key, by := range named {
		if j := jobs[key]; len(by) > 1 && (d.killed == nil || j.worse(d.worst)) && believed(by) {
			d.worst, d.killed = j, by
		}
	}
	return d.worst, d.killed
}

// worse orders suspects.
func (s Suspect) worse(than Suspect) bool {
	return cmp.Or(cmp.Compare(len(s.Path), len(than.Path)), than.Path.Compare(s.Path),
		bytes.Compare(s.Identity[:], than.Identity[:])) > 0
}

// mourners decide what follows from deaths.
type mourners struct{ *table }

// mourned says whether deaths of a run matter: it goes on, if only elsewhere.
func (r *run) mourned() bool { return r.state == StateRunning || r.state == StateRefused }

// Died says that the process which computed for a run here has died, of one of these jobs if there are any, and what
// is known of that with this death. This peer's part has ended with it: the run is left alone, or begun again.
func (x *mourners) Died(now time.Time, id RunID, jobs []Suspect, toll Toll) []Order {
	return x.do(now, func() {
		r := x.runs[id]
		if r == nil || !r.mourned() {
			return
		}
		if len(jobs) > 0 {
			r.deaths.note(x.self, jobs, toll.Why)
			r.deaths.again.begin(now)
			x.tellDeath(r)
			x.judge(r)
		}
		switch {
		case !r.started:
		case toll.Quarantined():
			r.leave(x.table, toll.Text(id))
		default:
			x.start(r, false)
		}
	})
}

// DeathTold takes in that another peer says so of itself.
func (x *mourners) DeathTold(now time.Time, id RunID, from PeerID, jobs []Suspect, why string) []Order {
	return x.do(now, func() {
		if r := x.runs[id]; r != nil && from != x.self && r.mourned() && x.view.Admitted(from) {
			r.deaths.note(from, jobs, why)
			x.judge(r)
		}
	})
}

func (x *mourners) tellDeath(r *run) {
	d := r.deaths.by[x.self]
	x.order(TellDeath{r.m.Run, d.jobs, d.why})
}

// keepUp tells again of deaths, for those who have missed it, and looks whether it is for this peer now to fail the
// run.
func (x *mourners) keepUp(r *run) {
	if !r.mourned() {
		return
	}
	if r.deaths.by[x.self] != nil && r.deaths.again.due(x.now, x.cfg.AskEvery) {
		x.tellDeath(r)
	}
	x.judge(r)
}

// judge fails a run with a job that has killed two peers, if this peer has a say in it.
func (x *mourners) judge(r *run) {
	mine := r.mine && r.mourned() && r.own.what == nothing
	if !mine && !(r.holdsRoot && r.state == StateRunning) || r.hash != nil || r.writing != nil || r.keeping != nil ||
		r.deaths.doomed {
		return
	}
	if j, peers := r.deaths.killer(x.believed(r)); peers != nil {
		r.deaths.doomed = true
		x.warn(r.m.Run, "job %s has killed the processes of %d peers: the run fails", j.Path, len(peers))
		x.order(Doom{r.m.Run, j, peers[:min(len(peers), maxNamed)], r.deaths.by[peers[0]].why})
	}
}

// believed says of two peers or more whether what they say of a job counts. In a run that is verified its owner has a
// say alone: there this peer is one of them, or they are in as many hands as its results take.
func (x *mourners) believed(r *run) func(by []PeerID) bool {
	if r.m.Verify == "" {
		return func([]PeerID) bool { return true }
	}
	hands := map[PeerID]string{} // as far as they were asked for: it is judged every second
	return func(by []PeerID) bool {
		seen := map[string]bool{}
		for _, id := range by {
			if _, known := hands[id]; !known {
				hands[id] = x.view.Hand(id)
			}
			if hands[id] != "" {
				seen[hands[id]] = true
			}
		}
		return slices.Contains(by, x.self) || len(seen) >= x.view.Hands(r.m)
	}
}
