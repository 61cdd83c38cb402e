//go:build swarm

package swarm_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

// binary is made once, by TestMain.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "satin-swarm-")
	if err != nil {
		panic(err)
	}
	if binary, err = swarm.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// empty makes a swarm to which processes can be added.
func empty(t *testing.T) (*swarm.Swarm, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	t.Cleanup(cancel)
	s := &swarm.Swarm{Binary: binary, Dir: t.TempDir(), Settings: []string{"SATIN_LOG_LEVEL=debug",
		"SATIN_PRIORITY=normal"}} // or jobs would get nothing for minutes beside what else a machine has to do
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for i, p := range s.Peers {
				log := strings.Split(p.Log(), "\n")
				t.Logf("peer %d:\n%s", i, strings.Join(log[max(0, len(log)-30):], "\n"))
			}
		}
	})
	return s, ctx
}

// start makes a swarm of so many processes in three clusters.
func start(t *testing.T, n int) (*swarm.Swarm, context.Context) {
	t.Helper()
	s, ctx := empty(t)
	for i := range n {
		if _, err := s.Start(ctx, fmt.Sprintf("SATIN_CLUSTER=site%d", i%3)); err != nil {
			t.Fatal(err)
		}
	}
	return s, ctx
}

// sequential is the answer without a swarm.
func sequential(t *testing.T, ctx context.Context, args ...string) string {
	t.Helper()
	out, err := swarm.Command(ctx, binary, []string{"HOME=" + t.TempDir()},
		append([]string{"run", "--sequential"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stolen waits until a process has stolen something.
func stolen(t *testing.T, ctx context.Context, p *swarm.Process) {
	t.Helper()
	for {
		st, err := p.Client().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if st.Work.Taken > 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("nothing was stolen")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// beside runs an application at the first process, does something to the swarm when a certain process has
// stolen from it, and compares the answer with the sequential one. It gives the statistics.
func beside(t *testing.T, s *swarm.Swarm, ctx context.Context, victim int, do func(p *swarm.Process),
	args ...string) (said string) {
	t.Helper()
	want := sequential(t, ctx, args...)
	type ending struct {
		out, said string
		err       error
	}
	ended := make(chan ending, 1)
	go func() {
		out, said, err := s.Peers[0].CommandSays(ctx, append([]string{"run", "--stats"}, args...)...)
		ended <- ending{out, said, err}
	}()
	stolen(t, ctx, s.Peers[victim])
	do(s.Peers[victim])
	e := <-ended
	if e.err != nil {
		t.Fatal(e.err)
	}
	if e.out != want {
		t.Errorf("got %q, want %q", e.out, want)
	}
	return e.said
}

// On real processes each application comes to the answer of its sequential program.
func TestApplications(t *testing.T) {
	s, ctx := start(t, 8)
	for _, args := range []string{"nqueens 15", "uts T1", "tsp --random 30", "raytracer balls --size 200x200",
		"integrate wave", "knapsack --generate strong 100 1000 50", "sat --waerden 3,9,77", "fib 34"} {
		words := strings.Fields(args)
		out, err := s.Run(ctx, s.Peers[1], words...)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := sequential(t, ctx, words...); out != want {
			t.Errorf("%s: got %q, want %q", args, out, want)
		}
	}
}

// A process that is killed with work of others costs the run nothing of its answer.
func TestKilledWorker(t *testing.T) {
	s, ctx := start(t, 8)
	beside(t, s, ctx, 4, func(p *swarm.Process) {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}, "nqueens", "17")
}

// A process that stands still for ten seconds, and then goes on with what others have long done, changes no answer.
func TestStoppedWorkerComesBack(t *testing.T) {
	s, ctx := start(t, 8)
	beside(t, s, ctx, 5, func(p *swarm.Process) {
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Second) // the stall itself, not a guess
		if err := p.Signal(syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}, "nqueens", "17")
}

// A process that is told to end while it works for another leaves without an error, and the answer is right.
func TestTerminatedWorkerLeaves(t *testing.T) {
	s, ctx := start(t, 8)
	beside(t, s, ctx, 3, func(p *swarm.Process) {
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-p.Ended()
		if !p.State().Success() {
			t.Errorf("it ended with %s", p.State())
		}
	}, "nqueens", "17")
}

// By satin-peer finish a daemon does the jobs that it has and then pauses, in the middle of a run, which takes nothing
// from it any more and ends with the right answer; satin-peer resume takes that back.
func TestWorkerFinishes(t *testing.T) {
	s, ctx := start(t, 3)
	worker := s.Peers[1]
	status := func() control.Status {
		st, err := worker.Client().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	command := func(name string) string {
		out, said, err := worker.CommandSays(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		return out + said
	}
	taken := uint64(0)
	beside(t, s, ctx, 1, func(*swarm.Process) {
		if said := command("finish"); !strings.Contains(said, "it takes no more jobs") {
			t.Errorf("finish says %q", said)
		}
		until(t, ctx, "it has finished", func() bool { return status().State == control.PeerPaused })
		taken = status().Work.Taken
	}, "nqueens", "17")
	if st := status(); st.State != control.PeerPaused || st.Work.Taken != taken {
		t.Errorf("it is %s, and has taken %d jobs after it had finished", st.State, st.Work.Taken-taken)
	}
	if said := command("status"); !strings.Contains(said, "paused until satin-peer resume") {
		t.Errorf("status says %q", said)
	}
	if command("resume"); status().State == control.PeerPaused {
		t.Error("it is paused for good")
	}
}

// Fifty processes form one swarm, all of them work on a run, and it ends.
func TestFiftyPeers(t *testing.T) {
	s, ctx := start(t, 50)
	for _, p := range s.Peers {
		for known := 0; known < len(s.Peers)-1; {
			list, err := p.Client().Peers(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if known = len(list); known < len(s.Peers)-1 {
				select {
				case <-ctx.Done():
					t.Fatalf("a peer knows %d of %d others", known, len(s.Peers)-1)
				case <-time.After(20 * time.Millisecond):
				}
			}
		}
	}
	want := sequential(t, ctx, "nqueens", "16")
	out, err := s.Run(ctx, s.Peers[7], "nqueens", "16")
	if err != nil {
		t.Fatal(err)
	}
	if out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// Jobs on other processes, in other clusters, read what their spawner shared: a database as a constant, step by step
// the versions of an object, and a lattice of the best solution. One of them is killed in the middle.
func TestJobsShare(t *testing.T) {
	s, ctx := start(t, 5)
	beside(t, s, ctx, 2, func(*swarm.Process) {}, "gene", "--generate", "8,600,500", "--threshold", "1000000")
	beside(t, s, ctx, 3, func(*swarm.Process) {}, "barneshut", "3000", "--steps", "4")
	beside(t, s, ctx, 4, func(p *swarm.Process) {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}, "tsp", "--random", "60", "--weights", "random")
}

// Jobs whose arguments are too large for a message, the parts of a tree of stars, are stolen; a thief is killed.
func TestLargeArguments(t *testing.T) {
	s, ctx := start(t, 5)
	said := beside(t, s, ctx, 4, func(p *swarm.Process) {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}, "barneshut", "60000", "--steps", "3", "--variant", "tree")
	if !strings.Contains(said, "values fetched") { // and the program shares nothing else
		t.Errorf("no argument was fetched: %s", said)
	}
}

// A thief that has the versions of an object, and follows their writes, is killed.
func TestThiefOfVersionsIsKilled(t *testing.T) {
	s, ctx := start(t, 5)
	beside(t, s, ctx, 3, func(p *swarm.Process) {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}, "barneshut", "20000", "--steps", "60", "--variant", "objects")
}

// The owner of a run that shares is killed, and with it go all versions that only it had: another peer begins with the
// root again, shares again, and comes to the answer, which the owner gives when it is back.
func TestOwnerOfSharedIsKilled(t *testing.T) {
	for _, task := range []string{"barneshut 20000 --steps 60 --variant objects", "tsp --random 110 --seed 1"} {
		t.Run(strings.Fields(task)[0], func(t *testing.T) {
			s, ctx := start(t, 5)
			outlivesItsOwner(t, s, ctx, strings.Fields(task)...)
		})
	}
}

// outlivesItsOwner kills the owner of a run when all others have jobs of it: another peer begins with the root again,
// and the owner gives the answer when it is back.
func outlivesItsOwner(t *testing.T, s *swarm.Swarm, ctx context.Context, words ...string) {
	t.Helper()
	want := sequential(t, ctx, words...)
	owner := s.Peers[0]
	out, err := s.Run(ctx, owner, append([]string{"--detach"}, words...)...)
	if err != nil {
		t.Fatal(err)
	}
	run := strings.TrimSpace(out)
	for _, p := range s.Peers[1:] {
		stolen(t, ctx, p)
	}
	memory(t, s, "all have jobs")
	if err := owner.Kill(); err != nil {
		t.Fatal(err)
	}
	takenOver(t, ctx, s.Peers[1:], run)
	memory(t, s, "another one has the root")
	if err := owner.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if out, err = owner.Command(ctx, "wait", run); err != nil {
		t.Fatal(err)
	}
	memory(t, s, "the owner is back and has the answer")
	if out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// takenOver waits until one of these processes says that it holds the root of a run that goes on.
func takenOver(t *testing.T, ctx context.Context, list []*swarm.Process, run string) {
	t.Helper()
	for {
		for _, p := range list {
			st, err := p.Client().Status(ctx)
			if err != nil {
				t.Fatal(err)
			}
			runs, err := p.Client().Runs(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range runs {
				switch {
				case r.Run != run:
				case r.State.Ended():
					t.Fatalf("the run ended before it was taken over: %s %s", r.State, r.Why)
				case r.Master == st.Peer:
					return
				}
			}
		}
		select {
		case <-ctx.Done():
			t.Fatal("nobody took over")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
