package module

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wasm"
)

// Modules that harm: each ends in one clear line, or does no harm, and the host goes on.
func TestHostile(t *testing.T) {
	limits := wasm.DefaultLimits()
	limits.Pages = 1024
	m := load(t, Config{Limits: limits, Fuel: 20_000}, "guest/conform/hostile.wasm")
	for _, c := range []struct {
		what string
		n    uint32
		why  string // empty: it does no harm
	}{
		{"recurse", 1, "out of bounds memory access"},
		{"calls", 1, "stack overflow"},
		{"grow", 1, ""},
		{"grow", 100_000, ""},
		{"traps", 0, "out of bounds memory access"},
		{"forge", 1, "names a child 1 that it has not offered"},
		{"forge", 0, "names a child 0 that it has not offered"},
		{"forge", 0xffffffff, "names a child -1 that it has not offered"},
		{"forge_drop", 17, "names a child 17 that it has not offered"},
		{"twice_joined", 1, "names a child 1 that it has not offered"},
		{"wait_far", 0x7fffff00, "outside its memory"},
		{"wait_many", 0xffffffff, "waits for one of 4294967295 children"},
		{"wait_many", 0, "waits for one of 0 children"},
		{"promote", 200_000, ""},
		{"hoard", 100_000, "offers more than 65536 children at a time"},
		{"leave", 1, "although 1 of its children are at work"},
		{"large", 0, "outside its memory"},
		{"far", 0, "outside its memory"},
		{"long_path", 0x7fffffff, "deep"},
		{"offer_nothing", 1, "out of bounds memory access"},
		{"fail_far", 4096, "outside its memory"},
		{"terminal", 1, "red  [31m and more lines"},
		{"chatter", 100_000, ""},
	} {
		for _, thieves := range []int{0, 2} {
			t.Run(fmt.Sprintf("%s %d, %d thieves", c.what, c.n, thieves), func(t *testing.T) {
				p := newPool(t, m, thieves)
				if c.what == "offer_nothing" && thieves == 0 {
					t.Skip("the job comes back to who offered it")
				}
				_, err := p.root(t, c.what, fmt.Sprint(c.n))
				oneClearLine(t, err, c.why)
			})
		}
	}
	for what, why := range map[string]string{
		"setup_loop": "takes too long to describe itself", "setup_far": "outside its memory",
		"setup_large": "outside its memory", "setup_garbage": "no job to begin with",
		"setup_spawns": "spawns while it is asked", "setup_shares": "while it is asked to describe itself",
		"setup_hoards": "too large for a run to begin with", "setup_reads": "while it is asked",
	} {
		t.Run(what, func(t *testing.T) {
			m := load(t, Config{Limits: limits, Budget: 10_000_000}, "guest/conform/hostile.wasm")
			_, err := m.Setup([]string{what, "16000000"}, nil, inputs)
			oneClearLine(t, err, why)
		})
	}
}

// Modules that lie about what is shared, on the engine that natives run on: each ends in one clear line.
func TestHostileSharing(t *testing.T) {
	m := load(t, Config{}, "guest/conform/hostile.wasm")
	provide(t, m)
	for _, c := range []struct {
		what string
		n    uint32
		why  string // empty: it does no harm
	}{
		{"read_forged", 7, "nobody"},
		{"read_far", 0, "outside its memory"},
		{"write_forged", 1, "nobody"},
		{"value_forged", 7, "nobody"},
		{"value_constant", 7, "looks for a lattice where there is none"},
		{"write_constant", 7, "writes to what is no object"},
		{"share_far", 0, "outside its memory"},
		{"share_large", 0x7fffffff, "it shares 2147483647 bytes"},
		{"share_many", 100_000, "a job shares too many values"},
		{"write_many", 20_000, ""},
		{"look_many", 1000, "looks at more than 64 lattices"},
		{"name_many", 65, "names 65 shared values"},
		{"grow_nowhere", 1, "out of bounds memory access"},
		{"file_in_job", 1, "asks for a file"},
	} {
		t.Run(c.what, func(t *testing.T) {
			for name, p := range map[string]*engine.Pool{"": nil, " on a pool": pools(t, engine.Config{Workers: 2})} {
				_, err := on(p, m)(t, c.what, fmt.Sprint(c.n))
				if c.why == "nobody" && p == nil && err != nil {
					continue // there it is never here
				}
				oneClearLine(t, err, c.why)
				if t.Failed() {
					t.Log(c.what + name)
				}
			}
		})
	}
}

func oneClearLine(t *testing.T, err error, why string) {
	t.Helper()
	switch {
	case why == "" && err != nil:
		t.Errorf("%v; it should do no harm", err)
	case why == "":
	case err == nil:
		t.Errorf("no error, want one with %q", why)
	case !strings.Contains(err.Error(), why) || strings.ContainsAny(err.Error(), "\n\r\033"):
		t.Errorf("%q, want one line with %q", err, why)
	}
}

// What runs for ever ends when its engine says so, wherever it is: in a loop, a recursion, a row of copies.
func TestAborts(t *testing.T) {
	m := load(t, Config{}, "guest/conform/hostile.wasm")
	for _, what := range []string{"loop", "copy"} {
		p := newPool(t, m, 0)
		r, err := m.Setup([]string{what, "16000000"}, nil, inputs)
		if err != nil {
			t.Fatal(err)
		}
		job := &offered{job: Job{Fn: r.Call.Fn, Arg: r.Call.Arg}, state: begun}
		end := make(chan error)
		go func() {
			_, err := p.run(job)
			end <- err
		}()
		(&worker{p: p}).Drop(job)
		select {
		case err := <-end:
			if err != errUnwound {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(8 * time.Minute):
			t.Fatalf("%s goes on", what)
		}
	}
}

// What the host does for a module costs it no fuel, and is looked up in all the same: a job is ended by its engine, and
// what describes itself by its budget, in many calls or in those that touch much.
func TestHostCallsEnd(t *testing.T) {
	m := load(t, Config{}, "guest/conform/conform.wasm")
	const large, at, place = 128 << 10, 2048, 1024 // bytes; where they are; where a name is
	file := File{Bytes: make([]byte, large)}
	name, satin1 := constantOf(file.Bytes), withTick()
	for what, c := range map[string]struct {
		f     hostFunc
		calls int
		stack [3]uint64
	}{
		"many calls":       {wasi["sched_yield"], 1000, [3]uint64{}},
		"random bytes":     {wasi["random_get"], 1, [3]uint64{at, large}},
		"a constant":       {satin1["constant"], 1, [3]uint64{at, large, place}},
		"one that is read": {satin1["read"], 1, [3]uint64{place}},
		"names":            {satin1["naming"], 100, [3]uint64{at, maxNames}},
		"offers":           {satin1["grow"], 1, [3]uint64{place, at, 1}},
	} {
		for why, e := range map[string]Engine{"it takes too long": nil,
			errUnwound.Error(): &worker{&pool{closed: true}, &offered{}}} {
			in, err := m.get()
			if err != nil {
				t.Fatal(err)
			}
			in.engine, in.shared, in.budget = e, takesOffers{newFiles(m, []File{file})}, 1
			in.wasm.write(place, name[:])
			func() {
				defer func() {
					if v := fmt.Sprint(recover()); !strings.Contains(v, why) {
						t.Errorf("%s: %s, want %q", what, v, why)
					}
				}()
				for range c.calls {
					stack := c.stack
					c.f.guarded(in, stack[:])
				}
			}()
			in.close()
		}
	}
}

// takesOffers has a lattice that is offered to.
type takesOffers struct{ *files }

func (takesOffers) Grow(Name, []byte) {}

// A module that asks for its file again and again does not have it hashed each time: that is no work that it pays for.
func TestFilesAreNamedOnce(t *testing.T) {
	s := newFiles(nil, []File{{Name: "f", Bytes: make([]byte, 128<<10)}})
	if n := testing.AllocsPerRun(10, func() { s.File("f") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A bomb is a module whose compilation would cost far more than its bytes; what is left of it is bounded by Limits.
func TestBomb(t *testing.T) {
	h, err := NewHost(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for name, bin := range map[string][]byte{
		"nothing": nil, "no module": []byte("#!/bin/sh"), "the empty module": []byte("\x00asm\x01\x00\x00\x00"),
		"16 MiB of zeros": append([]byte("\x00asm\x01\x00\x00\x00"), make([]byte, 16<<20)...),
	} {
		_, err := h.Load(bin)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What imports a function with other parameters than it has is refused before anything is compiled: not every machine
// looks at them.
func TestOtherParameters(t *testing.T) {
	h, err := NewHost(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const types, imports = "\x01\x05\x01\x60\x00\x01\x7e", "\x02\x11\x01\x06satin1\x06wanted\x00\x00" // () -> i64
	_, err = h.Load([]byte("\x00asm\x01\x00\x00\x00" + types + imports))
	oneClearLine(t, err, `"wanted" of "satin1", which has other parameters`)
}

// An answer that would take gigabytes to be read is not shown.
func TestLongAnswers(t *testing.T) {
	for name, c := range map[string]struct{ begins, repeated, ends string }{
		"lines": {"", "\n", ""}, "fields": {"\x00{\"a\":[", "{},", "{}]}"},
	} {
		text := c.begins + strings.Repeat(c.repeated, MaxShown/len(c.repeated)-10) + c.ends
		if _, _, err := new(Module).shown([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, _, err := new(Module).shown([]byte(text + strings.Repeat(" ", MaxShown)))
		oneClearLine(t, err, "are shown")
	}
}

// Guards that programs are given the numbers that a module has written: the largest of 64 bits.
func TestFieldsAsWritten(t *testing.T) {
	const want = `{"n":18446744073709551615}`
	_, fields, err := new(Module).shown([]byte("many\x00" + want))
	if b, bad := json.Marshal(fields); err != nil || bad != nil || string(b) != want {
		t.Errorf("%s, %v, %v; want %s", b, err, bad, want)
	}
}
