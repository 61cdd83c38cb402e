package module

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/module/build"
	"github.com/satin-peer/satin/internal/wire"
)

// guests are the modules that must pass the suite and are kept here; the one in Go is built by TestGoGuest.
var guests = map[string]string{"C": "guest/conform/conform.wasm", "Rust": "guest/conform/conform-rust.wasm"}

// An application in Go passes the suite too: on hosts that take what they are offered at once, and on pools.
func TestGoGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module with the go command")
	}
	path := filepath.Join(t.TempDir(), "conform.wasm")
	if err := build.Go(context.Background(), "../../guest/conform/go", path); err != nil {
		t.Fatal(err)
	}
	m := load(t, Config{Fuel: 50_000}, path)
	provide(t, m)
	t.Run("3 thieves", func(t *testing.T) { conforms(t, newPool(t, m, 3).root) })
	for name, p := range map[string]*engine.Pool{"sequential": nil, "2 workers": pools(t, engine.Config{Workers: 2})} {
		t.Run(name, func(t *testing.T) {
			deepest := 2000
			if p != nil {
				deepest = 300 // each that waits there has megabytes of its own
			}
			conformsTo(t, on(p, m), deepest)
			shares(t, on(p, m))
		})
	}
	seesOffers(t, m)
	if out, err := newPool(t, m, 0).root(t, "executes", "1"); err != nil || out != "1" {
		t.Errorf("a job asks for an executable: %s, %v", out, err)
	}
	largeArguments(t, m)
	strangers(t, m, 1, 1)
	p := newPool(t, m, 0)
	p.hungry = 4
	if _, err := p.root(t, "fib", "22"); err != nil || len(p.paths) < 2 || !slices.Equal(p.paths[0], []uint32{1}) {
		t.Errorf("%v; offered %v", err, p.paths)
	}
	p = newPool(t, m, 0)
	p.hungry = 4
	if out, err := p.root(t, "homely", "10"); err != nil || out != "19151" || len(p.paths) == 0 || p.paths[0][0] <= 10 {
		t.Errorf("with jobs that cannot leave: %s, %v; offered %v", out, err, p.paths)
	}
	for what, want := range map[string]string{"odd": ": there is none at all", "output": "file: want none: modules write no files",
		"saves": "no file is to be written: modules write none"} {
		if _, err := m.Setup([]string{what, "1"}, nil, inputs); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s is refused by %v, want %s", what, err, want)
		}
	}
	for what, want := range map[string]string{"panics": "job 1.1.1.1 (conform.panics): panicked: this cannot go on",
		"fails": "job 1.1.1.1 (conform.fails): there is none at all"} {
		_, err := newPool(t, m, 3).root(t, what, "4")
		oneClearLine(t, err, want)
	}
	if out, err := newPool(t, m, 3).root(t, "halfway", "50"); err != nil || out != "50625" {
		t.Errorf("children that fail come to %s, %v, want 50625", out, err)
	}
	p = newPool(t, m, 0)
	p.hungry = 4
	if out, err := p.root(t, "upwards", "9"); err != nil || out != "36" || len(p.queue) == 0 {
		t.Fatal(out, err, len(p.queue))
	}
	out, err := p.run(&offered{job: p.queue[0].job, state: begun})
	if !strings.Contains(string(out), "which results of modules may not") {
		t.Errorf("a result that names what is shared: %q, %v", out, err)
	}
}

// largeArguments has a job offered with an argument that is larger than what may be a result, and runs it elsewhere.
func largeArguments(t *testing.T, m *Module) {
	const size = 40 << 20
	p := newPool(t, m, 0)
	p.hungry = 1
	if out, err := p.root(t, "halves", fmt.Sprint(size)); err != nil || out != fmt.Sprint(size) {
		t.Errorf("the halves weigh %s, %v", out, err)
	}
	if len(p.queue) == 0 || len(p.queue[0].job.Arg) < size/2 {
		t.Fatal("no half was offered")
	}
	if _, err := p.run(&offered{job: p.queue[0].job, state: begun}); err != nil {
		t.Error(err)
	}
}

// strangers finds among the methods of a module the lattices whose offers it can check, and those where it cannot.
func strangers(t *testing.T, m *Module, checked, unchecked int) {
	t.Helper()
	about, err := wire.Shared().Encode(&struct {
		About  uint64 `cbor:"1,keyasint"`
		Bottom uint64 `cbor:"2,keyasint"`
	}{1000, math.MaxUint64})
	if err != nil {
		t.Fatal(err)
	}
	offer, err := wire.Shared().Encode(uint64(1001))
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint32(16) {
		switch valid(topic{m.Hash, n, octets(about)}, grown{m.Hash, n, octets(offer)}) {
		case nil:
			checked--
		case engine.ErrUnchecked:
			unchecked--
		}
	}
	if checked != 0 || unchecked != 0 {
		t.Errorf("%d lattices that can be checked are missing, and %d that cannot", checked, unchecked)
	}
}

// A module that has no lattices, or no way to check them, checks no stranger's offer.
func TestOffersOfStrangers(t *testing.T) {
	m := load(t, Config{}, "examples/queens-c/queens.wasm")
	provide(t, m)
	strangers(t, m, 0, 16)
}

// suite is what every guest must be able to do: arguments, and the result or a part of the error. The numbers
// are fib(20) and fib(25), OEIS A000045; 8 queens, OEIS A000170; the rest follows from the programs.
var suite = []struct {
	what string
	n    int
	want uint64
	err  string
}{
	{"fib", 1, 1, ""},
	{"fib", 20, 6765, ""},
	{"fib", 25, 75025, ""},
	{"sequential", 20, 6765, ""},
	{"count_of", 8, 92, ""},
	{"queens_of", 8, 92, ""},
	{"queens_of", 10, 724, ""},
	{"first", 5, 5, ""},
	{"first", 200, 200, ""},
	{"aborted", 3, 3, ""},
	{"fails", 0, 0, "there is none at all"},
	{"fails", 20, 0, "there is none at all"},
	{"caught", 9, 9, ""},
	{"beside", 9, 0, "there is none at all"},
	{"panics", 12, 0, "this cannot go on"},
	{what: "deep"}, // see conformsTo
	{"floats", 1000, floats(1000), ""},
}

// sharing is what every guest must be able to do with shared values. The numbers are sums and recurrences that
// are computed here in another way.
var sharing = []struct {
	what string
	n    int
	want uint64
	err  string
}{
	{"constant", 1000, 999 * 1000 / 2, ""},
	{"object", 20, versions(20), ""},
	{"object", 200, versions(200), ""},
	{"lattice", 100, least(100), ""},
	{"guarded", 50, 50, ""},
	{"invalid", 999, 0, "less than there can be"},
	{"file", 0, 'a' + 'b' + 'c', ""},
}

// versions is the sum of the states of an object that is multiplied by 31 and added to, n times.
func versions(n int) (sum uint64) {
	for i, s := 1, uint64(1); i <= n; i++ {
		s = 31*s + uint64(i)
		sum += s
	}
	return sum
}

func least(n int) uint64 {
	least := uint64(math.MaxUint64)
	for i := range n {
		least = min(least, 1000+uint64(uint32(i)*2654435761>>8))
	}
	return least
}

// inputs is what a run of the suite may have asked for by --file.
var inputs = []File{{"input", []byte("abc")}, {"another", []byte("x")}}

// shares runs what is shared, which hosts for tests without an engine do not know.
func shares(t *testing.T, run func(t testing.TB, args ...string) (string, error)) {
	for _, c := range sharing {
		t.Run(fmt.Sprintf("%s %d", c.what, c.n), func(t *testing.T) { checkCase(t, run, c.what, c.n, c.want, c.err) })
	}
}

// floats is what floats.c computes: the bits of a sum, and of the one NaN there is.
func floats(n int) uint64 {
	sum := 0.0
	for i := 1; i <= n; i++ {
		sign := 1.0
		if i%2 == 0 {
			sign = -0.9
		}
		sum += float64(1 / float64(i) * sign) // rounded before it is added, on every processor
	}
	return math.Float64bits(sum) ^ 0x7ff8000000000000
}

// hungers are how many thieves want jobs: with none nothing is offered, with many nearly all is.
var hungers = []int{0, 1, 4}

// Modules from C and from Rust come to the results of the suite, wherever they are interrupted and however many steal
// from them.
func TestConformance(t *testing.T) {
	for guest, path := range guests {
		for _, fuel := range []int32{1_000, 200_000} {
			m := load(t, Config{Fuel: fuel}, path)
			for _, thieves := range hungers {
				t.Run(fmt.Sprintf("%s, %d thieves, fuel %d", guest, thieves, fuel), func(t *testing.T) {
					conforms(t, newPool(t, m, thieves).root)
				})
			}
		}
	}
}

// Guards that the line with which a program in C ends its run is told as its own word.
func TestGivesUp(t *testing.T) {
	_, err := newPool(t, load(t, Config{}, guests["C"]), 0).root(t, "panics", "12")
	if err == nil || !strings.Contains(err.Error(), ": it gave up: this cannot go on") {
		t.Error(err)
	}
}

// conforms runs the suite.
func conforms(t *testing.T, run func(t testing.TB, args ...string) (string, error)) {
	conformsTo(t, run, 2000)
}

func conformsTo(t *testing.T, run func(t testing.TB, args ...string) (string, error), deepest int) {
	for _, c := range suite {
		if c.what == "deep" {
			c.n, c.want = deepest, uint64(deepest)
		}
		t.Run(fmt.Sprintf("%s %d", c.what, c.n), func(t *testing.T) { checkCase(t, run, c.what, c.n, c.want, c.err) })
	}
}

func checkCase(t *testing.T, run func(t testing.TB, args ...string) (string, error), what string, n int, want uint64,
	why string) {
	t.Helper()
	out, err := run(t, what, fmt.Sprint(n))
	if why != "" {
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q, %v; want an error with %q", out, err, why)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint(want); out != want {
		t.Errorf("%s, want %s", out, want)
	}
}

// Whoever is hungry is offered the oldest jobs, with their paths from the job that runs: of a tree that is run in
// place, the first is the root's first child, and nothing is offered twice.
func TestPromotion(t *testing.T) {
	for guest, path := range guests {
		m := load(t, Config{Fuel: 1_000}, path)
		p := newPool(t, m, 0)
		p.hungry = 4
		if _, err := p.root(t, "fib", "22"); err != nil {
			t.Fatal(guest, err)
		}
		if len(p.paths) < 2 || !slices.Equal(p.paths[0], []uint32{1}) {
			t.Fatalf("%s: offered %v", guest, p.paths)
		}
		seen := map[string]bool{}
		for _, path := range p.paths {
			if name := fmt.Sprint(path); seen[name] {
				t.Errorf("%s: %s was offered twice", guest, name)
			} else {
				seen[name] = true
			}
		}
	}
}

// What a job leaves behind is not there for the next one.
func TestFreshInstances(t *testing.T) {
	m := load(t, Config{}, "guest/conform/hostile.wasm")
	p := newPool(t, m, 0)
	for range 3 {
		out, err := p.root(t, "litter", "7")
		if err != nil {
			t.Fatal(err)
		}
		if out != "0" {
			t.Fatalf("a job found %s, which an earlier one had left", out)
		}
	}
	if len(m.idle) == 0 {
		t.Error("no instance was used again, so this test saw nothing")
	}
}

// The modules kept here were made from the sources kept here.
func TestStale(t *testing.T) {
	sums, err := os.ReadFile("../../guest/SUMS")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(sums)) {
		want, path, _ := strings.Cut(strings.TrimSpace(line), "  ")
		b, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		if n++; fmt.Sprintf("%x", sha256.Sum256(b)) != want {
			t.Errorf("%s has changed since the modules were built: run make modules", path)
		}
	}
	if n == 0 {
		t.Error("guest/SUMS is empty")
	}
}
