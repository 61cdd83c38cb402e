package engine

import "slices"

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

// take removes the job of the group that finished first; nil if there is none. The running frame is cur.
func (l *readyList) take(group, cur uint64) *Record {
	l.cut(cur)
	for i := len(*l) - 1; i >= 0 && (*l)[i].group >= group; i-- {
		if q := &(*l)[i]; q.group == group {
			r := q.first
			if q.first = r.next; q.first == nil {
				*l = slices.Delete(*l, i, i+1)
			}
			r.next = nil
			return r
		}
	}
	return nil
}

// cut forgets what is left of frames that have ended. The running frame is cur.
//
// What can still be taken are children of the running frame, which it has counted in cur, or of frames below it, whose
// depth is less. So whatever has a higher ID is of a frame that has ended: a deeper one, or an earlier one of the same
// depth. It is at the end, because what has a higher ID than a frame that opens a group (Fork) goes before anything is
// added (hold). What an earlier frame left may have a lower ID, if the running one had spawned more before it opened
// its first group: that goes when another frame opens one, or with the job around them that call runs.
func (l *readyList) cut(cur uint64) {
	n := len(*l)
	for n > 0 && (*l)[n-1].first.ID&^doneBit > cur {
		n--
	}
	clear((*l)[n:])
	*l = (*l)[:n]
}
