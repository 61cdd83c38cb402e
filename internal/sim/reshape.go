package sim

import (
	"fmt"
	"slices"
	"time"
)

// Work is what all jobs cost together.
func (r *Recorded) Work() (sum time.Duration) {
	for i := range r.jobs {
		sum += time.Duration(r.Cost(Node{Form: int32(i)}))
	}
	return sum
}

// Counts are the jobs that were spawned, and how often one waited for those that it had spawned.
func (r *Recorded) Counts() (spawns, syncs int) {
	for i := range r.jobs {
		for _, p := range r.jobs[i].phases() {
			if p.Children > 0 {
				spawns, syncs = spawns+p.Children, syncs+1
			}
		}
	}
	return spawns, syncs
}

// phases are all of a job.
func (j *RecordedJob) phases() []RecordedPhase {
	return append([]RecordedPhase{j.RecordedPhase}, j.Later...)
}

// alone is from when on what an inner job computes itself is a phase of its own in Scaled.
const alone = 100 * time.Microsecond

// Scaled is the tree with all costs multiplied by one factor, so that they add up to about total: the same problem
// on slower machines. The model's inner jobs take no time of their own (engine.go), so what one computes before it
// spawns, or spawns again, becomes a phase with one leaf: nothing else of the job can run meanwhile.
func (r *Recorded) Scaled(total time.Duration) (*Recorded, error) {
	s := reshaper{from: r, factor: float64(total) / float64(r.Work())}
	s.scale(0)
	return NewRecorded(r.Name, s.jobs)
}

// Merge makes one program of several recordings, since the machine does other things, too: a job without children
// counts with the least that it cost, and so does the sequential program. What others cost is the median: the cost of
// recording them is taken away from that, which differs as well, and the least of differences would be nothing.
// Together they cost less than most recordings: see Weigh. It fails if they are different trees.
func Merge(all []*Recorded) (*Recorded, error) {
	jobs, twin := slices.Clone(all[0].jobs), all[0].Twin
	for _, r := range all[1:] {
		if len(r.jobs) != len(jobs) {
			return nil, fmt.Errorf("%d jobs, then %d: this program does not always do the same", len(jobs), len(r.jobs))
		}
		twin = min(twin, r.Twin)
	}
	phases, costs := make([][]RecordedPhase, len(all)), make([]time.Duration, len(all))
	for i := range jobs {
		for n, r := range all {
			if phases[n] = r.jobs[i].phases(); len(phases[n]) != len(phases[0]) {
				return nil, fmt.Errorf("job %d has %d phases, then %d", i+1, len(phases[0]), len(phases[n]))
			}
		}
		merged := phases[0]
		for k := range merged {
			for n := range all {
				if phases[n][k].Children != merged[k].Children {
					return nil, fmt.Errorf("job %d has %d children in a phase, then %d", i+1, merged[k].Children,
						phases[n][k].Children)
				}
				costs[n] = phases[n][k].Cost
			}
			slices.Sort(costs)
			if merged[k].Cost = costs[0]; jobs[i].Children > 0 {
				merged[k].Cost = costs[len(costs)/2]
			}
		}
		jobs[i].RecordedPhase, jobs[i].Later = merged[0], merged[1:]
	}
	tree, err := NewRecorded(all[0].Name, jobs)
	if err != nil {
		return nil, err
	}
	tree.Twin = twin
	return tree, nil
}

// Weigh changes all costs by one factor, so that they add up to total: what the whole program takes.
func (r *Recorded) Weigh(total time.Duration) {
	factor := float64(total) / max(1, float64(r.Work()))
	for i := range r.jobs {
		j := &r.jobs[i]
		j.Cost = time.Duration(float64(j.Cost) * factor).Round(rounded)
		for k := range j.Later {
			j.Later[k].Cost = time.Duration(float64(j.Later[k].Cost) * factor).Round(rounded)
		}
	}
}

// rounded is what costs are rounded to that were computed: files get small.
const rounded = 100 * time.Nanosecond

// Flat is the program as a master with workers: the root does what inner jobs did, phase by phase, and spawns all
// leaves.
func (r *Recorded) Flat() (*Recorded, error) {
	s := reshaper{from: r, factor: 1}
	phases := r.jobs[0].phases()
	s.jobs = append(s.jobs, r.jobs[0])
	at := int32(1)
	for i, p := range phases {
		children := p.Children
		phases[i].Children = 0
		for range children {
			for end := r.next[at]; at < end; at++ {
				j := r.jobs[at]
				if j.all() > 0 {
					phases[i].Cost += time.Duration(r.Cost(Node{Form: at}))
					continue
				}
				s.jobs = append(s.jobs, j)
				phases[i].Children++
			}
		}
	}
	s.jobs[0].RecordedPhase, s.jobs[0].Later = phases[0], phases[1:]
	return NewRecorded(r.Name, s.jobs)
}

// Repeat is the program with its root's phases from one, not the first, to before another, again and again: so many in
// all.
func (r *Recorded) Repeat(from, before, count int) (*Recorded, error) {
	old, phases, jobs := r.jobs[0].phases(), []RecordedPhase(nil), slices.Clone(r.jobs[:1])
	for k := range count {
		phase := from + k%(before-from)
		list := r.Next(r.Root(), phase, nil)
		phases = append(phases, old[phase])
		jobs = append(jobs, r.jobs[list[0].Form:r.next[list[len(list)-1].Form]]...)
	}
	jobs[0].RecordedPhase, jobs[0].Later = phases[0], phases[1:]
	return NewRecorded(r.Name, jobs)
}

// Between is the program with another cost of what the root itself computes before each of its phases, from 0 on.
func (r *Recorded) Between(own func(phase int, recorded time.Duration) time.Duration) (*Recorded, error) {
	jobs := slices.Clone(r.jobs)
	phases := jobs[0].phases()
	for i := range phases {
		phases[i].Cost = own(i, phases[i].Cost)
	}
	jobs[0].RecordedPhase, jobs[0].Later = phases[0], phases[1:]
	return NewRecorded(r.Name, jobs)
}

// reshaper makes a tree of another.
type reshaper struct {
	from   *Recorded
	factor float64
	jobs   []RecordedJob
}

// scale appends a job with all below it.
func (s *reshaper) scale(i int32) {
	j := s.from.jobs[i]
	if j.all() == 0 {
		j.Cost = s.times(j.Cost)
		s.jobs = append(s.jobs, j)
		return
	}
	at, place := i+1, len(s.jobs)
	s.jobs = append(s.jobs, RecordedJob{Arg: j.Arg, Result: j.Result})
	var phases []RecordedPhase
	for _, p := range j.phases() {
		own := s.times(p.Cost)
		if own >= alone {
			phases = append(phases, RecordedPhase{Children: 1})
			s.jobs = append(s.jobs, RecordedJob{RecordedPhase: RecordedPhase{Cost: own}})
			own = 0
		}
		if p.Children > 0 {
			phases = append(phases, RecordedPhase{p.Children, own})
		}
		for range p.Children {
			s.scale(at)
			at = s.from.next[at]
		}
	}
	s.jobs[place].RecordedPhase, s.jobs[place].Later = phases[0], phases[1:]
}

func (s *reshaper) times(d time.Duration) time.Duration { return time.Duration(float64(d) * s.factor) }
