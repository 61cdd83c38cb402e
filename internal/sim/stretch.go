package sim

import "time"

// Stretched is the tree with all costs multiplied by one factor, so that they add up to about total: the same
// problem on slower machines. What a job spent on jobs below it that were too small to be recorded becomes
// leaves again: a leaf's cost is divided into leaves of at most grain below it, an inner job's too, but for a
// thousandth of grain that it may have spent itself: the model's inner jobs take no time of their own
// (engine.go), and a thousand of them begun at once would put theirs on one leaf. Such leaves are the newest
// among their siblings, since thieves were not offered them. What a job did in several phases it does in one.
func (r *Recorded) Stretched(total, grain time.Duration) (*Recorded, error) {
	s := stretcher{from: r, factor: float64(total) / float64(r.Work()), grain: grain}
	s.add(0)
	return NewRecorded(r.Name, s.jobs)
}

type stretcher struct {
	from   *Recorded
	factor float64
	grain  time.Duration
	jobs   []RecordedJob
}

// add adds a job with all below it.
func (s *stretcher) add(i int32) {
	j := s.from.jobs[i]
	j.Cost = time.Duration(float64(s.from.Cost(Node{Form: i})) * s.factor)
	real, whole, pieces := j.all(), j.Cost, 0
	if j.Cost > s.grain || real > 0 && j.Cost > s.grain/1000 {
		pieces = int((j.Cost + s.grain - 1) / s.grain)
		j.Cost = 0
	}
	j.Children, j.Later = real+pieces, nil
	s.jobs = append(s.jobs, j)
	at := i + 1
	for range real {
		s.add(at)
		at = s.from.next[at]
	}
	for k := range pieces {
		leaf := RecordedJob{RecordedPhase{Cost: whole / time.Duration(pieces)}, j.Arg, j.Result / j.Children, nil}
		if k == 0 {
			leaf.Cost += whole % time.Duration(pieces)
		}
		s.jobs = append(s.jobs, leaf)
	}
}
