package runs

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// A process that computes may die of the jobs that it runs. Who that happens to tells everybody which jobs those
// were. A job that two peers name has killed both, as far as anybody can tell: it would kill the next one, too. So
// the run fails with its name, at its owner and at whoever holds its root, instead of going on from peer to peer.

// Suspect is a job that ran when a process died: its place in the tree, and the hash of its function and argument.
type Suspect struct {
	Path     job.Path
	Identity job.Identity
}

// same says whether it is that job. A path alone is not enough: another argument is another job.
func (s Suspect) same(o Suspect) bool {
	return s.Identity == o.Identity && slices.Equal(s.Path, o.Path)
}

// deaths are what is known of those of one run, by the peer whose process it was.
type deaths struct {
	by     map[PeerID]*death
	again  repetition // of this peer's own
	doomed bool       // the run is failing because of them
}

type death struct {
	jobs []Suspect // the last ones
	why  string
}

const (
	// maxSuspects bounds the jobs that one peer names: those of its last deaths.
	maxSuspects = 64
	// maxVictims bounds the peers whose deaths are remembered of a run.
	maxVictims = 64
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
		if !slices.ContainsFunc(x.jobs, j.same) {
			x.jobs = append(x.jobs, j)
		}
	}
	x.jobs = x.jobs[max(0, len(x.jobs)-maxSuspects):]
	x.why = why
}

// killer is a job that two peers name: the deepest one, for what is above it has perhaps only waited for it.
func (d *deaths) killer() (worst Suspect, peers []PeerID) {
	list := slices.Sorted(maps.Keys(d.by))
	for i, a := range list {
		for _, j := range d.by[a].jobs {
			for _, b := range list[i+1:] {
				if slices.ContainsFunc(d.by[b].jobs, j.same) && (peers == nil || j.worse(worst)) {
					worst, peers = j, []PeerID{a, b}
				}
			}
		}
	}
	return worst, peers
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

// Died says that the process which computed for a run here has died of one of these jobs.
func (x *mourners) Died(now time.Time, id RunID, jobs []Suspect, why string) []Order {
	return x.do(now, func() {
		if r := x.runs[id]; r != nil && len(jobs) > 0 && r.mourned() {
			r.deaths.note(x.self, jobs, why)
			r.deaths.again.begin(now)
			x.tellDeath(r)
			x.judge(r)
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
	if j, peers := r.deaths.killer(); peers != nil {
		r.deaths.doomed = true
		x.warn(r.m.Run, "job %s has killed the processes of %s and %s: the run fails", j.Path, peers[0], peers[1])
		x.order(Doom{r.m.Run, j, peers, r.deaths.by[peers[0]].why})
	}
}
