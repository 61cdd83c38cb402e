package runlife

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/runs"
)

// In some schedules most runs need a module, which their owner has and others fetch from whoever has it: it is lost on
// its way, does not arrive as it left, is damaged on a disk, and makes way for others there. The library is modelled;
// what package peer does with it is in peer/modules.go.

// A moduleID is the name of a module; 0: none.
type moduleID int

const (
	modules = 4
	shelf   = 2 // of them, and those that are in use, have room on a disk
)

// A library is what a member has of them.
type library struct {
	m       *member
	has     map[moduleID]bool  // on the disk
	waiting map[*project]*wait // runs, for theirs, in this life
}

// wait is a run that is taken up when its module comes.
type wait struct {
	since time.Duration
	asked bool
}

// need draws which module a run needs.
func (p *project) need(random *rand.Rand) {
	if random == nil || random.IntN(5) == 0 {
		return
	}
	p.module = moduleID(1 + random.IntN(modules))
	p.owner.library.store(p.module)
	if random.IntN(2) == 0 {
		p.work += time.Duration(random.Int64N(int64(300 * time.Second)))
	}
}

// store puts a module on the disk; one that is not in use makes way.
func (l *library) store(id moduleID) {
	l.has[id] = true
	for _, old := range slices.Sorted(maps.Keys(l.has)) {
		if len(l.has) > shelf && old != id && !l.uses(old) {
			delete(l.has, old)
		}
	}
}

func (l *library) uses(id moduleID) bool {
	return slices.ContainsFunc(l.m.sessions, func(s *session) bool { return s.p.module == id })
}

// spoil has a module be damaged on the disk, unless it is in use, and in memory.
func (l *library) spoil(id moduleID) {
	if l.has[id] && !l.uses(id) {
		l.m.w.say("%s: module %d is damaged", l.m.id, id)
		delete(l.has, id)
	}
}

// wear draws when a module will be damaged.
func (w *world) wear() {
	if w.shelves != nil {
		m, id := w.members[w.shelves.IntN(len(w.members))], moduleID(1+w.shelves.IntN(modules))
		w.after(time.Duration(w.shelves.Int64N(int64(troubled))), func() { m.library.spoil(id) })
	}
}

// lacks says why a member cannot take part in a run; "" if it can.
func (l *library) lacks(p *project) string {
	if p.module == 0 || l.has[p.module] {
		return ""
	}
	return awaited(p.module) + "is not here yet"
}

// awaited begins what is said of a run that waits for its module.
func awaited(id moduleID) string { return fmt.Sprintf("module %d ", id) }

// unfit is lacks, and has the module be fetched from now on.
func (l *library) unfit(p *project) string {
	why := l.lacks(p)
	if why != "" && l.waiting[p] == nil {
		l.waiting[p] = &wait{since: l.m.w.now}
	}
	return why
}

func (l *library) waits() []*project {
	return slices.SortedFunc(maps.Keys(l.waiting), func(a, b *project) int { return cmp.Compare(a.n, b.n) })
}

// keepUp takes up the runs whose modules are here now, forgets those that wait for nothing any more, and asks for
// the modules of others.
func (l *library) keepUp() {
	m := l.m
	for _, p := range l.waits() {
		i, known := m.core.Run(p.id)
		x := l.waiting[p]
		refused := known && i.State == runs.StateRefused
		switch waits := refused && (i.Mine || strings.HasPrefix(i.Why, awaited(p.module))); {
		case waits && l.lacks(p) == "":
			m.w.counts.Fetched++
			large := !i.Mine && p.n%2 == 1 // its manifest is too large to wait here
			orders := m.core.NotStarted(m.clock(), p.id, "")
			switch {
			case large:
				orders = append(orders, m.core.Announced(m.clock(), p.id, p.owner.id)...)
			case !i.Mine:
				told := &runs.Told{Run: p.id, From: p.owner.id, Manifest: p.manifest}
				orders = append(orders, m.core.Fetched(m.clock(), told)...)
			}
			m.input(orders)
			if large {
				continue // until it runs
			}
		case waits:
			l.want(p, x)
			continue
		case (!known || refused) && m.w.now-x.since < time.Minute:
			continue
		}
		delete(l.waiting, p)
	}
}

// want asks somebody for a module, its owner before others.
func (l *library) want(p *project, x *wait) {
	w, id := l.m.w, p.module
	var from *member
	for _, o := range w.members {
		if o != l.m && w.connected(l.m, o) && o.library.has[id] &&
			(from == nil || o == p.owner || w.shelves.IntN(2) == 0) {
			from = o
		}
	}
	if from == nil || x.asked {
		return
	}
	x.asked = true
	ask(w, l.m, from, func() *bool { // it may not arrive as it left
		good := from.library.has[id] && w.shelves.IntN(8) > 0
		return &good
	}, func(good *bool) {
		if x.asked = false; good != nil && *good {
			l.store(id)
			l.keepUp()
		}
	})
}

// gone says whether nobody has the module of a run any more.
func (p *project) gone() bool {
	return p.module != 0 &&
		!slices.ContainsFunc(p.owner.w.members, func(m *member) bool { return m.library.has[p.module] })
}
