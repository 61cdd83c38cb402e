package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/swarm"
)

// watched are the runs that are timed with the page open and closed: stealing of all sorts, and as many jobs
// a second as there can be.
var watched = []string{"nqueens 17", "raytracer balls --samples 2", "fib 44"}

const (
	mostSegments = 1_000_000 // of history
	pagePatience = 3 * time.Minute
)

// watching measures what it costs to be watched.
func watching(w *workshop, rounds int) ([]table, error) {
	binary, err := swarm.Build(context.Background(), w.dir)
	if err != nil {
		return nil, err
	}
	t, err := openAndClosed(binary, w, rounds)
	return []table{t}, err
}

// showing measures the server and the page with very many segments.
func showing(w *workshop, _ int) ([]table, error) {
	past, err := history(w)
	if err != nil {
		return nil, err
	}
	drawn, err := frames(w)
	return []table{past, drawn}, err
}

// openAndClosed times runs of two processes with a page open, with none open, and without a dashboard.
func openAndClosed(binary string, w *workshop, rounds int) (_ table, err error) {
	ctx, cancel := context.WithTimeout(context.Background(),
		time.Duration(rounds+1)*pagePatience*time.Duration(len(watched)))
	defer cancel()
	s, err := newSwarm(ctx, binary, w, []int{1, 1})
	if err != nil {
		return table{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	off, err := newSwarm(ctx, binary, w, []int{1, 1}, "SATIN_DASHBOARD=off")
	if err != nil {
		return table{}, err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	t := table{title: "Watched beside unwatched", notes: []string{
		fmt.Sprintf("%d rounds. Two processes of one worker each. Open: a client asks all that the page asks when it shows the steal tree and the "+
			"timeline; a browser's own work is not counted. Closed: the same processes, and nobody looks. Off: two processes without a dashboard.", rounds),
	}}
	for _, line := range watched {
		var open, closed, rate, perJob []float64
		for round := range rounds + 1 {
			progress("dashboard: %s, round %d of %d", line, round, rounds)
			without, err := elapsed(ctx, off, line)
			if err != nil {
				return t, err
			}
			quiet, err := elapsed(ctx, s, line)
			if err != nil {
				return t, err
			}
			page, err := watch(ctx, s.Peers[0])
			if err != nil {
				return t, err
			}
			seen, jobs, err := counted(ctx, s, line)
			if err = errors.Join(err, page.close()); err != nil {
				return t, err
			}
			if round > 0 {
				open = append(open, 100*(seen/quiet-1))
				closed = append(closed, 100*(quiet/without-1))
				rate = append(rate, float64(page.bytes.Load())/seen/1e3)
				perJob = append(perJob, 2e9*(seen-quiet)/jobs) // two workers
			}
		}
		t.figures = append(t.figures,
			figure{name: line + ": open, longer than closed", form: "%.2f %%", values: open, atMost: 1},
			figure{name: "  closed, longer than off", form: "%.2f %%", values: closed},
			figure{name: "  to the browser", form: "%.1f kB/s", values: rate, atMost: 50})
		if strings.HasPrefix(line, "fib") {
			t.figures = append(t.figures, figure{name: "  open, added to each job", form: "%.3f ns", values: perJob,
				atMost: 1})
		}
	}
	progress("")
	return t, nil
}

// counted runs an application and gives its time in seconds and the jobs that were executed.
func counted(ctx context.Context, s *swarm.Swarm, line string) (seconds, jobs float64, err error) {
	if seconds, err = elapsed(ctx, s, line); err != nil {
		return 0, 0, err
	}
	for _, p := range s.Peers {
		list, err := p.Client().Runs(ctx)
		if err != nil {
			return 0, 0, err
		}
		if len(list) > 0 && list[0].Stats != nil {
			jobs += float64(list[0].Stats.Executed)
		}
	}
	return seconds, max(jobs, 1), nil
}

// A flood is a source that reports very many segments.
type flood struct {
	dashboard.Source
	began time.Time
	most  int
	sent  int
	ended chan struct{}
}

func (f *flood) Status(context.Context) (dashboard.Status, error) {
	return dashboard.Status{Peer: "A", Started: f.began, State: "working", Address: []string{},
		Clusters: []report.Cluster{}}, nil
}
func (f *flood) Peers(context.Context) ([]dashboard.Peer, error) { return []dashboard.Peer{}, nil }
func (f *flood) Runs(context.Context) ([]dashboard.Run, error) {
	return []dashboard.Run{{Run: strings.Repeat("ab", 16), App: "flood", Args: []string{}, Mine: true,
		State: "running", Submitted: f.began, Elapsed: time.Since(f.began).Seconds()}}, nil
}

// Watch reports ten thousand segments at a time, each stolen from an earlier one; all but the newest have ended.
func (f *flood) Watch(context.Context) ([]report.Part, error) {
	const portion = 10_000
	r := report.Part{Run: strings.Repeat("ab", 16), Peer: "A", Cluster: "c"}
	for range min(portion, f.most-f.sent) {
		at := f.began.Add(time.Duration(f.sent) * 100 * time.Microsecond)
		job := "root"
		if f.sent > 0 {
			job = strings.Trim(strings.ReplaceAll(fmt.Sprintf("%o", f.sent), "", "."), ".")
		}
		r.Segments = append(r.Segments, report.Segment{ID: fmt.Sprint(f.sent), Job: job, Start: at,
			End: at.Add(time.Millisecond), Spawned: 1000, Executed: 1000, State: report.SegmentDone})
		f.sent++
	}
	if f.sent == f.most && f.ended != nil {
		close(f.ended)
		f.ended = nil
	}
	return []report.Part{r}, nil
}

// history measures the server's memory after a million segments.
func history(w *workshop) (table, error) {
	progress("dashboard: %d segments", mostSegments)
	defer progress("")
	dir, err := os.MkdirTemp(w.dir, "page-*")
	if err != nil {
		return table{}, err
	}
	before := heap()
	ended := make(chan struct{})
	s, err := dashboard.Open(dashboard.Config{Source: &flood{began: time.Now(), most: mostSegments, ended: ended},
		Dir: dir, Every: 10 * time.Millisecond})
	if err != nil {
		return table{}, err
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	page, err := watchLink(context.Background(), s.Link(dashboard.View))
	if err != nil {
		return table{}, err
	}
	began := time.Now()
	<-ended
	took := time.Since(began)
	after := heap()
	err = errors.Join(page.close(), s.Close(context.Background()), <-served)
	return table{title: "History", notes: []string{
		fmt.Sprintf("A server that a source told of %d segments of one run while a page was open, in %.0f s; its heap after a collection, over that before.", mostSegments, took.Seconds()),
	}, figures: []figure{{name: "heap after a million segments", form: "%.1f MB",
		values: []float64{(after - before) / 1e6}, atMost: 50}}}, err
}

// heap is what is live, in bytes.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
