package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/swarm"
)

// Javelin 3's experiment with hosts that are killed ("Our results"), with a search as hard as that paper's are for
// their hosts. Each host has a small share of a core's time, so that ten are ten times as fast as one.
const (
	hostsInAll   = 10
	hostShare    = 5 // percent of a core's time: two of ten seldom compute at once, and slow each other
	hostsSearch  = "tsp --random 115 --seed 3"
	hostPatience = 10 * time.Minute // for one run
)

// lostHosts are how many of the ten are killed, and by how many percent the paper's runs took longer than it foretells.
var lostHosts = []struct {
	killed    int
	published float64
}{{2, 3}, {4, 4}, {6, 6}, {8, 7.5}}

// hosts measures runs of which hosts are lost, beside runs with as many hosts as have done the work of all of them.
func hosts(w *workshop, rounds int) ([]table, error) {
	rounds = max(1, rounds/recoveryRoundShare)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(2*rounds*len(lostHosts)+1)*hostPatience)
	defer cancel()
	binary, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	progress("hosts: the sequential program")
	want, err := swarm.Command(ctx, binary, os.Environ(), append(searchWords(hostsSearch), "--sequential")...)
	if err != nil {
		return nil, err
	}
	var alone searched
	if err := json.Unmarshal([]byte(want), &alone); err != nil || alone.Elapsed <= 0 {
		return nil, fmt.Errorf("%s alone: no time in %q (%v)", hostsSearch, want, err)
	}
	t := table{title: "Hosts are killed in the middle of a search", notes: []string{
		fmt.Sprintf("%d rounds of `%s`, which takes the sequential program %.0f s, on real processes with %d %% of a core's time each (`cpu_share`). "+
			"Every answer is the sequential program's. E_T(k) = T(n - k/2) is the time of so many hosts from the beginning; of ten, the first of "+
			"each pair is killed (SIGKILL) before the middle of that time and the second as long after it, never the owner. "+
			"The target is by how much the paper's runs took longer than that.", rounds, hostsSearch, alone.Elapsed, hostShare),
		"The instances of the paper, distances at random, are no search for this program: of 70 with 128 cities (`--weights random`, " +
			"seeds 1 to 70) the hardest takes it 2 s. So this one is of cities in a square.",
		"Finished parts of a large job go home before the whole job is done, as copies; a killed host takes with it what it is in the middle of, and " +
			"what it finished in the last second or sixteenth of the time that it has had the job.",
	}}
	l := &losses{ctx: ctx, binary: binary, w: w, want: alone.Answer}
	for _, lost := range lostHosts {
		var fewer, times, over, again []float64
		for round := range rounds {
			progress("hosts: %d of %d killed, round %d of %d", lost.killed, hostsInAll, round+1, rounds)
			expected, err := l.run(hostsInAll-lost.killed/2, 0, 0)
			if err != nil {
				return nil, err
			}
			middle := time.Duration(expected.Elapsed / 2 * float64(time.Second))
			took, err := l.run(hostsInAll, lost.killed, middle)
			if err != nil {
				return nil, err
			}
			fewer, times = append(fewer, expected.Elapsed), append(times, took.Elapsed)
			over = append(over, 100*(took.Elapsed/expected.Elapsed-1))
			again = append(again, took.Stats.Restarted)
		}
		t.figures = append(t.figures,
			figure{name: fmt.Sprintf("%d of %d killed: E_T = T%d", lost.killed, hostsInAll, hostsInAll-lost.killed/2),
				form: "%.1f s", values: fewer},
			figure{name: "  measured", form: "%.1f s", values: times},
			figure{name: "  longer by", form: "%.1f %%", values: over, atMost: lost.published},
			figure{name: "  jobs queued again", form: "%.0f", values: again})
	}
	t.figures = append(t.figures, figure{name: "share of the machine that other programs used", form: "%.0f %%",
		values: l.others})
	progress("")
	return []table{t}, nil
}

// losses runs the search, each time in a new swarm.
type losses struct {
	ctx    context.Context
	binary string
	w      *workshop
	want   json.RawMessage // the answer
	others []float64       // percent of the machine that other programs used, by run in which nobody is killed
}

// run runs it on so many hosts, some of which are killed about the middle.
func (l *losses) run(hosts, kill int, middle time.Duration) (found searched, err error) {
	ctx, cancel := context.WithTimeout(l.ctx, hostPatience)
	defer cancel()
	began, busy := time.Now(), busyTime()
	s, err := newSwarm(ctx, l.binary, l.w, slices.Repeat([]int{1}, hosts), fmt.Sprint("SATIN_CPU_SHARE=", hostShare))
	if err != nil {
		return found, err
	}
	killed := make(chan error, 1)
	err = met(ctx, s)
	if err == nil {
		go func() { killed <- killHosts(ctx, s, kill, middle) }()
		found, err = search(ctx, s, hostsSearch)
		cancel()
		err = errors.Join(err, <-killed)
	}
	if kill == 0 {
		share := float64(busyTime()-busy-used(s)) / float64(time.Since(began)*time.Duration(runtime.NumCPU()))
		l.others = append(l.others, 100*max(0, share))
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return found, err
	}
	if string(found.Answer) != string(l.want) {
		return found, fmt.Errorf("%s: the answer is %s, the sequential program's %s", hostsSearch, found.Answer, l.want)
	}
	return found, nil
}

// used is the processor time of all processes of a swarm, and of those that compute for them.
func used(s *swarm.Swarm) (sum time.Duration) {
	for _, p := range s.Peers {
		sum += cputime.Of(p.PID())
		list, _ := p.Computing() // where nobody tells, nobody tells of the machine's time either
		for _, pid := range list {
			sum += cputime.Of(pid)
		}
	}
	return sum
}

// met waits until every process is connected to every other.
func met(ctx context.Context, s *swarm.Swarm) error {
	for _, p := range s.Peers {
		if err := await(ctx, "all know each other", func() (bool, error) {
			st, err := p.Client().Status(ctx)
			return st.Peers == len(s.Peers)-1, err
		}); err != nil {
			return err
		}
	}
	return nil
}

// killHosts kills so many, all but the first, symmetric to the middle: a tenth of it further from it for each pair.
func killHosts(ctx context.Context, s *swarm.Swarm, kill int, middle time.Duration) error {
	began, away := time.Now(), func(i int) time.Duration {
		d := middle / hostsInAll * time.Duration(i/2+1)
		if i%2 == 0 {
			return -d
		}
		return d
	}
	order := make([]int, kill)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(away(a) - away(b)) })
	for n, i := range order {
		select {
		case <-time.After(time.Until(began.Add(middle + away(i)))):
		case <-ctx.Done():
			return fmt.Errorf("the run ended when %d of %d hosts had been killed", n, kill)
		}
		if err := s.Peers[i+1].Kill(); err != nil {
			return err
		}
	}
	return nil
}

// searched is what a run of a search took.
type searched struct {
	Answer  json.RawMessage `json:"answer"`
	Elapsed float64         `json:"elapsed_seconds"`
	Stats   struct {
		Restarted float64 `json:"restarted_jobs"`
	} `json:"swarm_stats"`
}

// searchWords are the words of the command that runs a search and tells of it.
func searchWords(line string) []string {
	return append(append([]string{"run"}, strings.Fields(line)...), "--json")
}

func search(ctx context.Context, s *swarm.Swarm, line string) (found searched, err error) {
	out, err := s.Peers[0].Command(ctx, append(searchWords(line), "--stats")...)
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || found.Elapsed <= 0 {
		return found, fmt.Errorf("%s: no time in %q (%v)", line, out, err)
	}
	return found, nil
}
