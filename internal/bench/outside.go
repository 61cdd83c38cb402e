package main

import (
	"fmt"
	"runtime"

	"github.com/satin-peer/satin/internal/bench/ask"
)

const (
	takes      = 2000    // of the thief outside, in a round
	takePause  = 300     // us between two of them, on average
	stealRate  = 250_000 // a second, asked for; a thief that finds nothing for a moment falls short of it
	targetRate = 150_000 // what the target speaks of
	forests    = 500     // of a victim's run: some 0.4 s
	pings      = 2000    // round trips in a round
)

// subject starts the program for one section.
func subject(w *workshop) ([]*ask.Program, error) {
	files, err := w.build("subject", "off", 1)
	if err != nil {
		return nil, err
	}
	return w.start(files)
}

// thief measures Pool.Take: how long it takes to get a job, and what it costs who loses it.
func thief(w *workshop, rounds int) ([]table, error) {
	program, err := subject(w)
	if err != nil {
		return nil, err
	}
	all := runtime.NumCPU()
	entrants := []entrant{{"take", program, []any{"thief", all, takePause, takes}}}
	for _, shape := range []string{"forest", "comb"} {
		entrants = append(entrants,
			entrant{shape + " alone", program, []any{"victim", shape, 0, forests}},
			entrant{shape, program, []any{"victim", shape, stealRate, forests}})
	}
	res, err := interleave("thief", rounds, entrants)
	if err != nil {
		return nil, err
	}
	us := func(key string) []float64 {
		return res.each(func(round int) float64 { return res.value("take", key, round) / 1e3 })
	}
	t := table{title: "A thief outside the workers", figures: []figure{
		{name: fmt.Sprintf("Take with %d workers busy, p50", all), form: "%.1f us", values: us("p50")},
		{name: fmt.Sprintf("Take with %d workers busy, p99", all), form: "%.1f us", values: us("p99"), atMost: 100},
		{name: "Take, slowest of a round", form: "%.1f us", values: us("max")},
	}}
	t.figures = append(t.figures, victims(res, "forest", "trees side by side")...)
	t.figures = append(t.figures, victims(res, "comb", "trees along a deep recursion")...)
	t.notes = []string{res.note(),
		fmt.Sprintf("Workers recurse over fib with a job for every call. A goroutine outside the pool asks %d times a round, at "+
			"random moments about %d us apart, until it has a job. What it takes it completes.", takes, takePause),
		fmt.Sprintf("The victim is one worker; the thief computes the small trees that it takes, fib(12), on another core. "+
			"The victim's slowdown is the CPU time of its thread for each job that it runs itself, with the thief over without, "+
			"and is scaled to %d steals a second from the rate that was reached; rounds with less than half of that, for want "+
			"of a second core, are left out.", targetRate)}
	return []table{t}, nil
}

// victims compares the victim of one shape with itself when it is left alone.
func victims(res *results, shape, name string) []figure {
	slower := figure{name: "victim with " + name + ": slower", form: "%.1f %%", atMost: 15, remark: "too few steals"}
	rates := res.each(func(round int) float64 { return res.value(shape, "rate", round) })
	for round, rate := range rates {
		if rate >= targetRate/2 {
			more := res.value(shape, "nsPerJob", round)/res.value(shape+" alone", "nsPerJob", round) - 1
			slower.values = append(slower.values, 100*more*targetRate/rate)
		}
	}
	return []figure{slower, {name: "  at steals a second", form: "%.0f", values: rates}}
}

// packets measures what busy workers do to a process's own network traffic.
func packets(w *workshop, rounds int) ([]table, error) {
	program, err := subject(w)
	if err != nil {
		return nil, err
	}
	res, err := interleave("udp", rounds, []entrant{
		{"idle", program, []any{"pingpong", "idle", pings}},
		{"busy", program, []any{"pingpong", "busy", pings}},
	})
	if err != nil {
		return nil, err
	}
	row := func(name, key string, atMost float64) figure {
		return figure{name: fmt.Sprintf("%s, %s", name, key), form: "%.3f ms", atMost: atMost,
			values: res.each(func(round int) float64 { return res.value(name, key, round) / 1e6 })}
	}
	t := table{title: "Loopback UDP round trips beside busy workers", figures: []figure{
		row("busy", "p50", 0), row("busy", "p99", 0.2), row("busy", "max", 0), row("idle", "p50", 0),
		row("idle", "p99", 0),
	}}
	t.notes = []string{res.note(), fmt.Sprintf(
		"Client and server are goroutines of the process whose workers, one per core, "+
			"recurse over fib (busy) or do not exist (idle). satin.Config{}: nothing is set. %d round trips of 64 bytes a round, "+
			"at random moments about 1 ms apart.", pings)}
	return []table{t}, nil
}
