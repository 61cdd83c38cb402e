package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

const (
	tabLong       = "nqueens 19" // which lasts for hours
	tabModule     = "../../examples/queens-c/queens.wasm"
	tabModuleSize = "17"
	tabNative     = 30 * time.Second
	tabProbes     = 200
	tabSteals     = 10                    // of a round, fewer than a thief may have at once
	tabTries      = 1000                  // of a steal, before there is nothing
	tabPause      = 20 * time.Millisecond // after one in vain
	tabCrowd      = 200
	tabHosts      = 8 // addresses of this machine that they come from: a gateway takes so many of each
	tabLoad       = 20 * time.Second
	tabPatience   = 15 * time.Minute // with a round and a crowd, which take 5 and a half of an idle machine
)

// tabPages are the figures of the page itself, as times.mjs prints them. Times are in seconds.
type tabPages struct {
	Cold, Warm float64 // from the link to the first job
	Rate       float64 // jobs of a second of its core
}

// tabs measures browsers that help a daemon, and a daemon that many of them are at. It wants Chromium, npm ci in
// dashboard/web, and go run ./internal/tab/pack.
func tabs(w *workshop, rounds int) (_ []table, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rounds)*tabPatience)
	defer cancel()
	binary, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	apps, err := visitorApps()
	if err != nil {
		return nil, err
	}
	b := &tabBench{binary: binary, dir: w.dir, apps: apps}
	module, err := filepath.Abs(tabModule)
	if err != nil {
		return nil, err
	}
	all := map[string][]float64{} // by what round calls it
	var crowd []float64
	for range rounds {
		progress("tab: a crowd")
		err = b.during(ctx, w, func(link string, at *swarm.Process) error {
			cores, err := b.crowd(ctx, link, at)
			crowd = append(crowd, cores)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range rounds {
		progress("tab: round %d of %d", i+1, rounds)
		r, err := b.round(ctx, w, module)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "tab: round %d of %d: %v\n", i+1, rounds, r) // a later round may end in an error
		for name, value := range r {
			all[name] = append(all[name], value)
		}
	}
	progress("")
	return []table{{title: "Browsers that help", figures: []figure{
		{name: "a native worker", form: "%.0f jobs/s", values: all["native"]},
		{name: "a tab's core", form: "%.0f jobs/s", values: all["rate"]},
		{name: "  over the native worker", form: "%.2f", values: all["over"], least: 0.3},
		{name: "a module from C, a native worker alone", form: "%.1f s", values: all["guest alone"]},
		{name: "  and helped by a tab's core", form: "%.1f s", values: all["guest helped"]},
		{name: "  what that adds, over the native worker", form: "%.2f", values: all["guest over"], least: 0.8},
		{name: "from the link to the first job, nothing kept", form: "%.1f s", values: all["cold"], atMost: 5},
		{name: "  a second time", form: "%.1f s", values: all["warm"], atMost: 2},
		{name: "a crashed tab's jobs are to be had again after", form: "%.2f s", values: all["lost"], atMost: 5},
		{name: "a probe through the gateway, median", form: "%.2f ms", values: all["probe"]},
		{name: "a steal through the gateway, median", form: "%.2f ms", values: all["steal"], atMost: 2},
		{name: fmt.Sprintf("%d simulated tabs", tabCrowd), form: "%.2f cores", values: crowd, atMost: 1},
	}, notes: []string{
		fmt.Sprintf("%d rounds, each on a daemon of one worker that has a run of %s. The native worker is the daemon's, for %v before "+
			"anybody helps; a tab's rate is what its page shows after half a minute. The page is in Chromium, which has the program "+
			"compiled already the second time. A simulated tab says that it lives and steals a job each second, and gives it back; "+
			"the cores are those of the daemon's process, over %v.", rounds, tabLong, tabNative, tabLoad),
		fmt.Sprintf("The module is examples/queens-c with %s queens, metered in both: the browser compiles it for itself, the native "+
			"worker's process by wazero. Its jobs are not counted where nobody steals them, so it is whole runs that are timed.",
			tabModuleSize),
		"Pando, the npm package pando-computing, is not beside them: the registry has no such package (E404).",
	}}}, nil
}

// round measures pages that help with a built-in program, and with a module ("guest"). Rates are jobs a second, probe
// and steal in ms, the rest in seconds or no unit.
func (b *tabBench) round(ctx context.Context, w *workshop, module string) (map[string]float64, error) {
	r := map[string]float64{}
	err := b.during(ctx, w, func(link string, at *swarm.Process) (err error) {
		if r["native"], err = b.alone(ctx, at); err != nil {
			return err
		}
		var p tabPages
		if p, r["lost"], err = b.pages(ctx, link); err == nil {
			r["probe"], r["steal"], err = b.way(ctx, link)
		}
		r["rate"], r["over"], r["cold"], r["warm"] = p.Rate, p.Rate/r["native"], p.Cold, p.Warm
		return err
	})
	if err != nil {
		return nil, err
	}
	r["guest alone"], r["guest helped"], err = b.helped(ctx, w, module)
	r["guest over"] = r["guest alone"]/r["guest helped"] - 1
	return r, err
}

// helped gives how many seconds a run of a module takes on a daemon of one worker, and when a page of one core helps.
func (b *tabBench) helped(ctx context.Context, w *workshop, module string) (alone, helped float64, err error) {
	s, err := newSwarm(ctx, b.binary, w, []int{1})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	at := s.Peers[0]
	timed := func() (float64, error) {
		begun := time.Now()
		_, err := at.Command(ctx, "run", module, tabModuleSize)
		return time.Since(begun).Seconds(), err
	}
	if alone, err = timed(); err != nil {
		return 0, 0, err
	}
	link, err := at.Command(ctx, "share", "--all")
	if err != nil {
		return 0, 0, err
	}
	page, in, lines, err := b.page(ctx, strings.TrimSpace(link), "waits")
	if err != nil {
		return 0, 0, err
	}
	if lines.Scan() { // it waits for work
		helped, err = timed()
	} else {
		err = errors.Join(lines.Err(), errors.New("the page does not wait for work"))
	}
	_, _ = io.WriteString(in, "{}\n") // it may have ended already
	return alone, helped, errors.Join(err, page.Wait())
}

type tabBench struct {
	binary, dir string
	apps        []statement.App
}

// alone gives the jobs a second of a native worker: the daemon's own.
func (b *tabBench) alone(ctx context.Context, at *swarm.Process) (float64, error) {
	executed := func() (n uint64, err error) {
		list, err := at.Client().Runs(ctx)
		for _, r := range list {
			n += r.Executed
		}
		return n, err
	}
	before, err := executed()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	time.Sleep(tabNative)
	after, err := executed()
	if err == nil && after == before {
		err = errors.New("the daemon has executed no job")
	}
	return float64(after-before) / time.Since(begun).Seconds(), err
}

// during has a daemon begin a long run, and gives a link to help with it.
func (b *tabBench) during(ctx context.Context, w *workshop,
	do func(link string, at *swarm.Process) error) (err error) {
	s, err := newSwarm(ctx, b.binary, w, []int{1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	at := s.Peers[0]
	if _, err := at.Command(ctx, append([]string{"run", "--detach"}, strings.Fields(tabLong)...)...); err != nil {
		return err
	}
	run := ""
	err = await(ctx, "the run begins", func() (bool, error) {
		list, err := at.Client().Runs(ctx)
		for _, r := range list {
			if r.State == control.RunRunning {
				run = r.Run
			}
		}
		return run != "", err
	})
	if err != nil {
		return err
	}
	link, err := at.Command(ctx, "share", run)
	if err == nil {
		err = do(strings.TrimSpace(link), at)
	}
	return err
}

// page starts a browser with a part of times.mjs, and gives what it hears and what it prints.
func (b *tabBench) page(ctx context.Context, link, part string) (*exec.Cmd, io.Writer, *bufio.Scanner, error) {
	cmd := exec.CommandContext(ctx, "node", "../../peer/gateway/testdata/times.mjs", link, part)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, nil, err
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	return cmd, in, bufio.NewScanner(out), err
}

// pages has a browser open the link twice: the first page crashes with the jobs that it has.
func (b *tabBench) pages(ctx context.Context, link string) (p tabPages, lost float64, err error) {
	cmd, _, lines, err := b.page(ctx, link, "crashes")
	if err != nil {
		return p, 0, err
	}
	if lines.Scan() && lines.Text() == "crashed" {
		lost, err = b.again(ctx, link)
	}
	if lines.Scan() {
		err = errors.Join(err, json.Unmarshal(lines.Bytes(), &p))
	} else {
		err = errors.Join(err, lines.Err(), errors.New("the browser did not get to its end"))
	}
	return p, lost, errors.Join(err, cmd.Wait())
}

// again gives how many seconds it takes until a job that was given away before can be stolen.
func (b *tabBench) again(ctx context.Context, link string) (float64, error) {
	begun := time.Now()
	v, err := comeIn(ctx, link, b.apps, 1)
	if err != nil {
		return 0, err
	}
	defer func() { _ = v.conn.Close() }()
	for !v.restarts && err == nil {
		if _, _, err = v.steal(1); err == nil && len(v.held) > 4*tabSteals {
			err = errors.New("only jobs come that nobody had before")
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return time.Since(begun).Seconds(), err
}

// way gives how many ms a question takes that asks for no job, and one that gets one.
func (b *tabBench) way(ctx context.Context, link string) (probe, steal float64, err error) {
	v, err := comeIn(ctx, link, b.apps, 1)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = v.conn.Close() }()
	for _, m := range []struct {
		jobs, times int
		median      *float64
	}{{0, tabProbes, &probe}, {1, tabSteals, &steal}} {
		var times []float64
		for tries := 0; len(times) < m.times; tries++ {
			took, got, err := v.steal(m.jobs)
			if err == nil {
				err = v.beat()
			}
			if err == nil && tries > tabTries {
				err = errors.New("there is nothing to steal")
			}
			if err != nil {
				return 0, 0, err
			}
			if got == m.jobs {
				times = append(times, took.Seconds()*1000)
			} else {
				time.Sleep(tabPause)
			}
		}
		slices.Sort(times)
		*m.median = times[len(times)/2]
	}
	return probe, steal, nil
}

// crowd gives the cores that a daemon's process uses while many tabs are at it.
func (b *tabBench) crowd(ctx context.Context, link string, at *swarm.Process) (cores float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	fails := make([]error, tabCrowd)
	for i := range tabCrowd {
		v, err := comeIn(ctx, link, b.apps, byte(1+i%tabHosts))
		if err != nil {
			cancel()
			all.Wait()
			return 0, fmt.Errorf("tab %d: %w", i, err)
		}
		all.Go(func() {
			fails[i] = v.live(ctx)
			_ = v.conn.Close()
		})
	}
	before := cputime.Of(at.PID())
	select {
	case <-time.After(tabLoad):
	case <-ctx.Done():
	}
	cores = (cputime.Of(at.PID()) - before).Seconds() / tabLoad.Seconds()
	err = ctx.Err()
	cancel()
	all.Wait()
	return cores, errors.Join(append(fails, err)...)
}
