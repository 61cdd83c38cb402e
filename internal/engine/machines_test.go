package engine

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// What thieves bring back is taken once, the oldest first, and an empty list gives nothing.
func TestReturnedAreTakenOnce(t *testing.T) {
	var l returned
	if l.any() || l.take() != nil {
		t.Fatal("an empty list has something")
	}
	list := []*Record{{ID: 1}, {ID: 2}, {ID: 3}}
	for _, r := range list {
		l.push(r)
	}
	if !l.any() {
		t.Fatal("what came back is not there")
	}
	var got []*Record
	for r := l.take(); r != nil; r = r.next {
		got = append(got, r)
	}
	if !slices.Equal(got, list) || l.any() || l.take() != nil {
		t.Errorf("%d came back, want 3 in order, and nothing is left", len(got))
	}
}

// A thief looks at every busy worker but its own, asks those without a job to publish some, and takes one job.
func TestThiefLooksAtAll(t *testing.T) {
	p := &Pool{}
	all := []*Worker{NewWorker(p, 0), NewWorker(p, 1), NewWorker(p, 2), NewWorker(p, 3)}
	self := all[0]
	if r, _, others := self.thief.steal(self, all); r != nil || others || self.Stack.Counts.attempts != 0 {
		t.Fatal("nobody is busy, and somebody was looked at")
	}
	for _, v := range all[:3] {
		v.busy.Store(true)
	}
	if r, _, others := self.thief.steal(self, all); r != nil || !others || self.Stack.Counts.attempts != 2 {
		t.Fatalf("looked at %d, want the 2 others that are busy", self.Stack.Counts.attempts)
	}
	for i, v := range all {
		if asked := v.want.Load() != 0; asked != (i == 1 || i == 2) {
			t.Errorf("worker %d is asked for jobs: %v", i, asked)
		}
	}
	rec := &Record{}
	all[2].Stack.slots[0], all[2].Stack.Head = rec, 1
	all[2].Stack.expose(1)
	r, from, _ := self.thief.steal(self, all)
	if r != rec || from != all[2] || self.Stack.Counts.steals != 1 || rec.state.Load() != stolen {
		t.Errorf("stole %p from %p, want the job of worker 2", r, from)
	}
}

// knows is a Host that somebody told what is below some paths.
type knows struct {
	Alone
	hits, below []string
}

func (k knows) Salvage(p job.Path) (hit, below bool) {
	return slices.Contains(k.hits, p.String()), slices.Contains(k.below, p.String())
}

// The children of a restarted job are asked about by their paths, as deep as an answer says that there is something;
// when the answers change, all frames that run are searched.
func TestRootsAreSearched(t *testing.T) {
	s := &NewWorker(nil, 0).Stack
	run := job.NewRunID()
	id := job.ID{Run: run, Path: job.Path{7}}
	s.enter(0, 0) // the root, at depth 1
	all := roots{{r: &Record{}, depth: 1, search: search{restarted: true, job: id, path: job.Path{7}, searched: 1}}}
	if !all.searching(s) {
		t.Fatal("a root with something below is not searched")
	}
	h := knows{hits: []string{"7.2"}, below: []string{"7.1"}}
	child := func(index uint64) *Record { return &Record{ID: s.Cur&^childMask | index} }
	if _, hit := all.salvage(h, s, child(1)); hit || all[0].search.searched != 2 {
		t.Fatalf("something is below a child: searched down to %d, want 2", all[0].search.searched)
	}
	if got, hit := all.salvage(h, s, child(2)); !hit || got.Run != run || got.Path.String() != "7.2" {
		t.Fatalf("asked about %v (%v), want a hit of 7.2", got, hit)
	}
	if _, hit := all.salvage(h, s, child(3)); hit || all[0].search.searched != 1 {
		t.Fatalf("nothing is below a child: searched down to %d, want 1", all[0].search.searched)
	}
	s.enter(child(3).ID, s.Cur) // depth 2
	if all.searching(s) {
		t.Fatal("a frame is searched below which nothing is")
	}
	all.searchAgain(knows{}, s)
	if all[0].search.searched != 0 {
		t.Fatal("nothing is below the root, and it is searched")
	}
	all.searchAgain(knows{below: []string{"7"}}, s)
	if !all.searching(s) || all[0].search.path.String() != "7.3" {
		t.Errorf("the running frame is called %v, want 7.3, and is searched", all[0].search.path)
	}
	if (roots{}).searching(s) {
		t.Error("a frame of nobody's job is searched")
	}
}

// A dropped job unwinds the stack down to the outermost that nobody waits for; else nothing happens.
func TestRootsUnwind(t *testing.T) {
	outer, inner := &Record{}, &Record{}
	all := roots{{r: outer}, {r: inner}}
	all.unwind()
	for _, r := range []*Record{inner, outer} {
		r.state.Store(dropped)
		func() {
			defer func() {
				if v, _ := recover().(abortPanic); v.r != r {
					t.Errorf("unwinds to %p, want %p", v.r, r)
				}
			}()
			all.unwind()
		}()
	}
}

// A failure that comes from outside gets the name of the job that failed; one that has a name keeps it, and whoever has
// not failed is not noted.
func TestFailuresAreNamed(t *testing.T) {
	run := job.NewRunID()
	asked := 0
	running := func() job.ID { asked++; return job.ID{Run: run, Path: job.Path{4}} }
	d := &Desc{Func: Func{Name: "f"}}
	var f failures
	s := &NewWorker(nil, 0).Stack
	f.note(&Record{d: d, ID: 1}, s, running)
	if f.any() || asked != 0 {
		t.Fatal("a job that has not failed is noted")
	}
	named := &job.Error{Func: "g"}
	f.note(&Record{d: d, ID: 3<<DepthShift | 2, Fail: named}, s, running)
	if err := f.oldest(3); err != error(named) || asked != 0 {
		t.Errorf("a failure with a name is now %v", err)
	}
	f.note(&Record{d: d, ID: 3<<DepthShift | 1, Fail: errors.New("far away")}, s, running)
	var e *job.Error
	if err := f.oldest(3); !errors.As(err, &e) || e.ID.Path.String() != "4.1" || e.Func != "f" {
		t.Errorf("the oldest failure is %v, want that of job 4.1", err)
	}
}

// A worker that is about to rest looks once more at what there was no free core for when it appeared, and rests only if
// that is nothing.
func TestRestLooksAgain(t *testing.T) {
	for name, appears := range map[string]func(p *Pool, v *Worker){
		"nothing":               func(*Pool, *Worker) {},
		"a root":                func(p *Pool, _ *Worker) { p.sched.inbox = append(p.sched.inbox, &Record{}) },
		"a worker that is back": func(p *Pool, v *Worker) { p.sched.ready = append(p.sched.ready, v) },
		"a preempted worker":    func(p *Pool, v *Worker) { p.sched.preempted = append(p.sched.preempted, v) },
		"a stealable job": func(_ *Pool, v *Worker) {
			v.Stack.slots[0], v.Stack.Head = &Record{}, 1
			v.Stack.expose(1)
		},
	} {
		p := &Pool{host: Alone{}}
		p.sched.start, p.sched.quit, p.sched.allowed = time.Now().Add(-poolEpoch), make(chan struct{}), 1
		close(p.sched.quit) // who rests is sent away
		w, v := NewWorker(p, 0), NewWorker(p, 1)
		p.sched.workers.Store(&[]*Worker{w, v})
		appears(p, v)
		if goes := p.rest(w); goes != (name != "nothing") {
			t.Errorf("with %s it goes on: %t", name, goes)
		}
		if free := p.sched.free.Load(); name != "nothing" && free != 0 {
			t.Errorf("with %s %d cores are free", name, free)
		}
	}
}
