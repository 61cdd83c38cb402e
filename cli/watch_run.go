package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// openPage serves a dashboard until hide is called.
func (c console) openPage(cfg dashboard.Config) (s *dashboard.Server, hide func(), err error) {
	if s, err = dashboard.Open(cfg); err != nil {
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(); err != nil {
			cfg.Log.Warn("the dashboard has ended", "error", err)
		}
	}()
	return s, func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			cfg.Log.Warn("closing the dashboard", "error", err)
		}
		<-ended
	}, nil
}

// watch serves a page for a run of this process, until the function it gives is called.
func (c console) watch(source dashboard.Source) (hide func(), err error) {
	dir, err := os.MkdirTemp("", "satin-dashboard-*") // for the page's tokens; only the user may enter it
	if err != nil {
		return nil, failed("the page needs a directory for a moment: %w", err)
	}
	page, closePage, err := c.openPage(dashboard.Config{Source: source, Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, failed("%w", errors.Join(err, os.RemoveAll(dir)))
	}
	fmt.Fprintf(c.err, "the run in the browser: %s (this link opens once, and the page ends with the run)\n",
		page.Link(dashboard.Control))
	return func() {
		closePage()
		_ = os.RemoveAll(dir)
	}, nil
}

// watchDaemon prints a link to the page of the daemon of a directory.
func (c console) watchDaemon(runtimeDir string) error {
	link, err := askLink(runtimeDir, dashboard.Control)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "the daemon in the browser: %s (this link opens once)\n", link)
	return nil
}

// newLocalPage shows a run in this process.
func newLocalPage(t *task, r *localRun) *localPage {
	var id [runDigits / 2]byte
	_, _ = rand.Read(id[:]) // never fails
	return &localPage{task: t, run: r, id: hex.EncodeToString(id[:])}
}

// A localPage shows a run in this process as the only one of a peer without others.
type localPage struct {
	task *task
	run  *localRun
	id   string

	mu          sync.Mutex
	meter       meter
	last        progress
	at          time.Time
	watched     time.Time // when Watch was called last
	paused      bool
	pausedUntil *time.Time
	resume      *time.Timer
}

const (
	localName = "this process"
	// sampleEvery bounds how often the workers are asked, however many browsers look.
	sampleEvery = 500 * time.Millisecond
)

// sample gives how far the run is, as of half a second ago at the most. The mutex is held.
func (p *localPage) sample() progress {
	if now := time.Now(); now.Sub(p.at) >= sampleEvery {
		p.at, p.last = now, p.meter.add(p.run.measure())
	}
	return p.last
}

func (p *localPage) Status(context.Context) (dashboard.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sample()
	state := "working"
	if p.paused {
		state = "paused"
	}
	return dashboard.Status{
		Peer: localName, Version: software(), Started: p.run.began.UTC(), Swarm: "none", State: state,
		PausedUntil: p.pausedUntil,
		Workers:     s.Workers, Busy: s.Busy, Reach: "private", WhyReach: "the run is in this process only",
		Address: []string{},
		Cluster: localName, Clusters: []report.Cluster{{Name: localName, Mine: true, Reason: "one process",
			Peers: 1, Workers: s.Workers}},
		Work: report.Work{Executed: s.Executed, Rate: s.rate, AllRate: s.rate, Busy: s.busy().Seconds()},
	}, nil
}

// busy is the time that workers ran jobs, added up.
func (s *sample) busy() time.Duration {
	return max(time.Duration(s.Workers)*s.Elapsed-s.Idle, 0)
}

func (p *localPage) Peers(context.Context) ([]dashboard.Peer, error) { return []dashboard.Peer{}, nil }

func (p *localPage) Runs(context.Context) ([]dashboard.Run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sample()
	return []dashboard.Run{{
		Run: p.id, App: p.task.app, Args: commandLine(p.task), Title: p.task.problem.Title, Owner: localName,
		Mine: true, State: "running",
		Submitted: p.run.began.UTC(), Elapsed: s.at.Seconds(), Share: s.share, Left: s.left, Peers: 1,
		Executed: s.Executed, CPU: s.Times.CPU.Seconds(),
		Stats: &report.RunStats{
			Jobs: s.jobs(), StealTime: report.SpanOf(s.Times.Searching), WaitTime: report.SpanOf(s.Times.Waiting),
			IdleTime: report.SpanOf(s.Times.Free), UsefulTime: report.SpanOf(s.busy()),
		},
	}}, nil
}

// Watch tells of the run's one segment: what is stolen inside a process is not shown one by one.
func (p *localPage) Watch(context.Context) ([]report.Part, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := p.sample(), time.Now()
	r := report.Part{Run: p.id, Peer: localName, Cluster: localName, Segments: []report.Segment{
		{ID: p.id, Job: "root", Start: p.run.began.UTC(), Spawned: s.Spawned, Executed: s.Executed,
			State: report.SegmentRunning},
	}}
	if since := now.Sub(p.watched); since < 10*time.Second { // else nobody looked meanwhile
		r.Activities = []report.Activity{{Start: p.watched.UTC(), For: since, Work: s.Busy,
			Idle: max(s.Workers-s.Busy, 0)}}
	}
	p.watched = now
	return []report.Part{r}, nil
}

func (p *localPage) Pause(_ context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endPause()
	p.paused = true
	if d > 0 {
		until := time.Now().Add(d).UTC()
		p.pausedUntil = &until
		p.resume = time.AfterFunc(d, func() { _ = p.Resume(context.Background()) })
	}
	p.run.pool.SetCores(0)
	return nil
}

// Finish is for peers: a run of this process ends by itself.
func (p *localPage) Finish(context.Context) error {
	return fmt.Errorf("%w: this page shows one run, which takes nothing from others", report.ErrRefused)
}

func (p *localPage) Resume(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endPause()
	p.run.pool.SetCores(satin.MaxWorkers) // counts as all that the pool has
	return nil
}

// endPause forgets a pause. The mutex is held.
func (p *localPage) endPause() {
	if p.resume != nil {
		p.resume.Stop()
	}
	p.paused, p.pausedUntil, p.resume = false, nil, nil
}

func (p *localPage) Cancel(_ context.Context, run string) error {
	if run != p.id {
		return fmt.Errorf("%w: there is no run %q", report.ErrNotFound, run)
	}
	p.run.cancel(errCancelledOnPage)
	return nil
}
