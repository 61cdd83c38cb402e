package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
)

// TestOutcomes checks what a run in the swarm may come to besides a right answer.
func TestOutcomes(t *testing.T) {
	encoded := func(v any) []byte {
		b, err := wire.Value().Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	stack := "goroutine 7\n"
	for _, c := range []struct {
		outcome control.Outcome
		code    int
		want    string
	}{
		{control.Outcome{State: control.RunFailed, Failure: "ab/1.2 on 12D3KooWFar panicked: no\nway",
			Stack: stack}, exitFailed, "satin-peer: ab/1.2 on 12D3KooWFar panicked: no\\nway\n" + stack},
		{control.Outcome{State: control.RunSuspended, Failure: "whatever"}, exitFailed,
			"satin-peer: the run is suspended: satin-peer resume " + runGoing + " goes on with it\n"},
		{control.Outcome{State: control.RunRefused, Failure: "in quarantine here"}, exitFailed,
			"satin-peer: the run is refused here: in quarantine here; others may answer it, and satin-peer cancel " +
				runGoing + " ends it\n"},
		{control.Outcome{State: control.RunCancelled}, exitFailed, "satin-peer: the run was cancelled\n"},
		{control.Outcome{State: control.RunCancelled, Failure: "cancelled by its owner"}, exitFailed,
			"satin-peer: the run was cancelled by its owner\n"},
		{control.Outcome{State: control.RunCancelled, Failure: "its manifest has expired"}, exitFailed,
			"satin-peer: the run was cancelled: its manifest has expired\n"},
		{control.Outcome{State: control.RunDone, Result: encoded(7)}, exitFailed,
			"satin-peer: WRONG ANSWER to a tree of depth 3: 7 leaves, want 8; the answer was: 7 leaves, 0 flags\n"},
		{control.Outcome{State: control.RunDone, Result: encoded("seven")}, exitFailed,
			"satin-peer: the answer cannot be read: encoding: "},
		{control.Outcome{State: control.RunDone, Result: []byte{0x9f}}, exitFailed,
			"satin-peer: the answer cannot be read: encoding: "},
		{control.Outcome{State: control.RunDone}, exitFailed, "satin-peer: the answer cannot be read: encoding: "},
	} {
		m := newFakeMember()
		m.outcome = c.outcome
		f := newFake().withDaemon(t, m)
		if code := f.run("run", "count", "3", "--verbose"); code != c.code || f.out.Len() > 0 ||
			!strings.HasPrefix(f.err.String(), c.want) {
			t.Errorf("%+v: exit code %d, output %q, error %q", c.outcome, code, &f.out, &f.err)
		}
		if c.outcome.Stack == "" {
			continue
		}
		m = newFakeMember()
		m.outcome = c.outcome
		f = newFake().withDaemon(t, m)
		if code := f.run("run", "count", "3"); code != c.code || strings.Contains(f.err.String(), stack) {
			t.Errorf("without --verbose: exit code %d, error %q", code, &f.err)
		}
	}
}

// TestBesidesTheAnswer checks what is said when the answer could not be kept, and when this peer is paused.
func TestBesidesTheAnswer(t *testing.T) {
	result, err := wire.Value().Encode(8)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "count", "3"}, {"wait", "cc"}, {"run", "count", "3", "--json"}} {
		m := newFakeMember()
		m.outcome = control.Outcome{State: control.RunDone, Result: result, Warning: "not kept:\ndisk full"}
		m.status.State = control.PeerPaused
		m.runs[0].Args = []string{"3"}
		f := newFake().withDaemon(t, m)
		code := f.run(args...)
		paused := strings.HasPrefix(f.err.String(), "satin-peer: this peer is paused until satin-peer resume")
		if code != 0 || !paused || !strings.HasSuffix(f.err.String(), "satin-peer: not kept:\\ndisk full\n") ||
			f.out.Len() == 0 {
			t.Errorf("%q: exit code %d, output %q, error %s", args, code, &f.out, &f.err)
		}
	}
}

// TestLimited checks that nobody is sent to resume for what that does not end but to --local, and that resume says what
// it does not.
func TestLimited(t *testing.T) {
	const why = "not computing: it is not the time: hours allows 22:00-06:00"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "count", "3"}, "this peer is " + why + ", and leaves a run to the others, if there are any; one " +
			"that is verified waits: " + insteadHere + "\n"},
		{[]string{"resume"}, "no pause any more, but still " + why + "\n"},
	} {
		m := newFakeMember()
		m.status.State, m.status.Limit = control.PeerPaused, "it is not the time: hours allows 22:00-06:00"
		f := newFake().withDaemon(t, m)
		if code := f.run(c.args...); code != 0 || !strings.Contains(f.err.String(), c.want) {
			t.Errorf("%q: exit code %d, error %s", c.args, code, &f.err)
		}
	}
}

// TestTrust checks that an answer says what it rests on, if that is more than everybody's word; in JSON always.
func TestTrust(t *testing.T) {
	result, err := wire.Value().Encode(8)
	if err != nil {
		t.Fatal(err)
	}
	for mode, said := range map[string]bool{"members": false, "quorum=2": true} {
		for _, args := range [][]string{{"wait", "cc"}, {"wait", "cc", "--json"}} {
			m := newFakeMember()
			m.outcome = control.Outcome{State: control.RunDone, Result: result, Trust: &report.Trust{Mode: mode,
				Proved: 3, Copies: 2, Here: 1, Bound: "only if two lie", Caught: []string{"12D3KooWLiar"},
				Nodes: 50, Reran: 4, RerunSeconds: 0.25}}
			m.runs[0].Args = []string{"3"}
			f := newFake().withDaemon(t, m)
			if code := f.run(args...); code != 0 {
				t.Fatalf("%q: exit code %d, error %s", args, code, &f.err)
			}
			text := "verified by quorum=2: 3 jobs of others compared, 2 of them computed again elsewhere and 1 here; " +
				"only if two lie; 50 nodes committed to, 4 run again here alone in 0.25 s; caught in a lie and put out: 12D3KooWLiar\n"
			inJSON := len(args) > 2
			if strings.Contains(f.err.String(), text) != (said && !inJSON) ||
				strings.Contains(f.out.String(), `"mode": "`+mode+`"`) != inJSON {
				t.Errorf("%s, %q: output %s, error %s", mode, args, &f.out, &f.err)
			}
		}
	}
}

// TestAnswerOfADeputy checks what is said of an answer that another peer came to, and of one that is disputed.
func TestAnswerOfADeputy(t *testing.T) {
	result, err := wire.Value().Encode(8)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"wait", "cc"}, {"wait", "cc", "--json"}} {
		m := newFakeMember()
		m.outcome = control.Outcome{State: control.RunDone, Result: result, AnsweredBy: "12D3KooWFar",
			Disputed: true, Warning: "the answer is disputed"}
		m.runs[0].Args = []string{"3"}
		f := newFake().withDaemon(t, m)
		code := f.run(args...)
		if code != 0 || !strings.Contains(f.err.String(), "satin-peer: the answer is disputed\n") {
			t.Errorf("%q: exit code %d, error %s", args, code, &f.err)
		}
		inJSON := len(args) > 2
		if inJSON != strings.Contains(f.out.String(), `"answered_by": "12D3KooWFar",`) ||
			inJSON != strings.Contains(f.out.String(), `"disputed": true`) {
			t.Errorf("%q: output %s", args, &f.out)
		}
		if !strings.Contains(f.err.String(), "This peer was away at the end or computed nothing (paused, or other programs "+
			"wanted its cores): the answer is that of 12D3KooWFar, and rests on its word.\n") {
			t.Errorf("%q: error %s", args, &f.err)
		}
	}
	m := newFakeMember()
	m.runs[0].Disputed, m.runs[0].Recovery, m.runs[1].NotStoring = true, "naive", "disk full"
	f := newFake().withDaemon(t, m)
	if code := f.run("runs"); code != 0 || !strings.Contains(f.out.String(), "running, disputed") ||
		!strings.Contains(f.out.String(), "RECOVERY") || !strings.Contains(f.out.String(), "disk full") {
		t.Errorf("exit code %d, output %s", code, &f.out)
	}
}

// TestWaitSaves checks that waiting reads the arguments as they were given, a negative number too, and saves
// what run would have.
func TestWaitSaves(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	m := newFakeMember()
	m.runs = []control.RunInfo{{Run: runDone, App: "count", Mine: true, State: control.RunDone,
		Args: commandLine(&task{args: []string{"3"},
			flags: map[string]any{"out": out, "add": int64(-2), "twice": true}})}}
	result, err := wire.Value().Encode(8)
	if err != nil {
		t.Fatal(err)
	}
	m.outcome = control.Outcome{State: control.RunDone, Result: result}
	f := newFake().withDaemon(t, m)
	if code := f.run("wait", "a"); code != 0 || f.out.String() != "12 leaves, 3 flags\n" {
		t.Errorf("exit code %d, output %q, error %s", code, &f.out, &f.err)
	}
	if saved, err := os.ReadFile(out); err != nil || string(saved) != "8\n" {
		t.Errorf("saved %q, %v", saved, err)
	}
	if got := commandLine(&task{args: []string{"-5", "x"},
		flags: map[string]any{"b": 1, "a": "y z"}}); !slices.Equal(got, []string{"--a=y z", "--b=1", "--", "-5", "x"}) {
		t.Errorf("got %q", got)
	}
}

// TestSwarmInterrupt interrupts a run in the swarm: it is cancelled there; and one that is only waited for,
// which is not.
func TestSwarmInterrupt(t *testing.T) {
	for _, c := range []struct {
		args      []string
		cancelled bool
		said      string
	}{{[]string{"run", "count", "20"}, true, "satin-peer: interrupted after "},
		{[]string{"wait", "cc"}, false, "satin-peer: interrupted: the run goes on, "}} {
		m := newFakeMember()
		m.block = true
		f := newFake().withDaemon(t, m)
		code := make(chan int)
		go func() { code <- f.run(c.args...) }()
		<-m.waiting
		f.caught <- os.Interrupt
		if got := <-code; got != 130 || f.out.Len() > 0 || !strings.Contains(f.err.String(), c.said) {
			t.Errorf("%q: exit code %d, output %q, error %q", c.args, got, &f.out, &f.err)
		}
		if cancelled := slices.Contains(m.asked, "cancel "+runGoing); cancelled != c.cancelled {
			t.Errorf("%q: the daemon was asked %q", c.args, m.asked)
		}
	}
}
