package engine

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// Each moment of a core counts while it may be used, and while it is still in use although it may not.
func TestCoreTimes(t *testing.T) {
	times := coreTimes{since: 100}
	for _, step := range []struct {
		for_           int64
		allowed, free  int
		cores, freeFor int64
	}{
		{10, 4, 1, 40, 10},
		{10, 4, 4, 80, 50},
		{0, 4, 4, 80, 50},
		{10, 1, -2, 110, 50}, // three are held
		{10, 0, 0, 110, 50},  // paused
		{10, 2, 0, 130, 50},
	} {
		times.pass(times.since+step.for_, step.allowed, step.free)
		if times.cores != step.cores || times.free != step.freeFor {
			t.Errorf("%+v: %+v", step, times)
		}
	}
	sum := times.sum(7, &spent{wait: 8, recover: 9})
	if want := (Times{Cores: 130, Free: 50, Searching: 7, Waiting: 8, Recovering: 9}); sum != want {
		t.Errorf("%+v", sum)
	}
}

// A paused pool spends nobody's time.
func TestPausedCoresDoNotCount(t *testing.T) {
	p, err := NewPool(Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for p.Idle() < 2 { // nobody holds one that is to be given up
		time.Sleep(time.Millisecond)
	}
	pass := func(since Stats) {
		for p.sched.now() == int64(since.Elapsed+poolEpoch) {
			time.Sleep(time.Microsecond)
		}
	}
	running := p.Stats()
	pass(running)
	p.SetCores(0)
	before := p.Stats()
	if before.Times.Cores == running.Times.Cores {
		t.Error("the time up to the pause is lost")
	}
	pass(before)
	after := p.Stats()
	if after.Times.Cores != before.Times.Cores || after.Times.Free != before.Times.Free {
		t.Errorf("%+v after %+v", after.Times, before.Times)
	}
	if after.Elapsed == before.Elapsed {
		t.Error("no time has passed")
	}
}

// restartedHost knows of outcomes below every job, and of none at one.
type restartedHost struct{ Alone }

func (restartedHost) Salvage(job.Path) (hit, below bool) { return false, true }

// Looking for outcomes that somebody may have is time of its own, and other jobs have none of it.
func TestRecoveringIsTimed(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		p, err := NewPool(Config{Workers: 1, Host: restartedHost{}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan Outcome, 1)
		if _, err := p.Submit(Job{Func: "test.fib", Arg: 12, Restarted: restarted},
			func(o Outcome) { ended <- o }); err != nil {
			t.Fatal(err)
		}
		<-ended
		for p.Idle() < 1 {
			time.Sleep(time.Millisecond)
		}
		if got := p.Stats().Times.Recovering; got > 0 != restarted {
			t.Errorf("restarted %v: recovering for %v", restarted, got)
		}
		p.Close()
	}
}

// The threads' time is the workers', also when a thread has ended since, and no other's.
func TestThreadTime(t *testing.T) {
	var th threads
	own := make(chan int64)
	go func() {
		runtime.LockOSThread() // as workers do: elsewhere it would wait for a thread that has nothing to do
		id := th.began()
		if threadTime(id) == 0 {
			own <- -1
			return
		}
		begun := threadTime(id)
		for threadTime(id) < begun+int64(5*time.Millisecond) {
			continue
		}
		own <- threadTime(id)
		<-own
		th.ends(id)
		own <- 0
	}()
	used := <-own
	if used < 0 {
		t.Skip("this system does not tell the time of a thread")
	}
	if got := int64(th.time()); got < used {
		t.Errorf("a thread that had %d ns has %d", used, got)
	}
	own <- 0
	<-own
	ended := th.time()
	if int64(ended) < used || len(th.live) != 0 {
		t.Errorf("one that has ended, with %d ns, had %d", used, ended)
	}
	if got := th.time(); got != ended {
		t.Errorf("the time of nobody goes on from %v to %v", ended, got)
	}
}

// A pool's statistics have its workers' processor time.
func TestPoolHasProcessorTime(t *testing.T) {
	p, err := NewPool(Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Run(context.Background(), "test.fib", 25); err != nil {
		t.Fatal(err)
	}
	s := p.Stats().Times
	if threadTime(threadID()) == 0 {
		t.Skip("this system does not tell the time of a thread")
	}
	if s.CPU <= 0 || s.CPU > s.Cores-s.Free+time.Second {
		t.Errorf("%+v", s)
	}
}
