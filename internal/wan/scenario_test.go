package wan

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func parse(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse(fstest.MapFS{"x": {Data: []byte(text)}}, "x")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// conditionsAt is "bandwidth latency" of the link between two clusters (from 1) at a time.
func conditionsAt(m *Model, at time.Duration, from, to int) string {
	m.Advance(at)
	c, exists := m.Links().Conditions(from-1, to-1)
	if !exists {
		return "missing"
	}
	return fmt.Sprintf("%v %v", c.Bandwidth, c.Latency)
}

// TestFigure4 plays the script printed in the Albatross paper (figure 4) against its explanation: "the link between
// clusters 1 and 4 drops every third second".
func TestFigure4(t *testing.T) {
	s, err := Parse(Scenarios(), "figure4")
	if err != nil {
		t.Fatal(err)
	}
	m := s.NewModel(1)
	for second := range 30 {
		at := time.Duration(second)*time.Second + 500*ms
		want := "1e+06 1ms"
		switch {
		case second < 2:
			want = "100000 100ms"
		case second%3 == 2:
			want = "1000 300ms"
		}
		if got := conditionsAt(m, at, 4, 1); got != want {
			t.Errorf("at %v: %s, want %s", at, got, want)
		}
		if got := conditionsAt(m, at, 1, 2); got != "1e+06 10ms" {
			t.Errorf("another link at %v: %s", at, got)
		}
	}
}

// Each command of a script does what it says, to the links that it names and from its time on.
func TestScriptCommands(t *testing.T) {
	m := parse(t, `
clusters 2 3 4          # three of them
local 1000000 0.001
set all 100000 0.1
set one 1 2 50000 0.2   # one direction
sleep 1000
remove one 1 2
sleep 500.5
restore one 1 2
remove one 1 3
queue all 77
sleep 1000
vary one 2 1 0.5 0.5 3 3
`).NewModel(1)
	for _, c := range []struct {
		at       time.Duration
		from, to int
		want     string
	}{
		{0, 1, 1, "1e+06 1ms"},
		{0, 1, 2, "50000 200ms"},
		{0, 2, 1, "100000 100ms"},
		{1000 * ms, 1, 2, "missing"},
		{1000 * ms, 2, 1, "100000 100ms"},
		{1500 * ms, 1, 2, "missing"},
		{1501 * ms, 1, 2, "50000 200ms"},
		{1501 * ms, 1, 3, "missing"},
		{3000 * ms, 2, 1, "50000 300ms"},
		{time.Hour, 2, 1, "50000 300ms"},
	} {
		if got := conditionsAt(m, c.at, c.from, c.to); got != c.want {
			t.Errorf("link %d-%d at %v: %s, want %s", c.from, c.to, c.at, got, c.want)
		}
	}
	if got := fmt.Sprint(m.Sizes()); got != "[2 3 4]" {
		t.Errorf("sizes %s", got)
	}
	if m.Advance(2*time.Hour) != Never {
		t.Error("a script that has ended still announces changes")
	}
}

// TestVary checks the text of scenario 5: between 10 and 100 % of the nominal bandwidth, between 1 and 10
// times the nominal latency, anew every second, the same for equal seeds.
func TestVary(t *testing.T) {
	s, err := Parse(Scenarios(), "scenario5")
	if err != nil {
		t.Fatal(err)
	}
	a, b, other := s.NewModel(1), s.NewModel(1), s.NewModel(2)
	different, seen := 0, map[float64]bool{}
	for second := range 200 {
		at := time.Duration(second) * time.Second
		a.Advance(at)
		c, _ := a.Links().Conditions(0, 1)
		if c.Bandwidth < 100e3 || c.Bandwidth > 1e6 || c.Latency < 10*ms || c.Latency > 100*ms {
			t.Fatalf("at %v: %v", at, c)
		}
		seen[c.Bandwidth] = true
		if got, want := conditionsAt(b, at, 1, 2), conditionsAt(a, at, 1, 2); got != want {
			t.Fatalf("equal seeds differ at %v: %s and %s", at, got, want)
		}
		if conditionsAt(a, at, 1, 2) != conditionsAt(a, at, 2, 1) {
			t.Fatal("the directions of a link changed by vary_sym differ")
		}
		if conditionsAt(other, at, 1, 2) != conditionsAt(a, at, 1, 2) {
			different++
		}
	}
	if different < 190 || len(seen) < 190 {
		t.Errorf("%d of 200 seconds differ between seeds, %d values in 200 seconds", different, len(seen))
	}
}

// A trace's samples come at their times, again in each period, and do not bring back a link that a script has removed.
func TestMeasure(t *testing.T) {
	files := fstest.MapFS{
		"x":     {Data: []byte("clusters 1 1\nsleep 1000\nmeasure trace\nsleep 100000\nremove one 1 2")},
		"trace": {Data: []byte("period 4 # seconds\n0 1 2 1000 0.001\n1.5 1 2 2000 0.002\n1.5 2 1 3000 0.003")},
	}
	s, err := Parse(files, "x")
	if err != nil {
		t.Fatal(err)
	}
	m := s.NewModel(1)
	for _, c := range []struct {
		at       time.Duration
		from, to int
		want     string
	}{
		{0, 1, 2, "missing"},
		{1000 * ms, 1, 2, "1000 1ms"},
		{2499 * ms, 1, 2, "1000 1ms"},
		{2499 * ms, 2, 1, "missing"},
		{2500 * ms, 1, 2, "2000 2ms"},
		{2500 * ms, 2, 1, "3000 3ms"},
		{5000 * ms, 1, 2, "1000 1ms"},
		{5000 * ms, 2, 1, "3000 3ms"},
		{200 * time.Second, 1, 2, "missing"}, // a measurement does not bring a removed link back
	} {
		if got := conditionsAt(m, c.at, c.from, c.to); got != c.want {
			t.Errorf("link %d-%d at %v: %s, want %s", c.from, c.to, c.at, got, c.want)
		}
	}
}

// TestMeasureForEver: a script that measures in a loop restarts the trace and does not grow.
func TestMeasureForEver(t *testing.T) {
	files := fstest.MapFS{
		"x":     {Data: []byte("clusters 1 1\nforever\nmeasure trace\nsleep 10")},
		"trace": {Data: []byte("0 1 2 1000 0.001\n0.005 1 2 2000 0.002")},
	}
	s, err := Parse(files, "x")
	if err != nil {
		t.Fatal(err)
	}
	m := s.NewModel(1)
	if got := conditionsAt(m, 10_006*ms, 1, 2); got != "2000 2ms" {
		t.Errorf("after a thousand rounds: %s", got)
	}
	if got := conditionsAt(m, 10_010*ms, 1, 2); got != "1000 1ms" {
		t.Errorf("at the next round: %s", got)
	}
	if len(m.upcalls) != 2 {
		t.Errorf("%d upcalls, want the script and one trace", len(m.upcalls))
	}
}

// The scenarios that come with the program can be read, have four clusters of sixteen, and leave every message a way.
func TestBuiltinScenarios(t *testing.T) {
	for n := 1; n <= 11; n++ {
		name := fmt.Sprintf("scenario%d", n)
		s, err := Parse(Scenarios(), name)
		if err != nil {
			t.Error(err)
			continue
		}
		m := s.NewModel(1)
		if got := fmt.Sprint(m.Sizes()); got != "[16 16 16 16]" {
			t.Errorf("%s: clusters of %s", name, got)
		}
		for second := range 100 {
			for from := range 4 {
				for to := range 4 {
					if _, err := m.Deliver(time.Duration(second)*time.Second, from, to, 10); err != nil {
						t.Fatalf("%s: from %d to %d after %d s: %v", name, from+1, to+1, second, err)
					}
				}
			}
		}
	}
}

// The trace that is kept is the one that its command writes, and another seed writes another.
func TestSyntheticTraceIsTheCommittedOne(t *testing.T) {
	committed, err := fs.ReadFile(Scenarios(), "das.trace")
	if err != nil {
		t.Fatal(err)
	}
	if string(committed) != string(SyntheticDAS(1)) {
		t.Error("scenarios/das.trace is not what SyntheticDAS(1) writes: run satin-sim nws --seed 1 again")
	}
	if string(SyntheticDAS(1)) == string(SyntheticDAS(2)) {
		t.Error("the seed changes nothing")
	}
}

// Whatever is wrong in a script or in a file that it reads is told with the file, the line and what is possible.
func TestErrorsNameTheLine(t *testing.T) {
	const head = "clusters 1 1\n"
	for _, c := range []struct{ text, want string }{
		{"", `x: no "clusters" command: a scenario says how many peers each cluster has`},
		{"set all 1 1", `x:1: set: the first command must be "clusters" (or "read" of a file that has it)`},
		{"clusters", "x:1: cluster size is missing"},
		{"clusters 0", `x:1: cluster size "0" is not a whole number from 1 to 1048576`},
		{"clusters 1 two", `x:1: cluster size "two" is not a whole number from 1 to 1048576`},
		{head + head, "x:2: clusters: the clusters are described already"},
		{"clusters" + strings.Repeat(" 1", 257), "x:1: clusters: 257 of them; at most 256 are possible"},
		{head + "\n# c\nset one 1 3 100 1", `x:4: to-cluster "3" is not a whole number from 1 to 2`},
		{head + "set one 1 1 100 1", "x:2: cluster 1 has no link to itself"},
		{head + "set some 1 1", `x:2: "some" stands where "all" or "one" is expected`},
		{head + "set all fast 1", `x:2: bandwidth (bytes per second) "fast" is not a decimal number`},
		{head + "set all 0.5 1", "x:2: bandwidth (bytes per second) 0.5 is outside 1 to 1000000000000"},
		{head + "set all NaN 1", `x:2: bandwidth (bytes per second) "NaN" is not a decimal number`},
		{head + "set all 1 -1", "x:2: latency (seconds, one way) -1 is outside 0 to 3600"},
		{head + "set all 1", "x:2: latency (seconds, one way) is missing"},
		{head + "set all 1 1 1", `x:2: set: "1" is one word too many`},
		{head + "jump",
			`x:2: "jump" is not a command; the commands are read, clusters, local, set, vary, remove, restore, queue (each of the last five also with _sym), measure, sleep, forever`},
		{head + "vary all 1 0.5 1 2", "x:2: highest share of the bandwidth 0.5 is outside 1 to 10000"},
		{head + "sleep x", `x:2: milliseconds "x" is not a decimal number`},
		{head + "forever\nset all 1 1", "x:2: forever: nothing after it sleeps, so time would stand still"},
		{head + "forever\nsleep 0", "x:2: forever: nothing after it sleeps, so time would stand still"},
		{head + "forever\nsleep 0.0000001", "x:3: milliseconds: 1e-07 is less than the least sleep, 0.01"},
		{head + "forever\nsleep 1\nforever", "x:4: forever: there is one already, in line 2"},
		{head + "set all 1 1\nlocal 1 1", "x:3: local: it must come before the commands about links"},
		{"read x", "x:1: read: files are nested more than 8 deep (does one read itself?)"},
		{"read y", "x:1: read: open y: file does not exist"},
		{"read /etc/passwd", `x:1: read: "/etc/passwd" is not a file name relative to the scenario's folder`},
		{head + "read bad",
			`bad:2: "oops" is not a command; the commands are read, clusters, local, set, vary, remove, restore, queue (each of the last five also with _sym), measure, sleep, forever`},
		{head + "measure y", "x:2: measure: open y: file does not exist"},
		{head + "measure bad", `bad:1: time (seconds) "sleep" is not a decimal number`},
		{head + "measure empty", "empty: no samples: each is a line of seconds, from, to, bandwidth, latency"},
		{head + "measure back", "back:2: time 1s is before that of the sample above, 2s"},
		{head + "measure short", "short: period 1s is not longer than the last sample's time 2s"},
		{head + "measure self", "self:1: cluster 1 has no link to itself"},
		{"clusters 1\x00", "x:1: a zero byte: this is not a text file"},
		{strings.Repeat("#", MaxFileSize+1), "x: 4194305 bytes; at most 4194304 are read"},
	} {
		files := fstest.MapFS{
			"x":     {Data: []byte(c.text)},
			"bad":   {Data: []byte("sleep 1\noops")},
			"empty": {Data: []byte("# nothing")},
			"back":  {Data: []byte("2 1 2 100 0\n1 1 2 100 0")},
			"short": {Data: []byte("period 1\n2 1 2 100 0")},
			"self":  {Data: []byte("0 1 1 100 0")},
		}
		_, err := Parse(files, "x")
		if err == nil || err.Error() != c.want {
			t.Errorf("%.60q: error\n%v, want\n%s", c.text, err, c.want)
			continue
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.60q: the error is a %T", c.text, err)
		}
	}
}

// FuzzScenario: no text makes the parser or the interpreter fail otherwise than with an error that names the file.
func FuzzScenario(f *testing.F) {
	for n := 1; n <= 11; n++ {
		data, err := fs.ReadFile(Scenarios(), fmt.Sprintf("scenario%d", n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("clusters 1 1\nforever\nmeasure x\nsleep 0.001"))
	f.Add([]byte("period 1\n0 1 2 100 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files := fstest.MapFS{"x": {Data: data}}
		for n := 1; n <= 11; n++ {
			name := fmt.Sprintf("scenario%d", n)
			content, err := fs.ReadFile(Scenarios(), name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = &fstest.MapFile{Data: content}
		}
		if _, err := ParseTrace(files, "x", 2); err != nil && !strings.HasPrefix(err.Error(), "x:") {
			t.Fatalf("trace error %q", err)
		}
		s, err := Parse(files, "x")
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %T %q", err, err)
			}
			return
		}
		m := s.NewModel(1)
		for at := time.Duration(0); at < 50*ms; at += 10 * ms {
			m.Deliver(at, 0, len(s.Sizes)-1, 1000)
		}
	})
}
