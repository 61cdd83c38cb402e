package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

// A program that goes on in steps, of which half the processes are killed in the middle of one.
const (
	// Jobs are counted, and not the time they take: so those of forces are small, which are nearly all of the work.
	stepsProgram  = "barneshut 40000 --theta 0.15 --threshold 8 --steps"
	stepsInAll    = 7
	stepsPatience = 10 * time.Minute // for one run
	stepsPeers    = 8
)

// stepCrashes are what is killed, and in the middle of which step.
var stepCrashes = []struct {
	name string
	from int // of the processes, half of which go
	step int
}{{"the owner's half, in step 3", 0, 3}, {"the owner's half, in step 6", 0, 6},
	{"the other half, in step 6", stepsPeers / 2, 6}}

// steps counts what is computed again when half of 8 processes are killed.
func steps(w *workshop, rounds int) ([]table, error) {
	rounds = max(1, rounds/recoveryRoundShare)
	ctx, cancel := context.WithTimeout(context.Background(),
		time.Duration(rounds*len(stepCrashes)+6)*stepsPatience)
	defer cancel()
	binary, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	var jobs [3]float64 // of a run of one step, of two, and of all
	var x *stepping
	for i, n := range []int{1, 2, stepsInAll} {
		words := append(strings.Fields(stepsProgram), fmt.Sprint(n))
		progress("steps: the sequential program, %d of them", n)
		want, err := swarm.Command(ctx, binary, os.Environ(), append([]string{"run", "--sequential"}, words...)...)
		if err != nil {
			return nil, err
		}
		progress("steps: nobody is killed in %d", n)
		x = &stepping{ctx: ctx, binary: binary, w: w, words: words, want: want}
		if jobs[i], err = x.run(0, 0); err != nil {
			return nil, err
		}
	}
	whole, half := jobs[2], jobs[2]/stepsInAll/2
	first := 2*jobs[0] - jobs[1] - 1 // all but the root's before the first step
	x.jobs = whole
	t := table{title: "Half the processes are killed in the middle of a step", notes: []string{
		fmt.Sprintf("%d rounds of `%s` on %d processes with one worker each, half of them in another cluster, without an emulated network. In "+
			"the middle of a step half are killed (SIGKILL), and the owner begins again when the others have come to the answer, which is the sequential program's. Computed again are the jobs of all processes, "+
			"those that were killed too, beyond the %.0f of a run in which nobody is, over those of a step that one half of the processes does.",
			rounds, strings.Join(x.words, " "), stepsPeers, whole),
		fmt.Sprintf("Before its first step the program draws its stars, in %.0f jobs that take 0.1 ms each. Nobody keeps what comes of such "+
			"short ones: who begins the root again does most of these again, which is %.2f of the figure at most.",
			first, first/half)}}
	for _, c := range stepCrashes {
		var again []float64
		for round := range rounds {
			progress("steps: %s, round %d of %d", c.name, round+1, rounds)
			jobs, err := x.run(c.step, c.from)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			again = append(again, (jobs-whole)/half)
		}
		t.figures = append(t.figures, figure{name: c.name + ": computed again", form: "%.2f", values: again, atMost: 1})
	}
	progress("")
	return []table{t}, nil
}

// stepping runs the program, each time in a new swarm.
type stepping struct {
	ctx    context.Context
	binary string
	w      *workshop
	words  []string
	want   string
	jobs   float64 // that it has
}

// run gives how many jobs all have executed, where half of them are killed in the middle of a step; 0 is none.
func (x *stepping) run(step, from int) (jobs float64, err error) {
	ctx, cancel := context.WithTimeout(x.ctx, stepsPatience)
	defer cancel()
	s := &swarm.Swarm{Binary: x.binary, Dir: x.w.dir, Settings: []string{"SATIN_PRIORITY=normal", "SATIN_WORKERS=1"}}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i := range stepsPeers {
		if _, err := s.Start(ctx, fmt.Sprint("SATIN_CLUSTER=", []string{"one", "other"}[i*2/stepsPeers])); err != nil {
			return 0, err
		}
	}
	if err := met(ctx, s); err != nil {
		return 0, err
	}
	owner := s.Peers[0]
	out, err := s.Run(ctx, owner, append([]string{"--detach"}, x.words...)...)
	if err != nil {
		return 0, err
	}
	run := strings.TrimSpace(out)
	left := s.Peers
	if step > 0 {
		middle := x.jobs * (float64(step) - 0.5) / stepsInAll
		if err := await(ctx, "the middle of the step", func() (bool, error) {
			n, err := executed(ctx, s.Peers)
			return n >= middle, err
		}); err != nil {
			return 0, err
		}
		for _, p := range s.Peers[from : from+stepsPeers/2] {
			n, err := executed(ctx, []*swarm.Process{p})
			if err := errors.Join(err, p.Kill()); err != nil {
				return 0, err
			}
			jobs += n
		}
		left = slices.Concat(s.Peers[:from], s.Peers[from+stepsPeers/2:])
	}
	if err := await(ctx, "the answer", func() (bool, error) { return answered(ctx, left[0], run) }); err != nil {
		return 0, err
	}
	if !owner.Alive() {
		if err := owner.Restart(ctx); err != nil {
			return 0, err
		}
	}
	if out, err = owner.Command(ctx, "wait", run); err != nil {
		return 0, err
	}
	if out != x.want {
		return 0, fmt.Errorf("the answer is %q, the sequential program's %q", out, x.want)
	}
	n, err := executed(ctx, left)
	return jobs + n, err
}

// executed is how many jobs processes have executed.
func executed(ctx context.Context, list []*swarm.Process) (n float64, err error) {
	for _, p := range list {
		st, err := p.Client().Status(ctx)
		if err != nil {
			return 0, err
		}
		n += float64(st.Work.Executed)
	}
	return n, nil
}

// answered says whether a process knows the answer of a run.
func answered(ctx context.Context, p *swarm.Process, run string) (bool, error) {
	list, err := p.Client().Runs(ctx)
	for _, r := range list {
		if r.Run == run && r.State.Ended() {
			if r.State != control.RunDone {
				return false, fmt.Errorf("the run is %s: %s", r.State, r.Why)
			}
			return true, nil
		}
	}
	return false, err
}
