package peer

import (
	"sync"
	"time"
)

// arbiter divides this machine's cores among the runs that it takes part in, and keeps what the volunteer allows.
//
// Every run that has work gets the same number of cores, as far as they can be divided, and takes turns at
// what is left over. A run that has no work here keeps one core, so that it goes on stealing, and lends the
// others. Shares change when a run comes or goes, when the volunteer says so, and at every turn.
type arbiter struct {
	mu     sync.Mutex
	cores  int // that the volunteer allows at most
	paused bool
	shares []*share
	turn   int
}

// turnEvery is how long the shares of several runs stay as they are.
const turnEvery = 200 * time.Millisecond

// share is one run's part.
type share struct {
	most int // the run's own limit
	// dry says that the run has no work here at the moment.
	dry func() bool
	// set tells the run; called with the arbiter's mutex held, so it must not call back.
	set  func(cores int)
	last int
}

// join adds a run.
func (a *arbiter) join(s *share) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.last = -1
	a.shares = append(a.shares, s)
	a.divide()
}

// leave removes a run.
func (a *arbiter) leave(s *share) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, other := range a.shares {
		if other == s {
			a.shares = append(a.shares[:i], a.shares[i+1:]...)
			break
		}
	}
	a.divide()
}

// allow changes how many cores the volunteer allows.
func (a *arbiter) allow(cores int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cores = cores
	a.divide()
}

// pause lets no run have a core, or lifts that.
func (a *arbiter) pause(paused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = paused
	a.divide()
}

// next begins another turn.
func (a *arbiter) next() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.shares) > 1 {
		a.turn++
		a.divide()
	}
}

// divide sets every run's cores. The mutex is held.
func (a *arbiter) divide() {
	n := len(a.shares)
	if n == 0 {
		return
	}
	cores := a.cores
	if a.paused {
		cores = 0
	}
	want := make([]int, n)
	for i, s := range a.shares {
		want[i] = min(s.most, cores)
		if n > 1 && s.dry() {
			want[i] = min(want[i], 1)
		}
	}
	for i, c := range shareOut(cores, want, a.turn) {
		if s := a.shares[i]; s.last != c {
			s.last = c
			s.set(c)
		}
	}
}

// shareOut gives each at most what it wants, and everybody the same as far as possible; the rest goes to
// those whose turn it is.
func shareOut(cores int, want []int, turn int) []int {
	got := make([]int, len(want))
	for progress := true; cores > 0 && progress; {
		progress = false
		for i := range want {
			k := (i + turn) % len(want)
			if cores > 0 && got[k] < want[k] {
				got[k]++
				cores--
				progress = true
			}
		}
	}
	return got
}
