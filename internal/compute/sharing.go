package compute

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// sharing is the engine as its pool's shelf sees it: where shared values go to and come from. The application's code
// for them, which may take its time, runs on a goroutine of its own, one call after the other; what applies writes, on
// several.
type sharing struct {
	*wire.Codec
	e *Engine

	mu       sync.Mutex
	made     []port.Event // for the driver: before the jobs that name what they tell of
	orders   []port.Order // for the sharer
	paused   bool         // no job is to run
	wake     chan struct{}
	writes   writes
	applied  map[sharedobj.Ticket]any // what writes have given, until it is said whether that is right
	refused  map[engine.Name]string   // what was made here and cannot be shared, and why
	troubles map[string]bool          // that were told
	sharers  map[steal.SegmentID]bool // that have shared a lattice
}

// maxNoted bounds what is remembered of values that were refused, of troubles, and of jobs that share lattices: a job
// that names more is given away, and comes back; of more troubles nobody is told; what shares is told again.
const maxNoted = 1024

func newSharing(e *Engine) *sharing {
	return &sharing{Codec: wire.Shared(), e: e, wake: make(chan struct{}, 1), refused: map[engine.Name]string{},
		applied: map[sharedobj.Ticket]any{}, sharers: map[steal.SegmentID]bool{}, troubles: map[string]bool{},
		writes: writes{patience: port.ApplyAfter, most: e.cfg.Workers}, paused: true}
}

// named is a version with its name. The recipe stays, the bytes may be dropped.
type named struct {
	s      *sharing
	recipe sharedobj.Recipe
	digest sharedobj.Digest
	write  *sharedobj.Body
	state  *sharedobj.Body
}

// Name names a version: see engine.Outside. It hashes all of it.
func (s *sharing) Name(v engine.Version) engine.Named {
	n := &named{s: s, state: sharedobj.Build(v.State)}
	n.recipe = sharedobj.Recipe{Kind: sharedobj.Kind(v.Kind), Name: v.Registered, Parent: sharedobj.Digest(v.Parent),
		State: n.state.Blob}
	if !n.recipe.First() {
		if n.write = n.state; !bytes.Equal(v.Write, v.State) { // what replaces the old state is the new one
			n.write = sharedobj.Build(v.Write)
		}
		n.recipe.Write = n.write.Blob
	}
	n.digest = n.recipe.Digest()
	if v.Kind == engine.Lattice && s.e.cfg.Lattices {
		s.shared(steal.SegmentID(v.By))
	}
	return n
}

// shared tells, once, that a job of a segment shares a lattice.
func (s *sharing) shared(by steal.SegmentID) {
	s.mu.Lock()
	known := s.sharers[by]
	if len(s.sharers) >= maxNoted {
		clear(s.sharers) // then it is told again
	}
	s.sharers[by] = true
	s.mu.Unlock()
	if !known {
		s.e.tell(func(told *[]port.Event) { *told = append(*told, port.Event{Kind: port.Shares, Segment: by}) })
	}
}

func (n *named) Name() engine.Name { return engine.Name(n.digest) }

func (n *named) Drop() { n.write, n.state = nil, nil }

// Tell tells the driver: see engine.Named.
func (n *named) Tell(withWrite bool, encode func() ([]byte, error)) error {
	if n.state == nil {
		b, err := encode()
		if err != nil {
			return err
		}
		n.state = sharedobj.Build(b)
	}
	v := &port.Shared{Recipe: &n.recipe, State: n.state}
	if withWrite {
		v.Write = n.write
	}
	n.Drop()
	s := n.s
	s.mu.Lock()
	s.made = append(s.made, port.Event{Kind: port.Made, Shared: v})
	s.mu.Unlock()
	s.e.ring()
	return nil
}

// Want asks for what a job reads: see engine.Outside. It may come of a write that waits.
func (s *sharing) Want(name engine.Name) {
	s.mu.Lock()
	s.writes.hurry = len(s.writes.waiting) > 0
	s.mu.Unlock()
	s.wakeUp()
	s.about(port.Wanted, &port.Shared{Digest: sharedobj.Digest(name)})
}

// Deposit has bytes kept that are to outlive the run: see engine.Deposits.
func (s *sharing) Deposit(b []byte) engine.Name {
	n := s.Name(engine.Version{Kind: engine.Constant, Registered: port.Deposit, State: b})
	_ = n.Tell(false, nil) // nothing is encoded again, so nothing fails
	return n.Name()
}

// WantDeposit asks for them.
func (s *sharing) WantDeposit(name engine.Name) {
	s.about(port.Wanted, &port.Shared{Digest: sharedobj.Digest(name), Name: port.Deposit})
}

// Offered says that something was offered to a lattice: see engine.Outside.
func (s *sharing) Offered(name engine.Name) {
	s.about(port.Offered, &port.Shared{Digest: sharedobj.Digest(name)})
}

func (s *sharing) about(kind port.EventKind, what *port.Shared) {
	s.e.tell(func(told *[]port.Event) { *told = append(*told, port.Event{Kind: kind, Shared: what}) })
}

// take gives what is to be told first.
func (s *sharing) take() (made []port.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made, s.made = s.made, nil
	return made
}

// names tells of what a job shares that is about to leave, and says what that is. The error says that it cannot.
func (s *sharing) names(j engine.Job) ([]byte, error) {
	n := port.Names{Guarded: engine.Guarded(j.Func, j.Arg)}
	var bad error
	seen := map[engine.Name]bool{}
	engine.Handles(j.Arg, func(h engine.Shared) {
		l, ok, err := h.Leave(s.e.pool.Shelf())
		if err == nil && ok {
			err = s.refuses(l.Name)
		}
		if bad == nil {
			bad = err
		}
		if ok && !seen[l.Name] {
			seen[l.Name] = true
			n.Needs = append(n.Needs, sharedobj.Need{Digest: sharedobj.Digest(l.Name), Floor: l.Floor})
		}
	})
	if bad != nil {
		return nil, bad
	}
	if len(n.Needs) > port.MaxNeeds {
		return nil, fmt.Errorf("it names %d shared values, at most %d may go with a job", len(n.Needs), port.MaxNeeds)
	}
	return n.Encode()
}

// tellOf tells of what a value names that is shared, a result on its way home, and says what that is. The error says
// that it cannot.
func (s *sharing) tellOf(v any) (names []sharedobj.Digest, bad error) {
	engine.Handles(v, func(h engine.Shared) {
		l, ok, err := h.Leave(s.e.pool.Shelf())
		if bad == nil {
			bad = err
		}
		if d := sharedobj.Digest(l.Name); err == nil && ok && !slices.Contains(names, d) {
			names = append(names, d)
		}
	})
	return names, bad
}

func (s *sharing) refuses(name engine.Name) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.refused[name]; why != "" {
		return fmt.Errorf("what it names cannot be shared: %s", why)
	}
	return nil
}

// do takes an order.
func (s *sharing) do(o *port.Order) {
	shelf, v := s.e.pool.Shelf(), o.Shared
	switch name := engine.Name(v.Digest); o.Kind {
	case port.Here:
		if v.Ticket != 0 {
			shelf.Here(name, v.Name, nil, s.settle(v.Ticket))
		} else {
			shelf.Here(name, v.Name, v.Data, nil)
		}
	case port.Discard:
		s.settle(v.Ticket)
	case port.Forget:
		shelf.Forget(name)
		s.again()
	case port.Failed:
		if !shelf.Failed(name, v.Text) {
			s.mu.Lock()
			if len(s.refused) < maxNoted {
				s.refused[name] = v.Text
			}
			s.mu.Unlock()
			s.e.happened(port.Event{Kind: port.Troubled, Text: v.Text})
		}
	case port.Apply:
		s.mu.Lock()
		s.writes.waiting = append(s.writes.waiting, waitingWrite{*o, time.Now()})
		s.mu.Unlock()
		s.wakeUp()
	default:
		s.mu.Lock()
		s.orders = append(s.orders, *o)
		if o.Job != nil {
			j := *o.Job // the driver's again
			s.orders[len(s.orders)-1].Job = &j
		}
		s.mu.Unlock()
		s.wakeUp()
	}
}

// settle gives what a write has given, and keeps it no longer.
func (s *sharing) settle(t sharedobj.Ticket) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := s.applied[t]
	delete(s.applied, t)
	return made
}

// again tells of what was forgotten although a job outside names it: the two crossed. What others have they are not
// told of again.
func (s *sharing) again() {
	for _, t := range s.e.given {
		_, _ = s.tellOf(t.Job().Arg)
	}
}

// sharer runs the application's code for shared values, with the priority of jobs, once there is any to run: a program
// that shares nothing needs no thread for it.
func (s *sharing) sharer() {
	for !s.has() {
		select {
		case <-s.wake:
		case <-s.e.closing.Done():
			return
		}
	}
	s.e.pool.Beside(s.share)
}

// has says whether there is something to run.
func (s *sharing) has() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.orders)+len(s.writes.waiting) > 0
}

func (s *sharing) share() {
	for {
		s.runOrders()
		var due <-chan time.Time
		if again := s.apply(); again > 0 {
			due = time.After(again)
		}
		select {
		case <-s.wake:
		case <-due:
		case <-s.e.closing.Done():
			return
		}
	}
}

// pause says whether the jobs are paused. A run is not that gets a core only when it has a job: without its guard, or
// what its parent has seen, none would come.
func (s *sharing) pause(paused bool) {
	s.mu.Lock()
	s.paused = paused
	s.mu.Unlock()
	s.wakeUp()
}

// runOrders runs what has come. Where the jobs are paused what others offer waits, and guards do: that is code of the
// application which takes its time, and no job in the middle of its work waits for it.
func (s *sharing) runOrders() {
	s.mu.Lock()
	orders, paused := s.orders, s.paused
	s.orders = nil
	s.mu.Unlock()
	var later []port.Order
	for i := range orders {
		if k := orders[i].Kind; paused && (k == port.Join || k == port.Guard) {
			later = append(later, orders[i])
			continue
		}
		e := s.run(&orders[i])
		s.e.tell(func(told *[]port.Event) { *told = append(*told, e) })
	}
	s.mu.Lock()
	s.orders = append(later, s.orders...)
	s.mu.Unlock()
}

// run runs it. A panic is an answer, too: the write failed, the offer is not valid, the guard is false.
func (s *sharing) run(o *port.Order) (e port.Event) {
	v := o.Shared
	e = port.Event{Shared: &port.Shared{Ticket: v.Ticket, Digest: v.Digest}, Segment: o.Segment}
	switch o.Kind {
	case port.Apply:
		e.Kind = port.Applied
	case port.Join:
		e.Kind = port.Joined
	case port.Collect:
		e.Kind = port.Collected
	case port.Encode:
		e.Kind = port.Encoded
	case port.Guard:
		e.Kind = port.Guarded
	case port.Judge:
		e.Kind = port.Judged
	}
	defer func() {
		if p := recover(); p != nil {
			s.trouble(o, fmt.Errorf("it panicked: %v", p))
		}
	}()
	if err := s.call(o, &e); err != nil {
		s.trouble(o, err)
	}
	return e
}

func (s *sharing) call(o *port.Order, e *port.Event) error {
	v, shelf := o.Shared, s.e.pool.Shelf()
	name := engine.Name(v.Digest)
	switch o.Kind {
	case port.Apply:
		m, ok := engine.MethodTyped(v.Name).(engine.Mover)
		if !ok {
			return fmt.Errorf("no object is registered as %q", clip(v.Name, maxFailureName))
		}
		made, b, err := m.Apply(shelf, engine.Name(v.Parent), v.Data)
		if err == nil {
			e.Shared.State = sharedobj.Build(b)
			s.mu.Lock()
			s.applied[v.Ticket] = made
			s.mu.Unlock()
		}
		return err
	case port.Guard:
		arg, err := s.e.argument(o.Job)
		if err == nil {
			e.Good, err = s.e.pool.Guard(o.Job.Function, arg)
		}
		return err
	case port.Judge:
		return judge(o.Job, o.Outcome, e)
	}
	l, err := s.lattice(shelf, name)
	if err != nil {
		return err
	}
	var b []byte
	switch o.Kind {
	case port.Join:
		join := l.Join
		if v.Own {
			join = l.Own
		}
		e.Shared.Changed, err = join(v.Data)
		e.Good = err == nil
		return err
	case port.Collect:
		b, err = l.Collect()
	case port.Encode:
		b, err = l.Encode()
	}
	if b != nil {
		e.Shared.State = sharedobj.Build(b)
	}
	return err
}

// lattice finds one that jobs here use, or makes it of its seed.
func (s *sharing) lattice(shelf *engine.Shelf, name engine.Name) (engine.Growing, error) {
	if l, ok := shelf.Lattice(name).(engine.Growing); ok {
		return l, nil
	}
	registered := shelf.Registered(name)
	g, ok := engine.MethodTyped(registered).(engine.Grower)
	if !ok {
		return nil, fmt.Errorf("no lattice is registered as %q", clip(registered, maxFailureName))
	}
	return g.Open(shelf, name)
}

// trouble tells people what went wrong, the same once: what others offer can go wrong without end.
func (s *sharing) trouble(o *port.Order, err error) {
	what := map[port.OrderKind]string{port.Apply: "a write to a shared object failed", port.Guard: "a guard failed",
		port.Join: "an offer to a lattice is not valid", port.Judge: "a result is wrong"}[o.Kind]
	if what == "" {
		what = "the value of a lattice cannot be told"
	}
	text := fmt.Sprintf("%s: %q: %s", what, o.Shared.Name, clip(err.Error(), maxFailureText))
	s.mu.Lock()
	known := s.troubles[text] || len(s.troubles) >= maxNoted
	if !known {
		s.troubles[text] = true
	}
	s.mu.Unlock()
	if !known {
		s.e.tell(func(told *[]port.Event) { *told = append(*told, port.Event{Kind: port.Troubled, Text: text}) })
	}
}

// argument decodes a job's argument.
func (e *Engine) argument(j *steal.Job) (any, error) {
	_, v, err := read(j.Function, j.Arg)
	return v, err
}
