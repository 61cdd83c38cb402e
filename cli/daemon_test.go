package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

// TestAsked checks what the commands ask of the daemon.
func TestAsked(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args  []string
		asked []string
	}{
		{[]string{"pause"}, []string{"pause 0s"}},
		{[]string{"pause", "1h"}, []string{"pause 1h0m0s"}},
		{[]string{"resume"}, []string{"resume", "status"}},
		{[]string{"join", "/ip4/1.2.3.4"}, []string{"join /ip4/1.2.3.4"}},
		{[]string{"cancel", "cc"}, []string{"runs", "cancel " + runGoing}},
		{[]string{"cancel", "aabb"}, []string{"runs", "cancel aabb0000000000000000000000000002"}},
		{[]string{"suspend", "cc"}, []string{"runs", "suspend " + runGoing}},
		{[]string{"resume", "cc"}, []string{"runs", "resume run {Run:" + runGoing + " Directory:}"}},
		{[]string{"resume", dir}, []string{"resume run {Run: Directory:" + dir + "}"}},
		{[]string{"revoke", "12D3KooW"}, []string{"revoke 12D3KooW"}},
		{[]string{"refuse", "12D3KooW"}, []string{"refuse {Run: Owner:12D3KooW Lift:false}"}},
		{[]string{"refuse", "cc"}, []string{"runs", "refuse {Run:" + runGoing + " Owner: Lift:false}"}},
		{[]string{"refuse", "--lift", runGoing}, []string{"refuse {Run:" + runGoing + " Owner: Lift:true}"}},
		{[]string{"run", "count", "3", "--detach", "--recovery", "naive"},
			[]string{`submit count ["3"] as test.count naive`}},
		{[]string{"run", "count", "3", "--detach", "--recovery=salvage"}, []string{`submit count ["3"] as test.count`}},
		{[]string{"run", "count", "3", "--detach", "--max-cores=2"},
			[]string{`submit count ["3"] as test.count, 2 cores`}},
		{[]string{"invite"}, []string{"invite {Peer: Uses:1 MayInvite:false Valid:86400}"}},
		{[]string{"invite", "--uses", "3", "--valid", "2h", "--may-invite"},
			[]string{"invite {Peer: Uses:3 MayInvite:true Valid:7200}"}},
		{[]string{"invite", "12D3KooW"}, []string{"invite {Peer:12D3KooW Uses:0 MayInvite:false Valid:0}"}},
		{[]string{"run", "count", "3", "--add", "2"},
			[]string{`submit count ["--add=2" "3"] as test.count`, "status", "wait " + runGoing}},
		{[]string{"run", "count", "3", "--detach"}, []string{`submit count ["3"] as test.count`}},
		{[]string{"run", "count", "3", "--join", "a", "--join", "b"},
			[]string{"join a", "join b", `submit count ["3"] as test.count`, "status", "wait " + runGoing}},
		{[]string{"run", "count", "3", "--local"}, nil},
		{[]string{"run", "count", "3", "--workers", "1"}, nil},
		{[]string{"run", "count", "3", "--sequential"}, nil},
	} {
		m := newFakeMember()
		f := newFake().withDaemon(t, m)
		if code := f.run(c.args...); code != 0 || !slices.Equal(m.asked, c.asked) {
			t.Errorf("%q: exit code %d, asked %q\n%s", c.args, code, m.asked, &f.err)
		}
	}
}

// Guards that the daemon is asked to cancel whatever may go on, a run that is suspended too, and nothing that is over;
// and that the user hears what was cancelled.
func TestCancelWhatMayGoOn(t *testing.T) {
	for state, asked := range map[control.RunState]bool{control.RunStarting: true, control.RunRunning: true,
		control.RunSuspended: true, control.RunRefused: true,
		control.RunDone: false, control.RunFailed: false, control.RunCancelled: false} {
		m := newFakeMember()
		m.runs[0].State = state
		f := newFake().withDaemon(t, m)
		code := f.run("cancel", "cc")
		if got := slices.Contains(m.asked, "cancel "+runGoing); got != asked || (code == 0) != asked ||
			asked && f.err.String() != "cancelled: "+m.runs[0].Title+", run "+runGoing+"\n" ||
			!asked && !strings.Contains(f.err.String(), "has ended already: it is "+string(state)) {
			t.Errorf("%s: exit code %d, asked %q\n%s", state, code, m.asked, &f.err)
		}
	}
}

// Guards that a run says at once, before it waits, who cannot help and what to do about it.
func TestRunSaysWhoCannotHelp(t *testing.T) {
	m := newFakeMember()
	m.help = &control.Help{Can: 1, Cannot: []control.Lack{{Peers: 3,
		Why: "have version 1a2b3c4d of count and the run needs 5e6f7a8b: use the same satin-peer on all"}}}
	const says = "satin-peer: 3 of 4 other peers cannot help: they have version 1a2b3c4d of count and the run needs " +
		"5e6f7a8b: use the same satin-peer on all\n"
	for _, more := range [][]string{nil, {"--detach"}} {
		f := newFake().withDaemon(t, m)
		if code := f.run(append([]string{"run", "count", "3"}, more...)...); code != 0 ||
			!strings.HasPrefix(f.err.String(), says) {
			t.Errorf("%q: exit code %d, says %q", more, code, &f.err)
		}
	}
}

// Guards that whoever goes on with a checkpoint of others hears which file the arguments in it have wait write.
func TestResumeNamesFiles(t *testing.T) {
	f := newFake().withDaemon(t, newFakeMember())
	if code := f.run("resume", t.TempDir()); code != 0 || !strings.Contains(f.err.String(), "writes a file") ||
		!strings.Contains(f.err.String(), "--out=x 20\n") {
		t.Errorf("exit code %d, says %q", code, &f.err)
	}
}

// TestDaemonRefuses checks what becomes of the daemon's errors.
func TestDaemonRefuses(t *testing.T) {
	for _, c := range []struct {
		kind error
		code int
	}{{control.ErrBadInput, exitBadInput}, {control.ErrRefused, exitFailed}, {control.ErrNotFound, exitFailed},
		{control.ErrUnavailable, exitFailed}, {nil, exitFailed}} {
		for _, args := range [][]string{{"status"}, {"peers"}, {"runs", "--json"}, {"pause"}, {"resume"},
			{"resume", "cc"}, {"suspend", "cc"}, {"revoke", "x"}, {"join", "x"}, {"invite"}, {"cancel", "cc"},
			{"wait", "cc"}, {"run", "count", "3"}, {"run", "count", "3", "--join", "x"}} {
			m := newFakeMember()
			m.err = control.Errorf(c.kind, "not today")
			f := newFake().withDaemon(t, m)
			if code := f.run(args...); code != c.code || f.out.Len() > 0 ||
				f.err.String() != "satin-peer: not today\n" {
				t.Errorf("%q, %v: exit code %d, output %q, error %q", args, c.kind, code, &f.out, &f.err)
			}
		}
	}
}

// What a run needs to send from here is shown beside what the line carries, for those runs of which it is known,
// and not at all where it is known of none.
func TestRunsShowUplinks(t *testing.T) {
	m := newFakeMember()
	f := newFake().withDaemon(t, m)
	if code := f.run("runs"); code != 0 || strings.Contains(f.out.String(), "UPLINK") {
		t.Errorf("exit code %d, output %s", code, &f.out)
	}
	m.runs[0].Uplink = &report.Uplink{Needs: 40e3, Has: 30e3}
	f = newFake().withDaemon(t, m)
	code := f.run("runs")
	lines := strings.Split(f.out.String(), "\n")
	if code != 0 || !strings.Contains(lines[0], "UPLINK") ||
		!strings.Contains(lines[1], "40 KB/s needed, only 30 KB/s there") || strings.Contains(lines[2], "KB/s") {
		t.Errorf("exit code %d, output %s", code, &f.out)
	}
	f = newFake().withDaemon(t, m)
	code = f.run("runs", "--json")
	if code != 0 || !strings.Contains(f.out.String(), `"needs_bytes_per_second": 40000,`) {
		t.Errorf("exit code %d, output %s", code, &f.out)
	}
}

// What an argument names is given to the daemon once, also for several runs, before the run that names it.
func TestInputIsHandedInOnce(t *testing.T) {
	m := newFakeMember()
	arg := struct{ A, B satin.Constant[string] }{satin.NewConstant("a text"), satin.NewConstant("another text")}
	for range 2 {
		_, loans, err := submission(&task{app: "count", problem: &apps.Problem{Arg: arg}}, &options{})
		if err != nil {
			t.Fatal(err)
		}
		names, err := lend(t.Context(), m, loans)
		if err != nil || len(names) != 2 || m.constants[names[0]] == nil || m.constants[names[1]] == nil {
			t.Fatalf("names %v, %v; the daemon has %d", names, err, len(m.constants))
		}
	}
	const asks, more = "ask for constant string of 7 bytes", "ask for constant string of 13 bytes"
	if want := []string{asks, "take 7 bytes", more, "take 13 bytes", asks, more}; !slices.Equal(m.asked, want) {
		t.Errorf("it was asked %q, want %q", m.asked, want)
	}
	m.err = control.Errorf(control.ErrBadInput, "its input has 3 MiB, and one run may share 2 MiB here")
	_, loans, _ := submission(&task{app: "count", problem: &apps.Problem{Arg: arg}}, &options{})
	if _, err := lend(t.Context(), m, loans); err == nil || err.Error() != m.err.Error() {
		t.Errorf("got %v, want %v", err, m.err)
	}
}
