package sim

import "time"

// Stretched is the tree with all costs multiplied by one factor, so that they add up to about total: the same problem on slower
// machines. What a job spent on jobs below it that were too small to be recorded becomes leaves again: a leaf's cost is divided into
// leaves of at most grain below it, an inner job's too, but for a thousandth of grain that it may have spent itself: the model's inner
// jobs take no time of their own (engine.go), and a thousand of them begun at once would put theirs on one leaf.
func (r *Recorded) Stretched(total, grain time.Duration) (*Recorded, error) {
	sum := 0.0
	for i := range r.jobs {
		sum += float64(r.jobs[i].Cost)
	}
	factor := float64(total) / sum
	var jobs []RecordedJob
	for _, j := range r.jobs {
		j.Cost = time.Duration(float64(j.Cost) * factor)
		pieces := 0
		if j.Cost > grain || j.Children > 0 && j.Cost > grain/1000 {
			pieces = int((j.Cost + grain - 1) / grain)
		}
		if pieces == 0 {
			jobs = append(jobs, j)
			continue
		}
		whole, piece := j.Cost, j.Cost/time.Duration(pieces)
		j.Children, j.Cost = j.Children+pieces, 0
		jobs = append(jobs, j)
		for k := range pieces {
			leaf := RecordedJob{Cost: piece, Arg: j.Arg, Result: j.Result / j.Children}
			if k == 0 {
				leaf.Cost += whole - piece*time.Duration(pieces)
			}
			jobs = append(jobs, leaf)
		}
	}
	return NewRecorded(r.Name, jobs)
}
