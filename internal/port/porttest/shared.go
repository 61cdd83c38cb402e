package porttest

import (
	"bytes"
	"reflect"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// large is the size of a shared value that takes several frames of a pipe.
const large = 3<<20 + 5

// shared gives a job away that names shared values, and runs the same job as one that came from elsewhere.
func shared(r *rig) {
	r.start()
	giver := r.begin("porttest.give", large, nil)
	taken := r.take("porttest.read")
	names, err := port.NamesTaken(taken.Job.Names)
	if err != nil || len(names.Needs) != 3 || !names.Guarded {
		r.t.Fatalf("the job names %+v, %v", names, err)
	}
	var made [3]port.Event // the Taken has come, so these have
	for i, n := range names.Needs {
		made[i] = r.await("what the job names", func(e *port.Event) bool {
			return e.Kind == port.Made && e.Shared.Recipe.Digest() == n.Digest
		})
		if v := made[i].Shared; v.State.Blob != v.Recipe.State || v.Write != nil {
			r.t.Errorf("%d: what is told is not what it is called by, or a write", i)
		}
	}
	if floor := names.Needs[2].Floor; len(floor) != 1 || floor[0] != 10 {
		r.t.Errorf("the job goes with %x as its parent's value of the lattice", floor)
	}
	r.e.Do(&port.Order{Kind: port.Deliver, Ref: taken.Ref, Outcome: r.outcome([]int{7})})
	if e := r.finished(giver); !reflect.DeepEqual(r.result("porttest.give", e.Outcome), []int{7}) {
		r.t.Error("the outcome of the job that was given away is not used")
	}

	// The names are those of another process's values now: the engine is told to forget its own.
	for _, m := range made {
		r.about(port.Forget, &port.Shared{Digest: m.Shared.Recipe.Digest()})
	}
	list, lattice := made[1].Shared, names.Needs[2].Digest
	r.here(made[0].Shared.Recipe, made[0].Shared.State.Bytes())
	r.here(made[2].Shared.Recipe, made[2].Shared.State.Bytes())
	r.applies(list)
	r.grows(lattice)
	r.guards(&port.Order{Kind: port.Guard, Segment: 77, Job: &taken.Job})
	r.e.Do(&port.Order{Kind: port.Run, Segment: 78, Job: &taken.Job})
	got, ok := r.result("porttest.read", r.finished(78).Outcome).([]int)
	if !ok || len(got) != 4 || !reflect.DeepEqual(got[:3], []int{1, 2, large}) || got[3] != 20 {
		r.t.Errorf("the job reads %v", got)
	}
	r.offered(lattice, 21)
	for i, value := range []int{-1, 30, 30} { // a guest's offers: not valid, news, and none
		r.about(port.Join, &port.Shared{Ticket: sharedobj.Ticket(30 + i), Digest: lattice, Data: r.encode(value),
			Own: true})
		if e := r.kind(port.Joined); e.Good != (value > 0) || e.Shared.Changed != (i == 1) {
			r.t.Errorf("%d of a guest joined: valid %v, news %v", value, e.Good, e.Shared.Changed)
		}
	}
	r.offered(lattice, 30)
}

// offered awaits that something was offered, and collects it.
func (r *rig) offered(lattice sharedobj.Digest, value int) {
	r.t.Helper()
	r.await("what was offered", func(e *port.Event) bool {
		return e.Kind == port.Offered && e.Shared.Digest == lattice
	})
	r.about(port.Collect, &port.Shared{Digest: lattice})
	if v := r.kind(port.Collected).Shared; v.State == nil || !bytes.Equal(v.State.Bytes(), r.encode(value)) {
		r.t.Errorf("what was offered is %+v, not %d", v.State, value)
	}
}

func (r *rig) about(kind port.OrderKind, s *port.Shared) { r.e.Do(&port.Order{Kind: kind, Shared: s}) }

func (r *rig) here(recipe *sharedobj.Recipe, data []byte) {
	r.about(port.Here, &port.Shared{Digest: recipe.Digest(), Name: recipe.Name, Data: data})
}

// applies has the engine make the second version of a list of its first.
func (r *rig) applies(list *port.Shared) {
	r.t.Helper()
	first := sharedobj.Recipe{Kind: sharedobj.Phased, Name: list.Recipe.Name,
		State: sharedobj.Build(r.encode([]int{1})).Blob}
	if list.Recipe.Parent != first.Digest() {
		r.t.Error("the version before the one that the job names is not the list's first")
	}
	r.here(&first, r.encode([]int{1}))
	for ticket, write := range [][]byte{r.encode(2), []byte("no number"), r.encode(2)} {
		v := &port.Shared{Ticket: sharedobj.Ticket(ticket + 1), Digest: list.Recipe.Digest(), Parent: first.Digest(),
			Name: first.Name, Data: write}
		if ticket == 2 {
			v.Parent = sharedobj.Digest{9} // which is not here
		}
		r.about(port.Apply, v)
		got := r.kind(port.Applied).Shared
		switch good := got.State != nil && bytes.Equal(got.State.Bytes(), list.State.Bytes()); {
		case got.Ticket != v.Ticket:
			r.t.Errorf("the answer to %d is one to %d", v.Ticket, got.Ticket)
		case good != (ticket == 0):
			r.t.Errorf("write %d: %+v", ticket, got.State)
		}
	}
	// What a write has given is not sent again; what was wrong is not used, even if it comes first.
	wrong := sharedobj.Recipe{Kind: sharedobj.Phased, Name: first.Name, Parent: first.Digest()}
	r.about(port.Apply, &port.Shared{Ticket: 4, Digest: wrong.Digest(), Parent: first.Digest(), Name: first.Name,
		Data: r.encode(3)})
	r.kind(port.Applied)
	r.about(port.Discard, &port.Shared{Ticket: 4})
	r.about(port.Here, &port.Shared{Ticket: 1, Digest: list.Recipe.Digest(), Name: list.Recipe.Name})
}

// grows joins values into a lattice.
func (r *rig) grows(lattice sharedobj.Digest) {
	r.t.Helper()
	for i, c := range []struct {
		value         int
		good, changed bool
	}{{20, true, true}, {20, true, false}, {3, true, false}, {-1, false, false}} {
		r.about(port.Join, &port.Shared{Ticket: sharedobj.Ticket(10 + i), Digest: lattice, Data: r.encode(c.value)})
		if e := r.kind(port.Joined); e.Good != c.good || e.Shared.Changed != c.changed ||
			e.Shared.Ticket != sharedobj.Ticket(10+i) {
			r.t.Errorf("%d joined: valid %v, news %v", c.value, e.Good, e.Shared.Changed)
		}
	}
	r.about(port.Encode, &port.Shared{Ticket: 20, Digest: lattice})
	if v := r.kind(port.Encoded).Shared; v.Ticket != 20 || v.State == nil ||
		!bytes.Equal(v.State.Bytes(), r.encode(20)) {
		r.t.Errorf("the value of the lattice is told as %+v", v)
	}
}

// guards asks for a guard that holds.
func (r *rig) guards(o *port.Order) {
	r.t.Helper()
	o.Shared = &port.Shared{}
	r.e.Do(o)
	if e := r.kind(port.Guarded); e.Segment != o.Segment || !e.Good {
		r.t.Errorf("the guard: %+v", e)
	}
}

// lattice has a job share a lattice that nobody else ever hears of, where it is asked which do.
func lattice(r *rig) {
	r.start()
	id := r.begin("porttest.grow", 1, nil)
	e := r.await("the lattice, or the end", func(e *port.Event) bool {
		return e.Kind == port.Shares || e.Kind == port.Finished
	})
	if e.Kind != port.Shares || e.Segment != id {
		r.t.Errorf("the first that comes is %v of %d, not of %d", e.Kind, e.Segment, id)
	}
	r.finished(id)
}
