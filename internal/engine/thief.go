package engine

import "math/rand/v2"

// A thief looks for jobs on the stacks of other workers.
type thief struct{ rng *rand.Rand }

// newThief is that of the worker with the given number: each goes its own way.
func newThief(index int) thief { return thief{rand.New(rand.NewPCG(uint64(index), 0x5a71))} }

// steal tries all workers but w, whose thief it is, once, beginning anywhere, and says from whom a job is. If there is
// none, others says that there were busy ones, which have been asked to publish some.
func (t thief) steal(w *Worker, all []*Worker) (r *Record, from *Worker, others bool) {
	at := t.rng.IntN(len(all))
	for i := range all {
		v := all[(at+i)%len(all)]
		if v == w || !v.busy.Load() {
			continue
		}
		w.Stack.Counts.attempts++
		others = true
		if r := v.steal(); r != nil {
			w.Stack.Counts.steals++
			return r, v, true
		}
	}
	return nil, nil, others
}
