// Package agenda is what is to happen in a simulated world, in the order of virtual time. What is put down for the same
// moment happens in the order in which it was put down, so a schedule is a function of its seed.
//
// Package sim has a queue of its own: its events are data and reused, thousands of times as many.
package agenda

import (
	"container/heap"
	"time"
)

// An Agenda is what is still to happen. The zero Agenda is empty. It is not safe for concurrent use.
type Agenda struct {
	entries entries
	put     uint64
}

// Post has do happen at a time.
func (a *Agenda) Post(at time.Duration, do func()) {
	a.put++
	heap.Push(&a.entries, entry{at, a.put, do})
}

// Due says when the next thing is to happen, if there is one.
func (a *Agenda) Due() (at time.Duration, ok bool) {
	if len(a.entries) == 0 {
		return 0, false
	}
	return a.entries[0].at, true
}

// Next takes the next thing off; there must be one: see Due.
func (a *Agenda) Next() (at time.Duration, do func()) {
	e := heap.Pop(&a.entries).(entry)
	return e.at, e.do
}

type entry struct {
	at  time.Duration
	put uint64
	do  func()
}

type entries []entry

func (e entries) Len() int { return len(e) }
func (e entries) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].put < e[j].put
}
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(x any)   { *e = append(*e, x.(entry)) }
func (e *entries) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = entry{} // lets go of what it holds
	*e = old[:len(old)-1]
	return last
}
