package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/peer/emulate"
)

const (
	stealTrips = 500     // steals in a round, one after the other
	shortOnes  = 10      // such rounds to one of the others; see idleSteals
	busyTrips  = 400     // beside busy workers, with pauses
	busyPause  = 500     // us between two of them, on average
	longResult = 2 << 20 // bytes
	slowRounds = 3       // each takes half a minute
)

// A pair is two processes that steal from each other: the first is the victim.
type pair struct {
	victim, thief *ask.Program
	addresses     map[string]string // of the victim, by the kind of connection
}

func newPair(w *workshop) (*pair, error) {
	files, err := w.build("side", "off", 1)
	if err != nil {
		return nil, err
	}
	programs, err := w.start([]string{files[0], files[0]})
	if err != nil {
		return nil, err
	}
	p := &pair{programs[0], programs[1], map[string]string{}}
	for _, kind := range []string{"bare", "tcp", "quic"} {
		if err := p.serve(kind); err != nil {
			return nil, err
		}
	}
	p.addresses["plain-tcp"], p.addresses["plain-quic"] = p.addresses["tcp"], p.addresses["quic"]
	return p, nil
}

func (p *pair) serve(kind string) error {
	a, err := p.victim.Ask(patience, "serve", kind)
	if err != nil {
		return err
	}
	p.addresses[kind] = a["address"]
	return nil
}

// both asks both processes the same.
func (p *pair) both(words ...any) error {
	for _, program := range []*ask.Program{p.victim, p.thief} {
		if _, err := program.Ask(patience, words...); err != nil {
			return err
		}
	}
	return nil
}

// cpu is the CPU time that the victim has used.
func (p *pair) cpu() (float64, error) {
	a, err := p.victim.Ask(patience, "cpu")
	if err != nil {
		return 0, err
	}
	return a.Float("cpu")
}

// trips has the thief steal so often over one kind of connection. The answer has the CPU time of both processes.
func (p *pair) trips(kind string, count, pause int) (ask.Answer, error) {
	before, err := p.cpu()
	if err != nil {
		return nil, err
	}
	a, err := p.thief.Ask(patience, "trips", kind, p.addresses[kind], count, pause)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	after, err := p.cpu()
	if err != nil {
		return nil, err
	}
	own, err := a.Float("cpu")
	a["cpu"] = fmt.Sprint(own + after - before)
	return a, err
}

// rounds has all kinds take their turn, as interleave does with programs.
func (p *pair) rounds(what string, rounds, count, pause int) (*results, error) {
	kinds := []string{"bare", "plain-tcp", "tcp", "plain-quic", "quic"}
	res := &results{answers: map[string][]ask.Answer{}, rounds: rounds}
	for round := range rounds + 1 {
		progress("%s: round %d of %d", what, round, rounds)
		for i := range kinds {
			kind := kinds[i]
			if round%2 == 1 {
				kind = kinds[len(kinds)-1-i]
			}
			a, err := p.trips(kind, count, pause)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				res.answers[kind] = append(res.answers[kind], a)
			}
		}
	}
	progress("")
	return res, nil
}

// place gives each process half of the cores, as though they were two machines, or both all of them. It says whether it
// could: there is a command for it on Linux.
func (p *pair) place(apart bool) bool {
	cores := runtime.NumCPU()
	of := []string{fmt.Sprintf("0-%d", cores-1), fmt.Sprintf("0-%d", cores-1)}
	if apart {
		of = []string{fmt.Sprintf("0-%d", cores/2-1), fmt.Sprintf("%d-%d", cores/2, cores-1)}
	}
	if cores < 2 || !found("taskset") {
		return false
	}
	return run("taskset", "-a", "-p", "-c", of[0], fmt.Sprint(p.victim.Pid())) == nil &&
		run("taskset", "-a", "-p", "-c", of[1], fmt.Sprint(p.thief.Pid())) == nil
}

// stealing measures the steal protocol between two processes of this machine.
func stealing(w *workshop, rounds int) ([]table, error) {
	p, err := newPair(w)
	if err != nil {
		return nil, err
	}
	var tables []table
	res, err := p.rounds("steal", shortOnes*rounds, stealTrips, 0)
	if err != nil {
		return nil, err
	}
	var apart *results
	if p.place(true) {
		if apart, err = p.rounds("steal, cores apart", shortOnes*rounds, stealTrips, 0); err != nil {
			return nil, err
		}
		p.place(false)
	}
	tables = append(tables, idleSteals(res, apart))
	var busy [2]*results
	for i, where := range []string{"apart", "here"} {
		if err := p.both("busy", where); err != nil {
			return nil, err
		}
		if busy[i], err = p.rounds("steal, all cores busy", rounds, busyTrips, busyPause); err != nil {
			return nil, err
		}
	}
	if err := p.both("busy", "off"); err != nil {
		return nil, err
	}
	tables = append(tables, busySteals(busy[0], busy[1]))
	t, err := p.behind(min(rounds, slowRounds))
	return append(tables, t), err
}

// idleSteals has both processes on all cores and, where that can be had, apart. Its rounds are short and many: how the
// threads of both lie on the cores changes from second to second and is worth 10 us of a round trip, an empty stream's
// too, so that a few long rounds compare how they happened to lie.
func idleSteals(res, apart *results) table {
	us := func(kind, key string, share float64) []float64 {
		return res.each(func(round int) float64 { return res.value(kind, key, round) / 1e3 / share })
	}
	ratio := func(res *results, a, b string) []float64 {
		return res.each(func(round int) float64 { return res.value(a, "p50", round) / res.value(b, "p50", round) })
	}
	t := table{title: "A steal between two processes: round trip", figures: []figure{
		{name: "bare TCP, p50", form: "%.1f us", values: us("bare", "p50", 1)},
		{name: "steal over TCP, p50", form: "%.1f us", values: us("tcp", "p50", 1)},
		{name: "steal over QUIC, p50", form: "%.1f us", values: us("quic", "p50", 1)},
		{name: "steal over TCP, p99", form: "%.1f us", values: us("tcp", "p99", 1)},
		{name: "steal over QUIC, p99", form: "%.1f us", values: us("quic", "p99", 1)},
		{name: "steal over TCP : bare TCP, p50", form: "%.2f", values: ratio(res, "tcp", "bare"), atMost: 2.0},
		{name: "steal over QUIC : bare TCP, p50", form: "%.2f", values: ratio(res, "quic", "bare"), atMost: 2.5},
		{name: "a libp2p stream over TCP : bare TCP, p50", form: "%.2f", values: ratio(res, "plain-tcp", "bare")},
		{name: "a libp2p stream over QUIC : bare TCP, p50", form: "%.2f", values: ratio(res, "plain-quic", "bare")},
		{name: "steal over TCP : a libp2p stream, p50", form: "%.2f", values: ratio(res, "tcp", "plain-tcp"), atMost: 1.05},
		{name: "steal over QUIC : a libp2p stream, p50", form: "%.2f", values: ratio(res, "quic", "plain-quic"),
			atMost: 1.05},
		{name: "CPU of both for a steal over TCP", form: "%.1f us", values: us("tcp", "cpu", stealTrips)},
		{name: "CPU of both for a steal over QUIC", form: "%.1f us", values: us("quic", "cpu", stealTrips)},
		{name: "CPU of both for a round trip over bare TCP", form: "%.1f us", values: us("bare", "cpu", stealTrips)},
	}, notes: []string{
		fmt.Sprintf("%d rounds of %d steals, one after the other. bare TCP: 64 bytes there and 1,000 back, no encryption, no streams, no encoding.", res.rounds, stealTrips),
		"a libp2p stream: the same bytes over an encrypted, multiplexed libp2p stream and nothing of ours. What a steal costs beyond it is our protocol.",
	}}
	if apart == nil {
		return t
	}
	for _, of := range []struct {
		name, ours, other string
		atMost            float64
	}{{"steal over TCP : bare TCP", "tcp", "bare", 2}, {"steal over TCP : a libp2p stream", "tcp", "plain-tcp", 1.05},
		{"steal over QUIC : a libp2p stream", "quic", "plain-quic", 1.05}} {
		t.figures = append(t.figures, figure{name: "  apart: " + of.name, form: "%.2f",
			values: ratio(apart, of.ours, of.other), atMost: of.atMost})
	}
	t.notes = append(t.notes, "Apart: each process has half of the cores for itself (taskset), as two machines have. Then each message has to wake a core, which bare TCP pays as well.")
	return t
}

func busySteals(apart, here *results) table {
	ms := func(res *results, kind, key string) []float64 {
		return res.each(func(round int) float64 { return res.value(kind, key, round) / 1e6 })
	}
	t := table{title: "A steal while all cores are busy with jobs of both processes", notes: []string{
		fmt.Sprintf("%d rounds of %d steals at random moments, %d us apart.", apart.rounds, busyTrips, busyPause),
		"The jobs, fib at every level on all cores, are in a process beside each of the two, as those of a daemon are. " +
			"In one process: in a pool of the process that steals or is stolen from, as in a program that does without.",
	}}
	for _, k := range []struct{ name, kind string }{{"over TCP", "tcp"}, {"over QUIC", "quic"},
		{"a libp2p stream over TCP", "plain-tcp"}, {"a libp2p stream over QUIC", "plain-quic"}, {"bare TCP", "bare"}} {
		target := 0.0
		if k.kind == "tcp" || k.kind == "quic" {
			target = 2
		}
		t.figures = append(t.figures,
			figure{name: k.name + ", p50", form: "%.3f ms", values: ms(apart, k.kind, "p50")},
			figure{name: k.name + ", p99", form: "%.2f ms", values: ms(apart, k.kind, "p99"), atMost: target},
			figure{name: "  in one process, p99", form: "%.2f ms", values: ms(here, k.kind, "p99")})
	}
	return t
}

// behind measures steals over an emulated link of 100 ms and 100 KB/s, idle and while a long result comes the
// same way.
func (p *pair) behind(rounds int) (table, error) {
	dir, err := os.MkdirTemp("", "satin-bench-net-")
	if err != nil {
		return table{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "pair"), []byte("clusters 1 1\nset_sym all 100000 0.1\n"),
		0o644); err != nil {
		return table{}, err
	}
	if err := emulate.Create(filepath.Join(dir, "net"), os.DirFS(dir), "pair", []string{"a", "b"}, 1); err != nil {
		return table{}, err
	}
	for cluster, program := range map[string]*ask.Program{"a": p.victim, "b": p.thief} {
		if _, err := program.Ask(patience, "slow", filepath.Join(dir, "net"), cluster); err != nil {
			return table{}, err
		}
	}
	if err := p.serve("slow"); err != nil {
		return table{}, err
	}
	res := &results{answers: map[string][]ask.Answer{}, rounds: rounds}
	for round := range rounds {
		for name, size := range map[string]int{"idle": 0, "behind": longResult} {
			progress("steal over a slow link, %s: round %d of %d", name, round+1, rounds)
			a, err := p.thief.Ask(patience, "behind", p.addresses["slow"], size)
			if err != nil {
				return table{}, err
			}
			res.answers[name] = append(res.answers[name], a)
		}
		time.Sleep(time.Second) // the link is empty again
	}
	progress("")
	ms := func(name string) []float64 {
		return res.each(func(round int) float64 { return res.value(name, "p50", round) / 1e6 })
	}
	return table{title: "A steal over an emulated link of 100 ms and 100 KB/s", figures: []figure{
		{name: "idle, p50", form: "%.0f ms", values: ms("idle")},
		{name: "while a result of 2 MB comes, p50", form: "%.0f ms", values: ms("behind")},
		{name: "ratio", form: "%.2f", atMost: 1.6, values: res.each(func(round int) float64 {
			return res.value("behind", "p50", round) / res.value("idle", "p50", round)
		})},
		{name: "the result takes", form: "%.1f s",
			values: res.each(func(round int) float64 { return res.value("behind", "seconds", round) })},
	}, notes: []string{fmt.Sprintf("%d rounds. The link alone needs 21.0 s for the result.", rounds)}}, nil
}
