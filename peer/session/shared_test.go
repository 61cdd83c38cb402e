package session_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/steal"
)

func init() {
	satin.RegisterObject("session_test.append", appendTo)
	satin.RegisterLattice("session_test.least", least, checkBid)
	satin.Register("session_test.readers", readers)
	satin.Register("session_test.reader", reader)
}

// appendTo is the global method of a list of numbers.
func appendTo(old []int, n int) []int { return append(slices.Clone(old), n) }

func least(a, b int) int { return min(a, b) }

func checkBid(_ string, n int) error {
	if n < 0 {
		return errors.New("it is negative")
	}
	return nil
}

// A reading is what a reader reads.
type reading struct {
	Depth int
	Scene satin.Constant[[]byte]
	List  satin.Object[[]int, int]
	Least satin.Lattice[string, int]
}

// sceneSize is that of the constant: many pieces.
const sceneSize = 3 << 20

// readers shares a constant and, step by step, the versions of an object, has many jobs read them, and gives what
// they read.
func readers(f *satin.Frame, depth int) int {
	scene := make([]byte, sceneSize)
	for i := range scene {
		scene[i] = byte(i * i >> 7)
	}
	r := reading{Depth: depth, Scene: satin.ShareConstant(f, scene), List: satin.Share(f, appendTo, []int{1}),
		Least: satin.ShareLattice(f, least, "bids", 1<<40)}
	sum := 0
	for step := range 5 {
		sum += reader(f, r)
		r.List = r.List.Write(f, step)
	}
	return sum
}

// readersWait holds up all readers until a test has seen what it wants to see in the middle of the run.
var readersWait atomic.Bool

// reader gives 1 for each of its leaves that has read what it should.
func reader(f *satin.Frame, r reading) int {
	if r.Depth > 0 {
		r.Depth--
		g := satin.Fork(f, reader)
		for range 3 {
			g.Spawn(r)
		}
		sum := 0
		for n := range g.Results() {
			sum += n
		}
		return sum
	}
	r.Least.Offer(f, r.Least.Value(f)-1)
	for readersWait.Load() && !f.Aborted() {
		fib(f, 5) // lets thieves have what waits
		time.Sleep(time.Millisecond)
	}
	list, scene := r.List.Read(f), r.Scene.Read(f)
	if list[0] != 1 || len(scene) != sceneSize || scene[12345] != byte(12345*12345>>7&255) {
		return 0
	}
	return len(list)
}

// Stolen jobs read what their argument names: a constant of many pieces, the version of an object, a lattice.
func TestJobsShare(t *testing.T) {
	for _, lossy := range []bool{false, true} {
		w := newWorld(t, 4, "session_test.readers", 4)
		w.lossy = lossy
		readersWait.Store(true)
		for i := range 4 {
			w.start(i, nil)
		}
		w.until("everybody has stolen or been stolen from", func() bool { return w.sum(taken) >= 3 })
		readersWait.Store(false)
		if got, want := w.answer(), 81*(1+2+3+4+5); got != want {
			t.Errorf("lossy %v: %v, want %d", lossy, got, want)
		}
		w.end()
	}
}

// taken are the jobs that a peer has stolen.
func taken(s *steal.Stats) uint64 { return s.JobsTakenLocal + s.JobsTakenWide }

// Whoever is killed while jobs read what they share, who shared it too, the jobs that are left come to the same: who
// begins with the root again shares again, under the same names.
func TestSharersMayDie(t *testing.T) {
	t.Parallel()
	for name, victims := range map[string][]int{"master": {0}, "thief": {3}, "master and deputy": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 4, "session_test.readers", 4)
			readersWait.Store(true)
			var peers []*worldPeer
			for i := range 4 {
				peers = append(peers, w.start(i, nil))
			}
			for _, v := range victims {
				w.until("the run is in the middle", func() bool {
					st := peers[v].Stats()
					return w.sum(taken) >= 3 && (st.Master || st.Held > 0 || st.Given > 0)
				})
				w.kill(peers[v])
			}
			readersWait.Store(false)
			if got, want := w.answer(), 81*(1+2+3+4+5); got != want {
				t.Errorf("%v, want %d", got, want)
			}
		})
	}
}

// Guards a run whose cores others have until it has a job: what a stolen job's parent has seen of a lattice is joined
// all the same, or the job would never come.
func TestJobsThatShareComeWithoutACore(t *testing.T) {
	w := newWorld(t, 2, "session_test.readers", 4)
	readersWait.Store(true)
	w.start(0, nil)
	p := w.start(1, nil)
	p.SetCores(0, true)
	w.until("it has a job", func() bool { return p.Stats().Held > 0 })
	readersWait.Store(false)
	p.SetCores(1, true)
	if got, want := w.answer(), 81*(1+2+3+4+5); got != want {
		t.Errorf("%v, want %d", got, want)
	}
}
