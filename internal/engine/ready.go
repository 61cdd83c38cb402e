package engine

// A readyList holds finished jobs of groups until their Results loops take them: a queue for each group, the first to
// finish first, ascending by group. Groups of inner frames have higher numbers, so the group whose loop is running
// is nearly always at the end.
type readyList []readyQueue

type readyQueue struct {
	group       uint64
	first, last *Record // linked by next
}

// push adds r at the end of its group's queue.
func (l *readyList) push(r *Record) {
	i := len(*l)
	for i > 0 && (*l)[i-1].group > r.Group {
		i--
	}
	if i > 0 && (*l)[i-1].group == r.Group {
		q := &(*l)[i-1]
		q.last.next = r
		q.last = r
		return
	}
	*l = append(*l, readyQueue{})
	copy((*l)[i+1:], (*l)[i:])
	(*l)[i] = readyQueue{r.Group, r, r}
}

// take removes the job of the group that finished first; nil if there is none. Queues of frames deeper than
// depth, the running one's, are what frames that have ended left behind: they go.
func (l *readyList) take(group, depth uint64) *Record {
	for i := len(*l) - 1; i >= 0 && (*l)[i].group >= group; i-- {
		q := &(*l)[i]
		if q.group == group {
			r := q.first
			if q.first = r.next; q.first == nil {
				*l = append((*l)[:i], (*l)[i+1:]...)
			}
			r.next = nil
			return r
		}
		if q.first.ID&^doneBit>>DepthShift > depth {
			*l = append((*l)[:i], (*l)[i+1:]...)
		}
	}
	return nil
}
