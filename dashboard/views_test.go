package dashboard_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// submitted is when the run of newFake was.
var submitted = newFake().runs[0].Submitted

// parts is what two peers say of a run: the root, a job that was stolen from it and lost with its thief, the
// job's next run, a child of the lost one that ends as an orphan, and one that was aborted.
func parts() []report.Part {
	at := func(s float64) time.Time { return submitted.Add(time.Duration(s * float64(time.Second))) }
	return []report.Part{
		{Run: "0123", Peer: "12D3KooWA", Cluster: "here", Segments: []report.Segment{
			{ID: "a1", Job: "root", Start: at(0), Spawned: 10, Executed: 11},
			{ID: "a2", Job: "2", Start: at(5), Executed: 40, Again: true},
			{ID: "a3", Job: "2", Start: at(4), End: at(4), State: report.SegmentRestarted},
			{ID: "a4", Job: "3", Start: at(4), End: at(6), State: report.SegmentAborted},
		}, Activities: []report.Activity{{Start: at(0), For: time.Second, Work: 2},
			{Start: at(1), For: time.Second, Work: 1, Steal: 1}},
			Ways: []report.Way{{Cluster: hostile, RTT: 30 * time.Millisecond, Taken: 3}}},
		{Run: "0123", Peer: "12D3KooWB", Cluster: hostile, Segments: []report.Segment{
			{ID: "b1", Job: "2.7.1", Start: at(3), End: at(7), Executed: 20, State: report.SegmentDone},
		}, Forgotten: report.Forgotten{Segments: 5, Executed: 50},
			Activities: []report.Activity{{Start: at(1), For: time.Second, Comm: 1, Idle: 1}}},
		{Run: "0123", Peer: "12D3KooWC", Cluster: hostile,
			Segments: []report.Segment{{ID: "c1", Job: "2", Start: at(1), Executed: 7}}},
		// of a run that nobody knows
		{Run: "4567", Peer: "12D3KooWC", Segments: []report.Segment{{ID: "c2", Job: "root"}}},
	}
}

// members are the peers of report.
func members() []dashboard.Peer {
	list := newFake().peers
	for _, id := range []string{"12D3KooWC"} {
		list = append(list, dashboard.Peer{Peer: id, Alive: true, Connected: true, Cluster: hostile})
	}
	return list
}

// watched waits until the server has asked the source once more since it was called.
func watched(t *testing.T, s *site) {
	t.Helper()
	conn := s.dial(t)
	say(t, conn, subscription{Topics: []string{"trees", "flows", "notices"}})
	hear(t, conn)
}

// fetch reads a JSON value.
func fetch[V any](t *testing.T, s *site, path string) (v V) {
	t.Helper()
	client := s.enter(t, dashboard.View)
	code, text := s.do(t, client, request{path: "/api/v1" + path})
	if code != 200 || json.Unmarshal([]byte(text), &v) != nil {
		t.Fatalf("%s: %d %s", path, code, text)
	}
	return v
}

// What the peers report becomes a tree with the fates of its segments, a timeline, and ways between clusters.
func TestReportsAreShown(t *testing.T) {
	source := newFake()
	source.reports, source.peers = parts(), members()
	for i, j := 0, 2; i < j; i, j = i+1, j-1 { // c1 is heard of before it is lost
		source.reports[i], source.reports[j] = source.reports[j], source.reports[i]
	}
	source.reports = append(source.reports, report.Part{Run: "0123", Peer: "12D3KooWB",
		Segments: []report.Segment{
			{ID: "b2", Job: "2.9", Start: submitted.Add(2 * time.Second), End: submitted.Add(8 * time.Second),
				Executed: 1, State: report.SegmentDone},
		}})
	s := open(t, source)
	watched(t, s)
	g := fetch[dashboard.Growth](t, s, "/runs/0123/segments")
	byID := map[uint64]dashboard.Shoot{}
	got := map[string]string{}
	for _, l := range g.Set {
		byID[l.Number] = l
	}
	for _, l := range g.Set {
		name := l.Job + "@" + g.Peers[l.Peer].Peer[8:]
		got[name] = l.State
		if up := byID[l.Up]; up.Job != "" {
			got[name] += " under " + up.Job + "@" + g.Peers[up.Peer].Peer[8:]
		}
		if l.Restarted {
			got[name] += " again"
		}
	}
	want := map[string]string{
		"root@A": "running", "2@A": "running under root@A again", "3@A": "aborted under root@A",
		"2@C":     "restarted under root@A",
		"2.7.1@B": "done under 2@C", // it came before the news that its parent is lost
		"2.9@B":   "orphan under 2@C",
	}
	for name, w := range want {
		if got[name] != w || len(got) != len(want) {
			t.Errorf("%s is %q, want %q; all: %q", name, got[name], w, got)
		}
	}
	if again := fetch[dashboard.Growth](t, s, "/runs/0123/segments?epoch="+g.Epoch+"&from="+text(g.From)+"&to="+
		text(g.To)); again.All || len(again.Set) > 0 || again.More {
		t.Errorf("nothing is new, but there is %+v", again)
	}
	d := fetch[[]dashboard.TreeDigest](t, s, "/trees")
	if len(d) != 1 || d[0].Segments != 6 || d[0].Running != 2 || d[0].Executed != 11+40+20+7+1+50 ||
		d[0].Unknown != 5 || d[0].Orphans != 1 || d[0].Restarted != 1 ||
		d[0].Workers != (dashboard.Workers{For: 8, Work: 3, Steal: 1, Comm: 1, Idle: 1}) {
		t.Errorf("the tree at one glance is %+v", d)
	}
	p := fetch[dashboard.Panel](t, s, "/runs/0123/tree?most=2")
	if len(p.Boxes) != 2 || p.Boxes[0].Job != "root" || p.Boxes[0].To != 1 || p.Invisible != 4 {
		t.Errorf("the tree through a viewport is %+v", p)
	}
	line := fetch[dashboard.Timeline](t, s, "/runs/0123/timeline")
	if len(line.Rows) != 3 || line.Rows[2].Spans[1] != (dashboard.Span{Start: 1, End: 2, Work: 1, Steal: 1}) {
		t.Errorf("the timeline is %+v", line)
	}
	if more := fetch[dashboard.Timeline](t, s, "/runs/0123/timeline?epoch="+line.Epoch+"&to="+
		text(line.To)); len(more.Rows[2].Spans) > 0 {
		t.Errorf("nothing is new, but there is %+v", more)
	}
	if f := fetch[[]dashboard.Flow](t, s, "/flows"); len(f) != 1 ||
		f[0] != (dashboard.Flow{From: hostile, To: "here", Taken: 3, RTT: 0.03}) {
		t.Errorf("the flows are %+v", f)
	}
	if n := fetch[[]dashboard.Notice](t, s, "/notices"); len(n) != 1 ||
		!strings.Contains(n[0].Text, "1 segment is lost") {
		t.Errorf("the notices are %+v", n)
	}
}

// What ran on a peer that is not heard any more is lost, until it is heard again.
func TestLostPeersSegments(t *testing.T) {
	source := newFake()
	source.reports, source.peers = parts()[:2], members()
	late := parts()[2]
	late.Segments[0].Job, late.Segments[0].Executed = "9", 8
	source.reports = append(source.reports, late)
	s := open(t, source)
	conn := s.dial(t)
	say(t, conn, subscription{Topics: []string{"trees"}})
	until := func(restarted uint64) {
		t.Helper()
		for {
			for _, v := range hear(t, conn).Set["trees"] {
				var d dashboard.TreeDigest
				if err := json.Unmarshal(v, &d); err != nil {
					t.Fatal(err)
				}
				if d.Restarted == restarted {
					return
				}
			}
		}
	}
	until(0)
	source.change(func(f *fake) { f.peers = f.peers[:1] })
	until(1)
	late.Segments[0].Executed = 9
	source.change(func(f *fake) { f.peers, f.reports = members(), []report.Part{late} })
	until(0)
	if n := fetch[[]dashboard.Notice](t, s, "/notices"); len(n) != 3 ||
		!strings.HasPrefix(n[1].Text, "1 segment is lost with …2D3KooWC") {
		t.Errorf("the notices are %+v", n)
	}
}

func text(n uint64) string { b, _ := json.Marshal(n); return string(b) }

// A view that is asked for with bad words, or of a run or a segment that is not there, is refused as what it is.
func TestBadViews(t *testing.T) {
	source := newFake()
	source.reports, source.peers = parts(), members()
	s := open(t, source)
	watched(t, s)
	client := s.enter(t, dashboard.View)
	for path, want := range map[string]int{
		"/runs/0123/tree?from=x": 400, "/runs/0123/tree?from=NaN": 400, "/runs/0123/tree?depth=0": 400,
		"/runs/0123/tree?most=99999999999": 400, "/runs/0123/tree?root=nobody": 404,
		"/runs/0123/segments?from=-1": 400, "/runs/0123/timeline?to=1e9": 400, "/runs/4567/segments": 404,
		"/runs/4567/tree": 404, "/runs/4567/timeline": 404,
	} {
		if code, text := s.do(t, client, request{path: "/api/v1" + path}); code != want {
			t.Errorf("%s: %d %s, want %d", path, code, text, want)
		}
	}
}

// How the user likes the page is kept for the next start, for the user alone; whoever may only look cannot change it.
func TestPrefsAreKept(t *testing.T) {
	dir := t.TempDir()
	serve := func() *site {
		s, err := dashboard.Open(dashboard.Config{Source: newFake(), Dir: t.TempDir(), StateDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Serve() }()
		t.Cleanup(func() { _ = s.Close(t.Context()) })
		return &site{Server: s,
			base: strings.TrimSuffix(s.Link(dashboard.View)[:strings.Index(s.Link(dashboard.View), "/#login")], "/")}
	}
	s := serve()
	if p := fetch[dashboard.Prefs](t, s, "/prefs"); p != (dashboard.Prefs{Theme: "system", Units: "decimal"}) {
		t.Errorf("at first %+v", p)
	}
	for _, c := range []struct {
		level dashboard.Level
		body  string
		want  int
	}{
		{dashboard.View, `{"theme":"dark","units":"binary"}`, 403},
		{dashboard.Control, `{"theme":"pink","units":"binary"}`, 400},
		{dashboard.Control, `{"theme":"dark","units":""}`, 400},
		{dashboard.Control, `{"theme":"dark","units":"binary"}`, 200},
	} {
		if code, text := s.do(t, s.enter(t, c.level),
			request{method: "POST", path: "/api/v1/prefs", body: c.body}); code != c.want {
			t.Errorf("%s as %s: %d %s, want %d", c.body, c.level, code, text, c.want)
		}
	}
	path := filepath.Join(dir, dashboard.PrefsFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if p := fetch[dashboard.Prefs](t, serve(), "/prefs"); p != (dashboard.Prefs{Theme: "dark", Units: "binary"}) {
		t.Errorf("after a restart %+v", p)
	}
	if err := os.WriteFile(path, []byte(`{"theme":"<img>"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := fetch[dashboard.Prefs](t, serve(), "/prefs"); p.Theme != "system" {
		t.Errorf("from a spoilt file %+v", p)
	}
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if code, text := s.do(t, s.enter(t, dashboard.Control), request{method: "POST", path: "/api/v1/prefs",
		body: `{"theme":"light","units":"decimal"}`}); code == 200 {
		t.Errorf("what cannot be written is taken: %s", text)
	}
	if p := fetch[dashboard.Prefs](t, s, "/prefs"); p.Theme != "dark" {
		t.Errorf("what was refused is in force: %+v", p)
	}
}
