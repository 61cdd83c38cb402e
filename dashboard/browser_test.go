//go:build browser

package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// A wish is what the scripts in web/test ask for.
type wish struct {
	Do    string
	Level dashboard.Level
	State string
	Run   string
	For   int // seconds
}

// The page in Chromium: go test -tags browser ./dashboard, after npm ci in dashboard/web. CHROMIUM is the
// program if it is not /usr/bin/chromium; pictures of the views go into the folder SHOTS, if given.
func TestPageInBrowser(t *testing.T) {
	source := newFake()
	source.computes = true
	source.peers = append(source.peers, dashboard.Peer{Peer: "12D3KooWC", Name: strings.Repeat("Wölf", 15),
		Version: "v0", Connected: true, Alive: true, Cluster: "there", State: "working", Workers: 8, RTT: 0.09})
	source.status.Work.Verified = report.Verified{All: report.Thanks{Seconds: 5400, Results: 340, Runs: 12}, Owners: 2,
		By: []report.Thanks{{Owner: "12D3KooWthanks", OwnerName: "<b>desk", Seconds: 5000, Results: 300, Runs: 11},
			{Owner: "12D3KooWmore", Seconds: 400, Results: 40, Runs: 1}}}
	dir := t.TempDir()
	serve := func(listen string) *dashboard.Server {
		s, err := dashboard.Open(dashboard.Config{Source: source, Preferences: source, Desk: source, Dir: dir,
			Listen: listen,
			Every:  20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Serve() }()
		return s
	}
	s := serve("")
	defer func() { _ = s.Close(context.Background()) }()
	listen := strings.TrimPrefix(line(t, dir, dashboard.AddressFile), "http://")

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	converse(t, ctx, "web/test/page.mjs", func(w wish) map[string]any {
		answer := map[string]any{}
		switch w.Do {
		case "link":
			answer["link"] = s.Link(w.Level)
		case "many":
			source.change(func(f *fake) { f.reports = many(submitted, 50_000) })
		case "grow":
			source.change(func(f *fake) { f.reports = grown(submitted) })
		case "actions":
			source.change(func(f *fake) { answer["actions"] = f.actions })
		case "begin": // after those that there are
			source.change(func(f *fake) {
				at := submitted.Add(time.Duration(len(f.runs)) * time.Hour)
				f.runs = append(slices.Clone(f.runs), dashboard.Run{Run: w.Run, App: "tsp", Args: []string{w.Run},
					Owner: "12D3KooWA", Mine: true, State: "running", Submitted: at, Elapsed: float64(w.For),
					Share: 0.5, Peers: 2, Left: &report.Left{Least: 30, Most: 300}})
				f.reports = grown(at)
				for i := range f.reports {
					f.reports[i].Run, f.reports[i].Activities = w.Run, steady(at, w.For)
				}
			})
		case "further": // the newest one's root has done more, and nothing was stolen
			source.change(func(f *fake) {
				f.reports = grown(f.runs[len(f.runs)-1].Submitted)
				for i := range f.reports {
					f.reports[i].Run = f.runs[len(f.runs)-1].Run
				}
				f.reports[0].Segments[0].Executed = 60_000
			})
		case "nat":
			source.change(func(f *fake) {
				f.status.Reach, f.status.WhyReach = "private", "the router has no port for it"
			})
		case "lose":
			source.change(func(f *fake) {
				f.peers = append([]dashboard.Peer{}, f.peers...)
				f.peers[0].Alive = false
			})
		case "decide":
			source.change(func(f *fake) {
				f.runs = slices.Clone(f.runs)
				f.runs[0].Decided = []report.RosterEntry{{At: time.Now().Add(-time.Second), Kind: "excluded",
					Text: "cluster <b>far excluded: it is slow"}}
			})
		case "run":
			source.change(func(f *fake) {
				f.runs = append([]dashboard.Run{}, f.runs...)
				r := &f.runs[0]
				r.State, r.Ended, r.Why, r.Quarantined = w.State, w.State == "done", "", w.State == "quarantined"
				if r.Quarantined {
					r.State, r.Ended, r.Mine = "refused", true, false
					r.Why = "in quarantine here: the process that computes for it ended twice (stack overflow)"
				} else {
					r.Mine = true
				}
			})
		case "work":
			source.change(func(f *fake) { f.status.State = w.State })
		case "restart":
			if err := s.Close(ctx); err != nil {
				t.Fatal(err)
			}
			s = serve(listen)
		}
		return answer
	})
}

// converse runs a script of node that opens the page, and answers what it asks for. A script that fails fails
// the test.
func converse(t *testing.T, ctx context.Context, script string, answer func(wish) map[string]any) {
	t.Helper()
	node := exec.CommandContext(ctx, "node", script)
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended { // an answer has failed the test
			_ = node.Process.Kill()
			_ = node.Wait()
		}
	}()
	for asked := bufio.NewScanner(out); asked.Scan(); {
		var w wish
		if err := json.Unmarshal(asked.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(answer(w))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, string(text)+"\n"); err != nil {
			t.Fatal(err)
		}
		if w.Do == "end" {
			in.Close()
		}
	}
	ended = true
	if err := node.Wait(); err != nil {
		t.Error("the page:", err)
	}
}

// grown is what three peers of two clusters report of a run after ten seconds: a root, with twelve segments
// under it, each with four of its own; one in its time was lost and ran again, one was aborted, one is an
// orphan.
func grown(submitted time.Time) []report.Part {
	at := func(s float64) time.Time { return submitted.Add(time.Duration(s * float64(time.Second))) }
	list := []report.Part{
		{Peer: "12D3KooWA", Cluster: "here", Ways: []report.Way{{Cluster: "there " + hostile,
			RTT: 30 * time.Millisecond, Taken: 3}}},
		{Peer: "12D3KooWB", Cluster: "here", Forgotten: report.Forgotten{Segments: 3, Executed: 9}},
		{Peer: "12D3KooWC", Cluster: "there " + hostile},
	}
	put := func(peer int, s report.Segment) {
		s.ID = fmt.Sprint(peer, "/", len(list[peer].Segments))
		list[peer].Segments = append(list[peer].Segments, s)
	}
	put(0, report.Segment{Job: "root", Start: at(0), Spawned: 12, Executed: 900})
	for i := 1; i <= 12; i++ {
		s := report.Segment{Job: fmt.Sprint(i), Start: at(0.2 + float64(i)/10), End: at(9),
			Executed: 2000 - 100*uint64(i), State: report.SegmentDone}
		switch i {
		case 5:
			s.State, s.End = report.SegmentAborted, at(4)
		case 7:
			s.State, s.End, s.Executed = report.SegmentRunning, time.Time{}, 8000
			put(2, report.Segment{Job: "7", Start: at(3), End: at(9), Executed: 7000, State: report.SegmentDone,
				Again: true})
		}
		put(1, s)
		for k := 1; k < 5; k++ {
			if i == 12 && k == 4 {
				break
			}
			child := report.Segment{Job: fmt.Sprint(i, ".", k), Start: at(1.5 + float64(k)/5),
				End: at(2 + float64(i*k)/10), Executed: 100 * uint64(k), State: report.SegmentDone}
			if i == 7 && k == 4 { // an orphan: it ended after the loss
				child.Executed, child.End = 6000, at(6)
				continue
			}
			put((i+k)%3, child)
		}
	}
	list[0].Segments = append(list[0].Segments, report.Segment{Job: "7", End: at(2.9), State: report.SegmentRestarted})
	orphan := report.Part{Peer: "12D3KooWB", Cluster: "here",
		Segments: []report.Segment{{ID: "orphan", Job: "7.4", Start: at(2.3), End: at(10), Executed: 6000,
			State: report.SegmentDone}}}
	for i := range list {
		for s := range 100 {
			list[i].Activities = append(list[i].Activities, report.Activity{Start: at(float64(s) / 10),
				For: 100 * time.Millisecond, Work: 1 + s%2, Steal: (s / 3) % 2, Comm: (s / 7) % 2, Idle: i})
		}
	}
	list = []report.Part{list[1], list[2], list[0], orphan} // the word of the loss comes after what was lost
	list[0], list[2] = list[2], list[0]
	list[0].Segments, list[3].Segments = list[0].Segments[:len(list[0].Segments)-1],
		append(list[0].Segments[len(list[0].Segments)-1:], list[3].Segments...)
	for i := range list {
		list[i].Run = "0123"
	}
	return list
}

// steady is what workers do that always have work, for so many seconds.
func steady(from time.Time, seconds int) (list []report.Activity) {
	for s := range seconds {
		list = append(list, report.Activity{Start: from.Add(time.Duration(s) * time.Second), For: time.Second, Work: 1})
	}
	return list
}

// many is a run of so many segments on 16 peers of 4 clusters.
func many(submitted time.Time, n int) []report.Part {
	list := make([]report.Part, 16)
	for i := range list {
		list[i] = report.Part{Run: "0123", Peer: fmt.Sprint("12D3KooWM", i), Cluster: fmt.Sprint("cluster ", i%4)}
	}
	paths := []string{"root"}
	for i := range n {
		if i > 0 { // seven children each
			paths = append(paths, strings.TrimPrefix(fmt.Sprint(paths[(i-1)/7], ".", i), "root."))
		}
		start := submitted.Add(time.Duration(i) * 200 * time.Microsecond)
		s := report.Segment{ID: fmt.Sprint("m", i), Job: paths[i], Start: start, Executed: 1000, Spawned: 999}
		if i > n/50 {
			s.End, s.State = start.Add(time.Duration(1+i%13)*100*time.Millisecond), report.SegmentDone
		}
		list[i%16].Segments = append(list[i%16].Segments, s)
	}
	return list
}
