package emulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// Tests that need another process start the test binary again, with a task in this variable.
const task = "SATIN_EMULATE_TEST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(task); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

const frames, frameBytes = 500, 1000

// child receives frames in cluster b, all of them at one moment of a clock that stands, and prints for how
// long each is held.
func child(dir string) {
	e, err := open(dir, "b", byName, func() time.Duration { return 1 << 61 })
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	holds := make([]time.Duration, frames)
	for i := range holds {
		holds[i] = e.Arrive("a/1", frameBytes)
	}
	_ = json.NewEncoder(os.Stdout).Encode(holds)
}

// Conditions of the directed link now, as this process sees them, and whether it exists.
func (e *Emulator) Conditions(from, to string) (wan.Conditions, bool) {
	i, j := slices.Index(e.names, from), slices.Index(e.names, to)
	if i < 0 || j < 0 {
		return wan.Conditions{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.links.generation() != e.generation {
		e.adopt()
	}
	e.model.Advance(e.clock() - e.links.origin())
	return e.model.Links().Conditions(i, j)
}

// byName takes the cluster from names like a/7.
func byName(id steal.PeerID) string {
	cluster, _, _ := strings.Cut(string(id), "/")
	return cluster
}

var triangle = fstest.MapFS{
	"pair":     {Data: []byte("clusters 3 3\nset_sym all 1000 0.1\n")},
	"triangle": {Data: []byte("read base\n")},
	"base":     {Data: []byte("clusters 2 2 2\nset_sym all 1000 0.1\nset_sym one 1 2 500 0.3\n")},
	"script":   {Data: []byte("clusters 1 1\nset_sym all 1000 0.1\nsleep 10000\nset_sym all 2000 0.1\n")},
}

func create(t *testing.T, scenario string) string {
	t.Helper()
	clusters := []string{"a", "b", "c"}
	if scenario == "pair" || scenario == "script" {
		clusters = clusters[:2]
	}
	dir := filepath.Join(t.TempDir(), "net")
	if err := Create(dir, triangle, scenario, clusters, 1); err != nil {
		t.Fatal(err)
	}
	return dir
}

// at opens an emulation whose clock says what now says, from the scenario's beginning.
func at(t *testing.T, dir, cluster string, now *atomic.Int64) *Emulator {
	t.Helper()
	var e *Emulator
	e, err := open(dir, cluster, byName, func() time.Duration {
		if e == nil {
			return monotonic()
		}
		return e.links.origin() + time.Duration(now.Load())
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Processes that receive over one link get its bandwidth together, and no two frames have the same turn. With
// a file for each process, the broken twin, each gets all of it.
func TestProcessesShareALink(t *testing.T) {
	const processes = 4
	run := func(t *testing.T, dirs []string) (holds []time.Duration) {
		var running []*exec.Cmd
		var outs []*strings.Builder
		for _, dir := range dirs {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), task+"="+dir)
			out := new(strings.Builder)
			cmd.Stdout = out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running, outs = append(running, cmd), append(outs, out)
		}
		for i, cmd := range running {
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, outs[i])
			}
			var some []time.Duration
			if err := json.Unmarshal([]byte(outs[i].String()), &some); err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(some) {
				t.Error("frames of one process overtake each other")
			}
			holds = append(holds, some...)
		}
		slices.Sort(holds)
		return holds
	}
	const each = frameBytes * time.Second / 1000 // a frame's time on the link
	shared := run(t, slices.Repeat([]string{create(t, "pair")}, processes))
	for i, hold := range shared {
		if want := time.Duration(i+1)*each + 100*time.Millisecond; hold != want {
			t.Fatalf("frame %d of all arrives after %v, want %v", i+1, hold, want)
		}
	}
	var own []string
	for range processes {
		own = append(own, create(t, "pair"))
	}
	alone := run(t, own)
	if got, want := alone[len(alone)-1], frames*each+100*time.Millisecond; got != want {
		t.Errorf("processes with a link each need %v, want %v", got, want)
	}
}

// What comes from another cluster is held for its way on their link, and behind what came by it before; what comes
// from this one, or from nobody knows where, is not held.
func TestWhatIsHeld(t *testing.T) {
	var now atomic.Int64
	b := at(t, create(t, "triangle"), "b", &now)
	for _, c := range []struct {
		from  steal.PeerID
		bytes int
		want  time.Duration
	}{
		{"b/1", 1000, 0},                       // its own cluster: the network is real
		{"?/1", 1000, 0},                       // nobody knows whose
		{"a/1", 500, 1300 * time.Millisecond},  // 500 bytes/s, 300 ms
		{"a/2", 250, 1800 * time.Millisecond},  // waits for the one before
		{"c/1", 1000, 1100 * time.Millisecond}, // another link
		{"b/2", 100000, 0},                     //
		{"a/1", 0, 1800 * time.Millisecond},    // no bytes wait their turn too
		{"c/1", 500, 1600 * time.Millisecond},  //
	} {
		if got := b.Arrive(c.from, c.bytes); got != c.want {
			t.Errorf("%d bytes from %s are held for %v, want %v", c.bytes, c.from, got, c.want)
		}
	}
	now.Store(int64(time.Minute))
	if got := b.Arrive("a/1", 500); got != 1300*time.Millisecond {
		t.Errorf("a link that has rested holds for %v", got)
	}
}

// A missing link is routed round over two others, each of which takes its time, and shares its turns with
// what else crosses it.
func TestMissingLinkIsRoutedRound(t *testing.T) {
	var now atomic.Int64
	dir := create(t, "triangle")
	b, c := at(t, dir, "b", &now), at(t, dir, "c", &now)
	if err := c.Remove("a", "b"); err != nil {
		t.Fatal(err)
	}
	// a to c, 1 s and 0.1 s; c to b the same.
	if got := b.Arrive("a/1", 1000); got != 2200*time.Millisecond {
		t.Errorf("held for %v", got)
	}
	if got := c.Arrive("a/1", 1000); got != 2100*time.Millisecond {
		t.Errorf("the link from a to c was free although a frame for b crosses it: held for %v", got)
	}
	if err := b.Remove("c", "b"); err != nil {
		t.Fatal(err)
	}
	if got := b.Arrive("a/1", 1000); got != Lost {
		t.Errorf("without a route a frame is held for %v", got)
	}
	if err := b.Restore("a", "b"); err != nil {
		t.Fatal(err)
	}
	if got := b.Arrive("a/1", 500); got != 1300*time.Millisecond {
		t.Errorf("over the restored link: held for %v", got)
	}
	// Whoever looks sees what all have received, link by link; what was lost has crossed none.
	for link, want := range map[[2]string]uint64{{"a", "b"}: 500, {"a", "c"}: 2000, {"c", "b"}: 1000, {"b", "a"}: 0} {
		if got, ok := c.Carried(link[0], link[1]); got != want || !ok {
			t.Errorf("%d bytes from %s to %s, want %d", got, link[0], link[1], want)
		}
	}
	if _, ok := c.Carried("a", "x"); ok {
		t.Error("a link to a cluster that is not there")
	}
}

// A change reaches whoever is there and whoever comes later, and what the script does afterwards replaces it for both.
func TestChangesReachEverybody(t *testing.T) {
	var now atomic.Int64
	dir := create(t, "script")
	early := at(t, dir, "a", &now)
	now.Store(int64(5 * time.Second))
	if err := early.Set("b", "a", wan.Conditions{Bandwidth: 7, Latency: time.Second}); err != nil {
		t.Fatal(err)
	}
	late := at(t, dir, "a", &now)
	for name, e := range map[string]*Emulator{"early": early, "late": late} {
		if c, ok := e.Conditions("b", "a"); !ok || c.Bandwidth != 7 || c.Latency != time.Second {
			t.Errorf("%s sees %+v", name, c)
		}
	}
	now.Store(int64(15 * time.Second))
	for name, e := range map[string]*Emulator{"early": early, "late": late, "latest": at(t, dir, "a", &now)} {
		if c, _ := e.Conditions("b", "a"); c.Bandwidth != 2000 {
			t.Errorf("after the script's change %s sees %+v", name, c)
		}
	}
	for _, err := range []error{
		early.Set("a", "a", wan.Conditions{Bandwidth: 7}), early.Set("a", "z", wan.Conditions{Bandwidth: 7}),
		early.Set("a", "b", wan.Conditions{}), early.Set("a", "b", wan.Conditions{Bandwidth: 1, Latency: -1}),
	} {
		if err == nil {
			t.Error("a change that makes no sense was made")
		}
	}
}

// Whoever sends at the same time, a link carries one frame after the other.
func TestOneFrameAtATime(t *testing.T) {
	var now atomic.Int64
	l := at(t, create(t, "pair"), "a", &now).links
	const senders, each = 4, 3_000_000 // for long enough that they run at the same time
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for range each {
				l.occupy(0, 1, 0, 1)
			}
		})
	}
	wg.Wait()
	if got := l.occupy(0, 1, 0, 0); got != senders*each {
		t.Errorf("%d frames of 1 ns took %v", senders*each, got)
	}
}

// A writer that died in the middle leaves a change that nobody takes over, and the next one is taken over.
func TestWriterThatDies(t *testing.T) {
	var now atomic.Int64
	dir := create(t, "pair")
	a, b := at(t, dir, "a", &now), at(t, dir, "b", &now)
	a.links.word(0, 1, linkVersion).Add(1)
	a.links.word(0, 1, linkState).Store(changeRemove)
	a.links.words[headGeneration].Add(1)
	if got := b.Arrive("a/1", 1000); got != 1100*time.Millisecond {
		t.Errorf("half a change was taken over: held for %v", got)
	}
	if err := a.Set("a", "b", wan.Conditions{Bandwidth: 500}); err != nil {
		t.Fatal(err)
	}
	now.Store(int64(time.Minute))
	if got := b.Arrive("a/1", 1000); got != 2*time.Second {
		t.Errorf("the next change was not: held for %v", got)
	}
}

// An emulation that is not there, is of another life of the machine, has no such cluster or whose file has another
// length is not opened; and none replaces another, or a part of it.
func TestBadEmulations(t *testing.T) {
	dir := create(t, "pair")
	other := fstest.MapFS{"pair": {Data: []byte("clusters 3 3\nset_sym all 7 0.1\n")}}
	if err := Create(dir, other, "pair", nil, 1); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second emulation was made in the same place: %v", err)
	}
	var now atomic.Int64
	if c, ok := at(t, dir, "a", &now).Conditions("a", "b"); !ok || c.Bandwidth != 1000 {
		t.Errorf("the first emulation has links like the second one's, with %v bytes/s", c.Bandwidth)
	}
	if err := Create(t.TempDir(), triangle, "pair", []string{"x"}, 1); err == nil {
		t.Error("one name for two clusters")
	}
	if err := Create(t.TempDir(), triangle, "pair", []string{"x", "x"}, 1); err == nil {
		t.Error("two clusters of one name")
	}
	if err := Create(t.TempDir(), triangle, "none", nil, 1); err == nil {
		t.Error("a scenario that does not exist")
	}
	if _, err := Open(dir, "z", byName); err == nil || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("a cluster that does not exist: %v", err)
	}
	if _, err := Open(t.TempDir(), "a", byName); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := open(dir, "a", byName, func() time.Duration { return 0 }); err == nil {
		t.Error("an emulation of the machine's last life was opened")
	}
	for _, size := range []int64{8*int64(fileWords(2)) - 8, 0, 8 * lineWords, 1 << 30} {
		if err := os.Truncate(filepath.Join(dir, linksFile), size); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, "a", byName); err == nil {
			t.Errorf("a file of %d bytes was mapped", size)
		}
	}
}

// Whatever the files hold, an emulation is opened or refused, and used without a panic.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"scenario":"pair","clusters":["a","b"],"seed":1}`), []byte{})
	f.Add([]byte(`{"scenario":"../pair","clusters":["a","b"]}`), []byte{1, 2, 3})
	f.Add([]byte(`{`), []byte{255})
	dir := f.TempDir()
	if err := Create(dir, triangle, "pair", nil, 1); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, linksFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, lines []byte) {
		words := slices.Clone(good)
		copy(words[8*lineWords:], lines) // past the head
		for name, b := range map[string][]byte{describes: text, linksFile: words} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		e, err := Open(dir, "a", byName)
		if err != nil {
			return
		}
		defer e.Close()
		e.Arrive("b/1", 1000)
		e.Arrive("b/1", 1000)
	})
}
