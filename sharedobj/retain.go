package sharedobj

// Versions that kept outcomes name
//
// An outcome that names a version is of use only where that version can be had. Whoever keeps one in case it is needed
// again retains what it names: a program that goes on in steps leaves a version behind at each, of which two would stay
// otherwise, and where its root begins again all the steps before would be computed again for want of their values.
//
// What is retained is no more than a part of what may be held, counted when it comes, and it is not pinned: what jobs
// name, or other runs, needs its room first. Whoever asks for it then does without, and computes one job more.
// Constants, lattices and outcomes stay as long as there is room anyhow.

// retainedPart is the part of Config.MaxBytes that may be retained.
const retainedPart = 4

// retention is how many kept outcomes name a version, and whether its value counts as retained.
type retention struct {
	outcomes int
	holds    bool
}

// Retain keeps versions as long as there is room, whether here or yet to come, until Forgo has been called as often:
// those that an outcome names which is kept here.
func (c *Core) Retain(ds ...Digest) {
	for _, d := range ds {
		c.claim(d)
		c.store.retain(d)
	}
}

// Forgo undoes a Retain.
func (c *Core) Forgo(ds ...Digest) {
	for _, d := range ds {
		c.store.forgo(d)
	}
}

func (s *store) retain(d Digest) {
	r := s.retained[d]
	if r == nil {
		if len(s.retained) >= s.entriesN {
			return
		}
		r = &retention{}
		s.retained[d] = r
	}
	r.outcomes++
	if e := s.entries[d]; e != nil {
		s.counts(e)
	}
}

func (s *store) forgo(d Digest) {
	r := s.retained[d]
	if r == nil {
		return
	}
	if r.outcomes--; r.outcomes > 0 {
		return
	}
	if e := s.entries[d]; r.holds {
		s.retainedBytes -= e.state.Size
	}
	delete(s.retained, d)
}

// counts has the value of a version count as retained, if it is one that is, and there is room for it.
func (s *store) counts(e *entry) {
	r := s.retained[e.digest]
	if r == nil || r.holds || e.state == nil || e.recipe.Kind != Phased ||
		s.retainedBytes+e.state.Size > s.most/retainedPart {
		return
	}
	r.holds = true
	s.retainedBytes += e.state.Size
}

// retains says whether the value of a version stays though it is old.
func (s *store) retains(e *entry) bool {
	r := s.retained[e.digest]
	return r != nil && r.holds
}
