package engine

import (
	"sync"
	"time"
)

// Where the time goes
//
// The time of a pool's cores is what it might have used: a core counts while SetCores allows it, and a core that
// was taken away, until the worker that has it gives it up. Each moment of it is one of
//
//	free        no worker has the core: there is no job, or all frames wait for jobs that are elsewhere
//	searching   a worker without a job looks for one in this process
//	waiting     a worker waits for a job that another worker of this process runs
//	recovering  a worker looks whether somebody has the outcome of a restarted job
//	working     everything else: jobs, with what spawning and stealing from each other costs them
//
// The clock is read where a worker has run out of work, or begins a restarted job the slow way: never for a job that
// is spawned, called or stolen.
//
// How much of the time in which workers had a core the system gave to their threads is known to the system, which is
// asked when statistics are. The rest went to other programs, or to a job that slept.

// Times say where the time of a Pool's cores went, since its start, added up over the cores. What is not free,
// searching, waiting or recovering was work.
type Times struct {
	Cores      time.Duration // that might be used; those that SetCores took away do not count
	Free       time.Duration // of it: no worker had the core
	Searching  time.Duration // looking for a job in this process
	Waiting    time.Duration // waiting for a job that is on another worker of this process
	Recovering time.Duration // looking for outcomes of restarted jobs that somebody may have
	CPU        time.Duration // that the system gave to the workers' threads; 0 where it does not say
}

// coreTimes adds up the cores' time; scheduler.mu guards it.
type coreTimes struct{ since, cores, free int64 }

// pass books the time since the last call, in which so many cores were allowed and free.
func (t *coreTimes) pass(now int64, allowed, free int) {
	d := now - t.since
	t.since = now
	t.free += int64(max(free, 0)) * d
	t.cores += int64(allowed-min(free, 0)) * d // those that are to be given up are still in use
}

func (t *coreTimes) sum(search int64, s *spent) Times {
	return Times{Cores: time.Duration(t.cores), Free: time.Duration(t.free), Searching: time.Duration(search),
		Waiting: time.Duration(s.wait), Recovering: time.Duration(s.recover)}
}

// spent are more counters of a worker. They are not among its counts because Spawn and Get run faster or slower by
// where in the Worker lies what they use.
type spent struct {
	wait    int64 // ns with a core, waiting for a job that is away
	recover int64 // ns looking for outcomes of restarted jobs
}

func (s *spent) add(o *spent) {
	s.wait += o.wait
	s.recover += o.recover
}

// recovering ends a look for outcomes that began then.
func (s *spent) recovering(p *Pool, since int64) { s.recover += p.sched.now() - since }

// threads knows the workers' threads, and what those that have ended had of the processors. A worker is locked to
// its thread, which ends with it.
type threads struct {
	mu    sync.Mutex
	live  map[int]bool
	ended int64 // ns
}

// ThreadTime is the number of the calling thread and the processor time that it has had; 0 and 0 where the system
// does not tell.
func ThreadTime() (thread int, used time.Duration) {
	thread = threadID()
	return thread, time.Duration(threadTime(thread))
}

// began notes the calling thread.
func (t *threads) began() (id int) {
	id = threadID()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = map[int]bool{}
	}
	t.live[id] = true
	return id
}

// ends notes that the calling thread is about to end. Nobody asks for its time afterwards: its number may soon be
// another thread's.
func (t *threads) ends(id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, id)
	t.ended += threadTime(id)
}

// time is what all of them have had.
func (t *threads) time() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.ended
	for id := range t.live {
		sum += threadTime(id)
	}
	return time.Duration(sum)
}
