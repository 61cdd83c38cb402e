package peer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

func init() {
	satin.Register("peertest.survey", survey)
	satin.Register("peertest.plot", plot)
}

// Land is a problem with an input that is too large for an argument.
type Land struct {
	Map satin.Constant[[]byte]
	Forest
}

// survey counts leaves, all of which have to see the whole map.
func survey(f *satin.Frame, x Land) int { return plot(f, x) * len(x.Map.Read(f)) }

func plot(f *satin.Frame, x Land) int {
	if x.Depth == 0 {
		if m := x.Map.Read(f); m[len(m)-1] != 7 {
			panic("the map is not that one")
		}
		return count(f, x.Forest)
	}
	x.Depth--
	one := satin.Spawn(f, plot, x)
	return plot(f, x) + one.Get()
}

// hugeLand is more than an argument may have, and landBytes is several pieces.
const (
	hugeLand  = 17 << 20
	landBytes = 3 << 20
)

// land makes such a problem, with what is handed in for it.
func land(t *testing.T, forest Forest, size int) (arg []byte, given control.Constant, data []byte) {
	t.Helper()
	b := make([]byte, size)
	b[size-1] = 7
	arg, loans, err := compute.HandOver(Land{satin.NewConstant(b), forest})
	if err != nil || len(loans) != 1 {
		t.Fatalf("%d values to hand in, %v", len(loans), err)
	}
	d := loans[0].Recipe.Digest()
	return arg, control.Constant{Digest: fmt.Sprintf("%x", d[:]), Name: loans[0].Recipe.Name,
		Size: int64(loans[0].State.Size)}, loans[0].State.Bytes()
}

// surveyed submits one.
func surveyed(t *testing.T, p *peer.Peer, forest Forest, size int) string {
	t.Helper()
	arg, given, data := land(t, forest, size)
	if _, err := p.AddConstant(t.Context(), given, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	r, err := p.Submit(t.Context(), control.Submission{App: "peertest", Function: "peertest.survey", Argument: arg,
		Title: "a survey", Constants: []string{given.Digest}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run
}

// A run whose input is too large for an argument: others get it when they steal, a deputy has it and begins the root
// again when the owner is lost, and a newcomer gets it of those that are left.
func TestInputOutlivesItsOwner(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	t.Parallel()
	list := swarm(t, 2, hasty)
	owner := open(t, hasty)
	if _, err := owner.Join(deadline(t), address(t, list[0])); err != nil {
		t.Fatal(err)
	}
	until(t, "all know each other", func() bool {
		for _, p := range append(list, owner) {
			if known, _ := p.Peers(context.Background()); len(known) < 2 {
				return false
			}
		}
		return true
	})
	work := last(t)
	run := surveyed(t, owner, work.arg, hugeLand)
	until(t, "the others have stolen", func() bool { return works(t, list[0], run) && works(t, list[1], run) })
	owner.Close()
	newcomer := open(t, hasty)
	if _, err := newcomer.Join(deadline(t), address(t, list[0])); err != nil {
		t.Fatal(err)
	}
	until(t, "the newcomer works", func() bool { return works(t, newcomer, run) })
	work.end(t)
	for _, p := range list {
		until(t, "the run has been answered", func() bool { return stateOf(t, p, run) == control.RunDone })
	}
}

// An owner that is alone has its run's input again after a restart, and not any more some time after the run.
func TestOwnerHasInputAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	t.Parallel()
	dir := t.TempDir()
	owner := open(t, hasty, in(dir))
	work := last(t)
	run := surveyed(t, owner, work.arg, landBytes)
	until(t, "the run has begun", func() bool { return works(t, owner, run) })
	owner.Close()
	owner = open(t, hasty, in(dir))
	work.end(t)
	const whole = landBytes + 5 // its encoding has a head
	if got, want := await[int](t, owner, run), work.want*landBytes; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	files := func() []string {
		list, err := filepath.Glob(filepath.Join(dir, "constants", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := files(); len(list) != 1 {
		t.Fatalf("files %v", list)
	} else if info, err := os.Stat(list[0]); err != nil || info.Size() < whole {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	owner.PruneInputs(time.Now().Add(9 * time.Minute))
	if list := files(); len(list) != 1 {
		t.Errorf("nine minutes later there are %v", list)
	}
	until(t, "it is gone eleven minutes after the run was let go of, which it is soon after its answer", func() bool {
		owner.PruneInputs(time.Now().Add(11 * time.Minute))
		return len(files()) == 0
	})
}

// What is handed in is as large as it says, and what its name says; and it is less than one run may share.
func TestInputsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := open(t, func(c *peer.Config) { c.ObjectsMemory = 4 << 20 })
	arg, given, data := land(t, Forest{}, 1000)
	large := given
	large.Size = 2<<20 + 1
	more, less, other, unnamed, negative := given, given, given, given, given
	more.Size, less.Size, other.Digest, unnamed.Name, negative.Size = given.Size+1, given.Size-1,
		strings.Repeat("ab", 32), "", -1
	other.Name = "constant []uint8"
	for _, r := range []struct {
		name  string
		given control.Constant
		from  io.Reader
		want  string
	}{
		{"too large", large, bytes.NewReader(data), "its input has 3 MiB, and one run may share 2 MiB here: allow more by " +
			"the setting objects_memory"},
		{"too large to be asked for", large, nil, "its input has 3 MiB, and one run may share 2 MiB here: allow more by " +
			"the setting objects_memory"},
		{"less than it says", more, bytes.NewReader(data), "a constant of 1004 bytes: fewer have come: unexpected EOF"},
		{"more than it says", less, bytes.NewReader(data), "a constant of 1002 bytes: more have come"},
		{"another one", other, bytes.NewReader(data),
			"a constant of 1003 bytes: they are not those that its name is a hash of"},
		{"no name", unnamed, bytes.NewReader(data), `"" of 1003 bytes is no constant`},
		{"no size", negative, bytes.NewReader(data), `"constant []uint8" of -1 bytes is no constant`},
		{"a path", control.Constant{Digest: "../../x", Name: "x", Size: 1}, bytes.NewReader(data),
			`"x" of 1 bytes is no constant`},
	} {
		if _, err := p.AddConstant(t.Context(), r.given, r.from); err == nil || err.Error() != r.want {
			t.Errorf("%s: got %v, want %s", r.name, err, r.want)
		}
	}
	sub := control.Submission{App: "peertest", Function: "peertest.survey", Argument: arg,
		Constants: []string{given.Digest}}
	if _, err := p.Submit(t.Context(), sub); err == nil || !strings.Contains(err.Error(), "is not here") {
		t.Errorf("a run without its input: %v", err)
	}
	for range 2 {
		if got, err := p.AddConstant(t.Context(), given, bytes.NewReader(data)); err != nil || !got.Here {
			t.Errorf("got %v, %v", got, err)
		}
		data = nil // which is not read again
	}
}

// A peer whose owner gives less to what jobs share than a run's input has takes no part in it, and says why.
func TestInputIsTooLargeForSome(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	t.Parallel()
	owner := open(t, hasty)
	small := open(t, hasty, func(c *peer.Config) { c.ObjectsMemory = 4 << 20 })
	if _, err := small.Join(deadline(t), address(t, owner)); err != nil {
		t.Fatal(err)
	}
	work := last(t)
	run := surveyed(t, owner, work.arg, landBytes)
	until(t, "it refuses", func() bool { return stateOf(t, small, run) == control.RunRefused })
	const want = "its input has 4 MiB, and one run may share 2 MiB here: allow more by the setting objects_memory"
	if why := runs(t, small)[run].Why; why != want {
		t.Errorf("got %q, want %q", why, want)
	}
	work.end(t)
	if got := await[int](t, owner, run); got != work.want*landBytes {
		t.Errorf("got %d", got)
	}
}

// That the first job waits for its input is said of its run by the peer that has it, and by others.
func TestInputIsAwaited(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	t.Parallel()
	dir := t.TempDir()
	owner := open(t, hasty, in(dir))
	run := surveyed(t, owner, last(t).arg, landBytes)
	until(t, "the run has begun", func() bool { return works(t, owner, run) })
	if r := runs(t, owner)[run]; r.Waits != "" {
		t.Errorf("it has its input, and says %q", r.Waits)
	}
	owner.Close()
	if err := os.RemoveAll(filepath.Join(dir, "constants")); err != nil {
		t.Fatal(err)
	}
	owner = open(t, hasty, in(dir), func(c *peer.Config) { c.Name = "attic" })
	const want = "its first job waits for its input: 0 of 4 MiB are "
	until(t, "the owner says so", func() bool {
		return runs(t, owner)[run].Waits == want+"here, and nobody who is connected has the rest"
	})
	other := open(t, hasty)
	if _, err := other.Join(deadline(t), address(t, owner)); err != nil {
		t.Fatal(err)
	}
	until(t, "another one says so", func() bool { return runs(t, other)[run].Waits == want+"on attic" })
}

// Whoever resumes another peer's checkpoint needs its run's input: it says so before anything begins, and takes it from
// where it can be.
func TestResumeBringsInput(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	t.Parallel()
	dir := t.TempDir()
	a := open(t, checkpointing, in(dir))
	work := last(t)
	run := surveyed(t, a, work.arg, landBytes)
	until(t, "it has a checkpoint", func() bool {
		r := runs(t, a)[run]
		return r.Checkpoint != "" && r.NotStoring == ""
	})
	if err := a.Suspend(deadline(t), run); err != nil {
		t.Fatal(err)
	}
	original := runs(t, a)[run].Checkpoint
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(dir, "constants", "*"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	whole, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, checkpointing)
	name := filepath.Base(list[0])
	missing := "4 MiB of the run's input are missing: copy " + name +
		", from the folder constants of the owner's state directory, into " + copied
	broken := bytes.Clone(whole)
	broken[len(broken)-1]++
	damaged := "the run's input cannot be used: " + filepath.Join(copied, name) + ": it has been changed"
	for _, x := range []struct {
		file []byte
		want string
	}{{nil, missing}, {broken, damaged}} {
		if x.file != nil {
			if err := os.WriteFile(filepath.Join(copied, name), x.file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.ResumeRun(deadline(t), control.Resumption{Directory: copied})
		if err == nil || err.Error() != x.want || len(runs(t, b)) > 0 {
			t.Errorf("got %v, want %s, and the runs are %v", err, x.want, runs(t, b))
		}
	}
	if err := os.WriteFile(filepath.Join(copied, name), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := b.ResumeRun(deadline(t), control.Resumption{Directory: copied})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, checkpointing) // another one is given the disk itself
	on, err := c.ResumeRun(deadline(t), control.Resumption{Directory: original})
	if err != nil {
		t.Fatal(err)
	}
	work.end(t)
	for id, p := range map[string]*peer.Peer{r.Run: b, on.Run: c} {
		if got, want := await[int](t, p, id), work.want*landBytes; got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}
