package module

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
)

// vaultOf is what running jobs of a pool have in their hands.
func vaultOf(p *engine.Pool) *vault {
	return p.Shelf().Beside(loner{p.Shelf()}, func() any { return &vault{} }).(*vault)
}

// A job that looks at a lattice sees what another one, which does not know it, offers to the one of the same name
// later.
func TestSeesOffers(t *testing.T) {
	for guest, path := range guests {
		t.Run(guest, func(t *testing.T) {
			m := load(t, Config{Fuel: 1_000}, path)
			provide(t, m)
			seesOffers(t, m)
		})
	}
}

func seesOffers(t *testing.T, m *Module) {
	p := pools(t, engine.Config{Workers: 2})
	waits, err := m.Setup([]string{"waits", "1234"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	offers, err := m.Setup([]string{"offers_it", "1200"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 1)
	go func() {
		out, err := p.Run(context.Background(), Func, waits.Call)
		b, _ := out.([]byte)
		text, _ := rendered(t, m, waits, b, err)
		seen <- text
	}()
	// Each offer is at least as good as the one that is waited for: also if the first is over before anybody waits.
	for {
		if _, err := p.Run(context.Background(), Func, offers.Call); err != nil {
			t.Fatal(err)
		}
		select {
		case text := <-seen:
			if text != "1200" {
				t.Errorf("%q", text)
			}
			return
		default:
		}
	}
}

// nobodyHungry is an engine that wants no jobs, with a lattice that grows elsewhere after some looks.
type nobodyHungry struct {
	alone
	*files
	ticks, looks int
}

func (e *nobodyHungry) Shared() Shared { return e }

func (e *nobodyHungry) Attend() int {
	if e.ticks++; e.ticks > 100_000 {
		panic(errUnwound)
	}
	return 0
}

func (e *nobodyHungry) Lattice(uint32, []byte) Name { return Name{1} }

func (e *nobodyHungry) Value(Name) string {
	if e.looks++; e.looks < 10 {
		return ""
	}
	return string(binary.LittleEndian.AppendUint64(nil, 1100))
}

// A job hears of what lattices have grown by although nobody wants work of it.
func TestSeesOffersWithoutThieves(t *testing.T) {
	m := load(t, Config{Fuel: 1_000}, "guest/conform/conform.wasm")
	r, err := m.Setup([]string{"waits", "1234"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if v := recover(); v != nil {
			t.Fatalf("it looks no more: %v", v)
		}
	}()
	out, err := m.Run(&nobodyHungry{files: newFiles(m, nil)}, r.Call.Fn, r.Call.Arg)
	if text, err := rendered(t, m, r, out, err); text != "1100" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// When a job has ended nothing of what it shared is held for it.
func TestNothingIsHeld(t *testing.T) {
	m := load(t, Config{Fuel: 1_000}, "guest/conform/conform.wasm")
	provide(t, m)
	p := pools(t, engine.Config{Workers: 2})
	shares(t, on(p, m))
	if n := len(vaultOf(p).byName); n > 0 {
		t.Errorf("%d values are held when all jobs have ended", n)
	}
}

// A job that was stolen says what it names, and may begin when its guard is true: when the lattice has grown as much
// as its argument says.
func TestGuards(t *testing.T) {
	m := load(t, Config{Fuel: 1_000}, "guest/conform/conform.wasm")
	provide(t, m)
	p := pools(t, engine.Config{Workers: 1})
	root, err := m.Setup([]string{"guarded", "500"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var call *Call
	for call == nil {
		done := make(chan error, 1)
		go func() {
			_, err := p.Run(context.Background(), Func, root.Call)
			done <- err
		}()
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				running = false
			default:
				taken := p.Take()
				if taken == nil {
					continue
				}
				if c := taken.Job().Arg.(Call); call == nil {
					call = &c
					guardsHold(t, p, c)
				}
				taken.PutBack(false)
			}
		}
	}
}

// guardsHold looks at a job that has not ended, so its lattice is there.
func guardsHold(t *testing.T, p *engine.Pool, c Call) {
	var names []byte
	engine.Handles(c, func(h engine.Shared) {
		l, ok, err := h.Leave(nil)
		if !ok || err != nil {
			t.Errorf("what it names cannot leave: %v, %v", ok, err)
		}
		names = append(names, l.Name[:]...)
	})
	if len(names) != nameSize || string(names) != string(c.Names) || string(names) != string(c.Arg[:nameSize]) {
		t.Errorf("it names %x, and its argument is %x", names, c.Arg)
	}
	if !engine.Guarded(Func, c) || engine.Guarded(Func, Call{}) {
		t.Error("which calls have guards is wrong")
	}
	if ok, err := p.Guard(Func, c); !ok || err != nil {
		t.Errorf("its guard is %v, %v where it was spawned", ok, err)
	}
	c.Arg = append([]byte(nil), c.Arg...)
	binary.LittleEndian.PutUint32(c.Arg[nameSize:], 1001) // less than any job offers here
	if ok, err := p.Guard(Func, c); ok || err != nil {
		t.Errorf("its guard is %v, %v although the lattice has not grown so far", ok, err)
	}
}
