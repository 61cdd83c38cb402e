package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/swarm"
)

const (
	idleSpan = 10 * time.Second // over which a daemon is watched
	idleWork = "nqueens 17"     // what it has done the second time
	idleRuns = 300              // of costRun, which it has done the third time
	thrifty  = 5 * time.Second  // after which a daemon has given back what it began with
)

// idling measures two daemons with each other for a neighbour and nothing to do, before and after they have worked, and
// after many short runs.
func idling(w *workshop, _ int) (_ []table, err error) {
	binary, err := swarm.Build(context.Background(), w.dir)
	if err == nil {
		err = forget(binary)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*swarmPatience)
	defer cancel()
	s, err := newSwarm(ctx, binary, w, []int{2, 2})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	t := table{title: "A daemon with nothing to do", notes: []string{fmt.Sprintf("Both daemons of a swarm of two, each over %v: one that "+
		"has just joined, one that has worked on %s and had a minute since, and one that has also done %d runs of %s and had a "+
		"minute, of a program that was read from the disk, as after a start of "+
		"the machine. Resident memory counts pages of its file, which the system takes back when it wants them; its own is what is left "+
		"without them. Where the file has just been written, Linux may keep it in pages of 2 MiB: then all of its 45 MB come back with "+
		"the first looks at them.", idleSpan, idleWork, idleRuns, costRun)}}
	for _, past := range []struct {
		name, run string
		times     int
		rest      time.Duration
	}{
		{"a daemon that has just joined", "", 0, thrifty}, // what came before leaves something behind
		{"a daemon that has worked", idleWork, 1, time.Minute},
		{fmt.Sprintf("a daemon after %d short runs", idleRuns), costRun, idleRuns, time.Minute},
	} {
		progress("idle: %s", past.name)
		for range past.times {
			if _, err := elapsed(ctx, s, past.run); err != nil {
				return nil, err
			}
		}
		time.Sleep(past.rest)
		figures, err := idleness(s, past.name)
		if err != nil {
			return nil, err
		}
		t.figures = append(t.figures, figures...)
	}
	progress("")
	return []table{t}, nil
}

// idleness measures the daemons of a swarm over a while.
func idleness(s *swarm.Swarm, name string) ([]figure, error) {
	var before []time.Duration
	for _, p := range s.Peers {
		before = append(before, cputime.Of(p.PID()))
	}
	began := time.Now()
	time.Sleep(idleSpan)
	var cpu, memory, own []float64
	for i, p := range s.Peers {
		cpu = append(cpu, 100*float64(cputime.Of(p.PID())-before[i])/float64(time.Since(began)))
		resident, shared, err := residentMemory(p.PID())
		if err != nil {
			return nil, err
		}
		memory, own = append(memory, resident), append(own, resident-shared)
	}
	return []figure{
		{name: name + ", of one core", form: "%.2f %%", values: cpu, atMost: 0.5},
		{name: "  resident memory", form: "%.0f MB", values: memory, atMost: 39},
		{name: "  its own", form: "%.0f MB", values: own},
	}, nil
}

// forget has the system's cache of files lose one that was just written.
func forget(name string) error {
	return errors.Join(run("sync", name), run("dd", "if="+name, "iflag=nocache", "count=0"))
}

// residentMemory is a process's, and how much of it is pages of files, in MB.
func residentMemory(pid int) (resident, shared float64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0, err
	}
	var size float64
	if _, err := fmt.Sscan(string(b), &size, &resident, &shared); err != nil {
		return 0, 0, err
	}
	page := float64(os.Getpagesize()) / 1e6
	return resident * page, shared * page, nil
}
