package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/control"
)

// lines makes the file of a batch.
func lines(t *testing.T, text string) (file, dir string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "inputs")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file, filepath.Join(t.TempDir(), "answers")
}

// answers are the results that are there, by the names of their files.
func answers(t *testing.T, dir string) map[string]document {
	t.Helper()
	found := map[string]document{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		var d document
		if err != nil || json.Unmarshal(text, &d) != nil {
			t.Errorf("%s: %q, %v", f.Name(), text, err)
		}
		found[f.Name()] = d
	}
	return found
}

// Guards that a batch is what its lines would be one by one, in this process and in a daemon, and that what is done is
// not run again.
func TestBatch(t *testing.T) {
	for _, where := range []string{"here", "daemon"} {
		m := newFakeMember()
		f := newFake()
		f.dirs = home(t)
		if where == "daemon" {
			f = f.withDaemon(t, m)
		}
		// the fake daemon has one answer for all
		file, dir := lines(t, "3\n\n# a remark\n--add 2 3\n")
		if code := f.run("run", "count", "--each", file, "--results", dir); code != 0 {
			t.Fatalf("%s: exit code %d, %s", where, code, &f.err)
		}
		found := answers(t, dir)
		first, second := found["0001.json"], found["0004.json"]
		if len(found) != 2 || first.App != "count" || len(second.Args) != 1 || second.Flags["add"] == nil {
			t.Errorf("%s: the answers are %+v", where, found)
		}
		if n := strings.Count(f.out.String(), "\n"); n != 2 || !strings.Contains(f.out.String(), "0004  --add 2 3: ") {
			t.Errorf("%s: the output is\n%s", where, &f.out)
		}
		// another one in the middle, and a changed one
		if err := os.WriteFile(file, []byte("3\n2\n\n--add 3 3\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		f.out.Reset()
		if where == "daemon" {
			m.outcome = control.Outcome{}
		}
		m.asked = nil
		code := f.run("run", "count", "--each", file, "--results", dir, "--at-once", "1")
		if code != 0 && where == "here" {
			t.Fatalf("%s again: exit code %d, %s", where, code, &f.err)
		}
		if strings.Contains(f.out.String(), "0001") || !strings.Contains(f.err.String(), "1 of 3 were done before") {
			t.Errorf("%s again: the output is\n%s%s", where, &f.out, &f.err)
		}
		if where == "daemon" && strings.Contains(strings.Join(m.asked, " "), `submit count ["3"]`) {
			t.Errorf("what was done is submitted again: %q", m.asked)
		}
	}
}

// Guards that an interrupted batch waits for the runs that it had begun, instead of beginning others.
func TestBatchGoesOn(t *testing.T) {
	m := newFakeMember()
	m.block = true
	f := newFake().withDaemon(t, m)
	file, dir := lines(t, "3\n")
	code := make(chan int)
	go func() { code <- f.run("run", "count", "--each", file, "--results", dir) }()
	<-m.waiting
	f.caught <- os.Interrupt
	if got := <-code; got != exitSignal+2 || !strings.Contains(f.err.String(), "the runs that have begun go on") {
		t.Fatalf("exit code %d, %s", got, &f.err)
	}
	begun, err := os.ReadFile(filepath.Join(dir, "0001.run"))
	if err != nil || strings.TrimSpace(string(begun)) != runGoing {
		t.Fatalf("begun is %q, %v", begun, err)
	}
	m.mu.Lock()
	m.block, m.asked = false, nil
	for i := range m.runs {
		if m.runs[i].Run == runGoing {
			m.runs[i].App, m.runs[i].Args, m.runs[i].Mine = "count", []string{"3"}, true
		}
	}
	m.mu.Unlock()
	if got := f.run("run", "count", "--each", file, "--results", dir); got != 0 {
		t.Fatalf("exit code %d, %s", got, &f.err)
	}
	if asked := strings.Join(m.asked, ", "); asked != "runs, wait "+runGoing {
		t.Errorf("asked %s", asked)
	}
	if found := answers(t, dir); len(found) != 1 {
		t.Errorf("the directory has %v", found)
	}
}

// Guards that a batch whose daemon is gone waits for the runs that had begun when it is there again, instead of
// beginning others beside them.
func TestBatchOutlivesItsDaemon(t *testing.T) {
	m := newFakeMember()
	m.block, m.left = true, make(chan struct{})
	f := newFake().withDaemon(t, m)
	file, dir := lines(t, "3\n")
	code := make(chan int)
	go func() { code <- f.run("run", "count", "--each", file, "--results", dir) }()
	<-m.waiting
	close(m.left)
	if got := <-code; got != exitFailed || !strings.Contains(f.err.String(), "the same command tries them again") {
		t.Fatalf("exit code %d, %s", got, &f.err)
	}
	begun, err := os.ReadFile(filepath.Join(dir, "0001.run"))
	if err != nil || strings.TrimSpace(string(begun)) != runGoing {
		t.Errorf("begun is %q, %v", begun, err)
	}
}

// Guards that an answer that cannot be written is fetched again, and not computed again, when there is room.
func TestBatchOutlivesAFullDisk(t *testing.T) {
	m := newFakeMember()
	f := newFake().withDaemon(t, m)
	file, dir := lines(t, "3\n")
	inTheWay := filepath.Join(dir, "0001.json")
	if err := os.MkdirAll(filepath.Join(inTheWay, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	try := func(code int) {
		t.Helper()
		if got := f.run("run", "count", "--each", file, "--results", dir); got != code {
			t.Fatalf("exit code %d, %s", got, &f.err)
		}
	}
	try(exitFailed)
	for i := range m.runs {
		if m.runs[i].Run == runGoing {
			m.runs[i].App, m.runs[i].Args, m.runs[i].Mine = "count", []string{"3"}, true
		}
	}
	m.asked = nil
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	try(0)
	if asked := strings.Join(m.asked, ", "); asked != "runs, wait "+runGoing {
		t.Errorf("asked %s", asked)
	}
}

// Guards that a batch waits again for a run that its user has suspended, or that his peer leaves alone at present, when
// that goes on, instead of beginning another one beside it.
func TestBatchWaitsForSuspended(t *testing.T) {
	for _, state := range []control.RunState{control.RunSuspended, control.RunRefused, control.RunCancelled} {
		m := newFakeMember()
		m.outcome = control.Outcome{State: state}
		f := newFake().withDaemon(t, m)
		file, dir := lines(t, "3\n")
		if got := f.run("run", "count", "--each", file, "--results", dir); got != exitFailed {
			t.Fatalf("exit code %d, %s", got, &f.err)
		}
		if _, err := os.Stat(filepath.Join(dir, "0001.run")); (err == nil) != (state != control.RunCancelled) {
			t.Errorf("of a run that is %s: %v", state, err)
		}
	}
}

// Guards that a mistake in any line is told before anything runs.
func TestBatchRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		args []string
		want string
	}{
		{"3\nmany\n", nil, "inputs:2: "},
		{"3\n--no-such 3\n", nil, "inputs:2: "},
		{"# nothing\n", nil, "want a line for each run"},
		{"3\n", []string{"4"}, "none beside --each"},
		{"3\n", []string{"--at-once", "0"}, "--at-once"},
		{"3\n", []string{"--detach"}, "--each cannot go with --detach"},
		{strings.Repeat("3 ", maxLine), nil, "inputs: got \"a longer line\""},
	} {
		m := newFakeMember()
		f := newFake().withDaemon(t, m)
		file, dir := lines(t, c.text)
		code := f.run(append([]string{"run", "count", "--each", file, "--results", dir}, c.args...)...)
		if code != exitBadInput || !strings.Contains(f.err.String(), c.want) || len(m.asked) > 0 {
			t.Errorf("%.20q %q: exit code %d, asked %q, %s", c.text, c.args, code, m.asked, &f.err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%.20q %q: a directory was made", c.text, c.args)
		}
	}
}

// Guards that flags of a batch are refused where there is none: nobody would find the answer in the directory.
func TestFlagsOfBatchesNeedOne(t *testing.T) {
	for _, flag := range []string{"--results=answers", "--at-once=2"} {
		f := newFake()
		code := f.run("run", "count", "3", flag)
		if code != exitBadInput || !strings.Contains(f.err.String(), "needs --each") {
			t.Errorf("%s: exit code %d, %s", flag, code, &f.err)
		}
	}
}

// Guards that a batch stays in this process where its flags say so, though there is a daemon, and that flags about a
// swarm are refused where there is none, in a batch as in a single run; a batch that was meant for a daemon says so.
func TestBatchStaysHere(t *testing.T) {
	file, dir := lines(t, "3\n")
	batch := []string{"--each", file, "--results", dir}
	for _, flag := range []string{"--local", "--workers=1", "--nice=1"} {
		m := newFakeMember()
		f := newFake().withDaemon(t, m)
		args := append([]string{"run", "count", flag, "--each", file, "--results"}, t.TempDir())
		if code := f.run(args...); code != 0 || len(m.asked) > 0 {
			t.Errorf("%s: exit code %d, the daemon was asked %q\n%s", flag, code, m.asked, &f.err)
		}
	}
	f := newFake()
	if code := f.run(append([]string{"run", "count", "--runtime-dir", t.TempDir()}, batch...)...); code != 0 ||
		!strings.Contains(f.err.String(), "satin-peer: no daemon is running (nobody listens on ") {
		t.Errorf("meant for a daemon that is not there: exit code %d, says %s", code, &f.err)
	}
	for _, flag := range []string{"--eager=1", "--max-cores=1", "--recovery=naive", "--verify=quorum=2", "--adapt=off",
		"--peers=1-2"} {
		for _, what := range [][]string{{"3"}, batch} {
			f := newFake()
			f.dirs = home(t)
			if code := f.run(append([]string{"run", "count", flag}, what...)...); code != exitFailed ||
				!strings.Contains(f.err.String(), "is about the peers of a swarm, and this run has none") {
				t.Errorf("%s %q: exit code %d, says %s", flag, what, code, &f.err)
			}
		}
	}
}
