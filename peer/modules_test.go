package peer_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

// guestModule is a module of this repository.
type guestModule struct {
	bin []byte
	*module.Module
}

func readModule(t testing.TB, path string) guestModule {
	t.Helper()
	bin, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return loadModule(t, bin)
}

func loadModule(t testing.TB, bin []byte) guestModule {
	t.Helper()
	h, err := module.NewHost(module.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	m, err := h.Load(bin)
	if err != nil {
		t.Fatal(err)
	}
	return guestModule{bin, m}
}

// root is the job by which the module computes something.
func (g guestModule) root(t testing.TB, args ...string) module.Root {
	t.Helper()
	flags := make([]string, len(g.Flags))
	for i, f := range g.Flags {
		flags[i] = f.Default
	}
	r, err := g.Setup(args, flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// submission gives a peer the module and says what to submit.
func (g guestModule) submission(t testing.TB, p *peer.Peer, args ...string) control.Submission {
	t.Helper()
	info, err := p.AddModule(context.Background(), control.ModuleFile{Bytes: g.bin})
	if err != nil {
		t.Fatal(err)
	}
	r := g.root(t, args...)
	b, err := wire.Value().Encode(r.Call)
	if err != nil {
		t.Fatal(err)
	}
	return control.Submission{App: g.Name + ".wasm", Module: info.Module, Function: module.Func, Argument: b,
		Title: r.Title, Args: args}
}

func (g guestModule) submit(t testing.TB, p *peer.Peer, args ...string) (run string) {
	t.Helper()
	r, err := p.Submit(context.Background(), g.submission(t, p, args...))
	if err != nil {
		t.Fatal(err)
	}
	return r.Run
}

// answer waits for a run and gives its answer's text.
func (g guestModule) answer(t testing.TB, p *peer.Peer, run string, args ...string) string {
	t.Helper()
	text, _, err := g.Render(g.root(t, args...).Call, await[[]byte](t, p, run))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A module goes from its owner to whoever takes part, who runs its jobs in a process of their own, all of a run in
// one that has compiled it once; it stays on the disk for the next run, and its owner's answer is that of the program.
func TestModulesTravel(t *testing.T) {
	t.Parallel()
	queens := readModule(t, "examples/queens-c/queens.wasm")
	dir := t.TempDir()
	said := new(book)
	a := open(t, inProcesses(t), logging(said))
	b := open(t, inProcesses(t), in(dir))
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	runs := 0
	for ctx := deadline(t); taken(b) == 0; runs++ { // a run may be over before the other has its module
		if ctx.Err() != nil {
			t.Fatalf("the other peer took nothing of %d runs", runs)
		}
		run := queens.submit(t, a, "12")
		if got := queens.answer(t, a, run, "12"); !strings.Contains(got, "14200 solutions") {
			t.Fatalf("12 queens: %s", got)
		}
	}
	a.Close() // then all that was said has come
	if n := len(readyIn.FindAllString(said.String(), -1)); n != runs {
		t.Errorf("for %d runs %d processes were made ready", runs, n)
	}
	b.Close()
	b = open(t, inProcesses(t), in(dir))
	list, err := b.Modules(context.Background())
	if err != nil || len(list) != 1 || list[0].Module != hex.EncodeToString(queens.Hash[:]) ||
		list[0].Size != int64(len(queens.bin)) { // without what was compiled of it
		t.Errorf("after a restart there are %+v, %v", list, err)
	}
	f, err := b.Module(context.Background(), list[0].Module)
	if err != nil || string(f.Bytes) != string(queens.bin) {
		t.Errorf("%d bytes, %v", len(f.Bytes), err)
	}
}

// Whoever has a module's file that was damaged fetches it again when a run wants it, and takes part.
func TestDamagedModuleIsFetched(t *testing.T) {
	t.Parallel()
	queens := readModule(t, "examples/queens-c/queens.wasm")
	dir := t.TempDir()
	file := filepath.Join(dir, "modules", hex.EncodeToString(queens.Hash[:])+".wasm")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, queens.bin[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, inProcesses(t)), open(t, inProcesses(t), in(dir))
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	run := queens.submit(t, a, "17")
	until(t, "the other takes part", func() bool { return runs(t, b)[run].State == control.RunRunning && taken(b) > 0 })
	if err := a.Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}
}

// A run that cannot begin here keeps its module on the disk no longer than one that is over.
func TestModuleOfWhatNeverBegan(t *testing.T) {
	t.Parallel()
	queens, golomb := readModule(t, "examples/queens-c/queens.wasm"), readModule(t, "examples/golomb-c/golomb.wasm")
	a := open(t, func(c *peer.Config) {
		c.Compute = []string{"/nonexistent/program"}
		c.ModuleCache = int64(max(len(queens.bin), len(golomb.bin)) + 1)
	})
	run := queens.submit(t, a, "17")
	until(t, "it cannot begin", func() bool { return runs(t, a)[run].State == control.RunRefused })
	until(t, "another module has its place", func() bool {
		if _, err := a.AddModule(context.Background(), control.ModuleFile{Bytes: golomb.bin}); err != nil {
			t.Fatal(err)
		}
		list, err := a.Modules(context.Background())
		return err == nil && len(list) == 1 && list[0].Module == hex.EncodeToString(golomb.Hash[:])
	})
}

// Whoever does not want modules takes no part in their runs, and says so; whoever takes published ones does not take
// others.
func TestModulesNeedConsent(t *testing.T) {
	t.Parallel()
	queens := readModule(t, "examples/queens-c/queens.wasm")
	consent := func(s string) func(*peer.Config) { return func(c *peer.Config) { c.Modules = s } }
	a := open(t, inProcesses(t))
	off := open(t, inProcesses(t), consent(peer.ModulesOff))
	published := open(t, inProcesses(t), consent(peer.ModulesPublished))
	for _, p := range []*peer.Peer{off, published} {
		if _, err := p.Join(deadline(t), address(t, a)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "they know each other", func() bool {
		list, err := a.Peers(deadline(t))
		return err == nil && len(list) == 2
	})
	info, err := a.Submit(context.Background(), queens.submission(t, a, "17"))
	if err != nil {
		t.Fatal(err)
	}
	run := info.Run
	slices.SortFunc(info.Help.Cannot, func(x, y control.Lack) int { return strings.Compare(x.Why, y.Why) })
	want := &control.Help{Cannot: []control.Lack{{Why: "run no modules: the setting modules says so", Peers: 1},
		{Why: "run published modules only: satin-peer publish signs one", Peers: 1}}}
	if !reflect.DeepEqual(info.Help, want) {
		t.Errorf("the owner is told %+v", info.Help)
	}
	for p, why := range map[*peer.Peer]string{off: "runs no modules", published: "was not published"} {
		until(t, "the run is refused", func() bool {
			r := runs(t, p)[run]
			return r.State == control.RunRefused && strings.Contains(r.Why, why)
		})
	}
	if err := a.Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	if _, err := off.AddModule(context.Background(), control.ModuleFile{Bytes: queens.bin}); err == nil {
		t.Error("a peer without modules took one")
	}
	sub := queens.submission(t, a, "8")
	if _, err := open(t, inProcesses(t)).Submit(context.Background(), sub); err == nil {
		t.Error("a peer submits a run of a module that it has not")
	}
	if _, err := off.Submit(deadline(t), sub); err == nil || !strings.Contains(err.Error(), "runs no modules") {
		t.Errorf("a peer without modules submits a run of one: %v", err)
	}
}

// What a member has published, others find by its name, also those who come later; whoever runs published modules only
// runs this one; and after a restart its publisher stands for it still.
func TestPublish(t *testing.T) {
	t.Parallel()
	queens := readModule(t, "examples/queens-c/queens.wasm")
	dir := t.TempDir()
	a := open(t, inProcesses(t), in(dir))
	strict := open(t, inProcesses(t), func(c *peer.Config) { c.Modules = peer.ModulesPublished })
	if _, err := strict.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	run := queens.submit(t, a, "17")
	until(t, "the run is refused", func() bool { return runs(t, strict)[run].State == control.RunRefused })
	info, err := a.Publish(context.Background(), control.Publication{Name: "queens", Summary: "count\nthem",
		Args: "N\tM", Bytes: queens.bin})
	if err != nil || info.Publisher != a.ID().String() || !info.Here {
		t.Fatalf("%+v, %v", info, err)
	}
	until(t, "the run is taken up", func() bool { return runs(t, strict)[run].State == control.RunRunning })
	if err := a.Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}

	late := open(t, inProcesses(t))
	if _, err := late.Join(deadline(t), address(t, strict)); err != nil {
		t.Fatal(err)
	}
	until(t, "the newcomer has heard of it", func() bool {
		list, err := late.Modules(context.Background())
		return err == nil && len(list) == 1 && list[0].Name == "queens" && !list[0].Here &&
			list[0].Publisher == a.ID().String() && list[0].Summary == "count?them" && list[0].Args == "N?M"
	})
	for _, name := range []string{"queens", a.ID().String() + "/queens", info.Module[:8], info.Module} {
		f, err := late.Module(deadline(t), name)
		if err != nil || string(f.Bytes) != string(queens.bin) {
			t.Errorf("%s: %d bytes, %v", name, len(f.Bytes), err)
		}
	}
	for name, want := range map[string]error{"nothing": control.ErrNotFound, "00000000": control.ErrNotFound} {
		if _, err := late.Module(deadline(t), name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", "Queens", "../queens", strings.Repeat("q", 41)} {
		_, err := a.Publish(context.Background(), control.Publication{Name: bad, Bytes: queens.bin})
		if !errors.Is(err, control.ErrBadInput) {
			t.Errorf("published as %q: %v", bad, err)
		}
	}
	a.Close()
	a = open(t, inProcesses(t), in(dir))
	list, err := a.Modules(context.Background())
	if err != nil || len(list) != 1 || list[0].Name != "queens" || !list[0].Here {
		t.Errorf("after a restart there are %+v, %v", list, err)
	}
}

// What is wrong with a module fails its run with one line, and nothing else: the daemon goes on, and its next run.
func TestHostileModuleFailsItsRun(t *testing.T) {
	t.Parallel()
	hostile := readModule(t, "guest/conform/hostile.wasm")
	a := open(t, inProcesses(t))
	for what, why := range map[string]string{"traps": "out of bounds memory access", "forge": "that it has not offered",
		"leave": "of its children are at work", "terminal": "red  [31m and more lines"} {
		run := hostile.submit(t, a, what, "1")
		o, err := a.Wait(deadline(t), run, nil)
		if err != nil || o.State != control.RunFailed || !strings.Contains(o.Failure, why) ||
			strings.ContainsAny(o.Failure, "\n\r\033") {
			t.Errorf("%s: %s, %q, %v; want a failure with %q", what, o.State, o.Failure, err, why)
		}
	}
	queens := readModule(t, "examples/queens-c/queens.wasm")
	if got := queens.answer(t, a, queens.submit(t, a, "8"), "8"); !strings.Contains(got, "92 solutions") {
		t.Error(got)
	}
}
