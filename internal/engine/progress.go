package engine

// Progress by tree share
//
// Jobs executed over jobs spawned reads 100 % all the time in a depth-first execution. So progress is counted
// in shares of the tree: the root has 1, a child has its parent's share divided by the number of children
// spawned so far, and what is finished is what no unfinished job holds. Nothing is counted while jobs run: a
// worker that is asked walks down its running frames, where levels tells how many children each had spawned,
// and over the slots of its stack, which are the children not begun or away.

// A rootShare tells how much of a job that a worker runs for somebody else is unfinished, as a share of that job.
type rootShare struct {
	job  *Record
	here float64 // held by jobs of this worker
	away []awayShare
}

// An awayShare is the share of a job that was stolen from here.
type awayShare struct {
	job   *Record
	share float64
}

// shares measures the jobs that the worker with that stack runs for somebody else, outermost first. It belongs to the
// worker.
func (roots roots) shares(s *stack) []rootShare {
	all := make([]rootShare, len(roots))
	for i, r := range roots {
		end, last := s.Head, s.Cur
		if i+1 < len(roots) {
			end = roots[i+1].base
			last = s.Levels[roots[i+1].depth].From
		}
		all[i] = s.shareOf(r, end, last)
	}
	return all
}

// shareOf walks the frames of the root, the innermost of which is named by last, and the slots from root.base to end.
func (s *stack) shareOf(root stolenRoot, end uint32, last uint64) rootShare {
	all := rootShare{job: root.r}
	share, slot := 1.0, root.base
	for d := root.depth; d <= last>>DepthShift; d++ {
		children := last & childMask
		running := d < last>>DepthShift
		if running {
			children = s.Levels[d+1].From & childMask
		}
		if children == 0 {
			all.here += share // a leaf, or a frame before its first spawn
			break
		}
		share /= float64(children)
		for ; slot < end && s.slots[slot].ID>>DepthShift == d; slot++ {
			r := s.slots[slot]
			switch {
			case r.joined || r.state.Load() == done:
			case slot < s.split && r.state.Load() != fresh:
				all.away = append(all.away, awayShare{r, share})
			default:
				all.here += share
			}
		}
	}
	return all
}

// Progress estimates how much of the runs in progress is done, from 0 to 1, and says whether there is one: a run whose
// root is here, not only jobs of others. A job counts as its parent's share divided by the children the parent has
// spawned so far, so the estimate is as good as the tree is even, and may go back when a job spawns more children after
// the first ones have finished.
func (p *Pool) Progress() (share float64, known bool) {
	p.survey()
	told := map[*Record]rootShare{}
	for _, w := range *p.sched.workers.Load() {
		if shares := w.stats.shares.Load(); shares != nil {
			for _, s := range *shares {
				told[s.job] = s
			}
		}
	}
	p.frontier.runMu.Lock()
	roots := make([]*Record, 0, len(p.frontier.runs))
	for r := range p.frontier.runs {
		if len(r.out.id.Path) == 0 {
			roots = append(roots, r)
		}
	}
	p.frontier.runMu.Unlock()
	if len(roots) == 0 {
		return 0, false
	}
	left := 0.0
	for _, r := range roots {
		left += unfinished(r, told)
	}
	return min(max(0, 1-left/float64(len(roots))), 1), true
}

// unfinished gives the unfinished share of a job. Each job is looked up once: reports of different moments can
// contradict each other, but not send it in circles.
func unfinished(r *Record, told map[*Record]rootShare) float64 {
	s, ok := told[r]
	delete(told, r)
	switch {
	case r.state.Load() == done:
		return 0
	case !ok:
		return 1
	}
	left := s.here
	for _, a := range s.away {
		left += a.share * unfinished(a.job, told)
	}
	return min(left, 1)
}
