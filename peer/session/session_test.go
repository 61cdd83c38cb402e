package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

func init() {
	satin.Register("session_test.fib", fib)
	satin.Register("session_test.first", first)
	satin.RegisterErr("session_test.odd", odd)
	satin.RegisterErr("session_test.sumOdd", sumOdd)
	satin.Register("session_test.fail", fail)
}

func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

// first searches a tree for a leaf and aborts the rest when it has one.
func first(f *satin.Frame, n int) int {
	if n == 0 {
		return fib(f, 20) - 6764 // 1, and not at once: so that thieves come
	}
	g := satin.Fork(f, first)
	g.Spawn(n - 1)
	g.Spawn(n - 1)
	g.Spawn(n - 1)
	for r := range g.Results() {
		if n > 3 || n%2 == 0 {
			return r // the others are not wanted
		}
	}
	return 1
}

// odd fails for even numbers.
func odd(f *satin.Frame, n int) (int, error) {
	if n%2 == 0 {
		return n, fmt.Errorf("%d is even", n)
	}
	if fib(f, 20) != 6765 {
		return 0, errors.New("wrong")
	}
	return n, nil
}

func sumOdd(f *satin.Frame, n int) (int, error) {
	g := satin.ForkErr(f, odd)
	for i := range n {
		g.Spawn(i)
	}
	sum, errs := 0, 0
	for r, err := range g.Results() {
		if err != nil {
			errs++
		} else {
			sum += r
		}
	}
	if errs != (n+1)/2 {
		return 0, fmt.Errorf("%d errors", errs)
	}
	return sum, fmt.Errorf("sum %d", sum)
}

func fail(f *satin.Frame, n int) int {
	if n == 0 {
		panic("out of fuel")
	}
	x := satin.Spawn(f, fail, n-1)
	y := fib(f, 22)
	return x.Get() + y
}

// net is a network of sessions in this process, which carries messages in the order of each pair, or loses
// and repeats some.
type net struct {
	mu       sync.Mutex
	sessions map[steal.PeerID]*session.Session
	engines  map[steal.PeerID]*rootEngine
	lossy    bool
	run      job.RunID
	members  []steal.Member
	queues   map[steal.PeerID]chan *steal.Message
	wanted   chan struct{} // somebody has a job and no core
	wg       sync.WaitGroup
}

func newNet(t *testing.T, peers, workers int, lossy bool, stealing string) *net {
	t.Helper()
	n := &net{sessions: map[steal.PeerID]*session.Session{}, engines: map[steal.PeerID]*rootEngine{},
		run: job.NewRunID(), lossy: lossy,
		queues: map[steal.PeerID]chan *steal.Message{}, wanted: make(chan struct{}, 100)}
	for i := range peers {
		n.members = append(n.members, steal.Member{ID: steal.PeerID(fmt.Sprintf("p%d", i)),
			Cluster: steal.ClusterID(fmt.Sprintf("c%d", i%2))})
	}
	cfg := steal.Local()
	if lossy { // what was lost is found after some heartbeats
		cfg.HeartbeatEvery, cfg.WideHeartbeatEvery, cfg.ResultRetry = 20*time.Millisecond, 20*time.Millisecond,
			20*time.Millisecond
		cfg.StealTimeout = 20 * time.Millisecond
	}
	for _, m := range n.members {
		p, err := policy.ByName(stealing, "p0")
		if err != nil {
			t.Fatal(err)
		}
		engine := newRootEngine(t, n.run, m.ID, workers)
		s, err := session.New(session.Config{
			Run: steal.Run{ID: n.run, Recovery: steal.Naive}, Self: steal.Address{Peer: m.ID, Inc: 1}, Core: cfg,
			Policy: p, Engine: engine,
			Members: steal.NewMembers(n.members), Send: n.send, Wanted: func() { n.wanted <- struct{}{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		q := make(chan *steal.Message, 10000)
		n.mu.Lock()
		n.sessions[m.ID], n.engines[m.ID], n.queues[m.ID] = s, engine, q
		n.mu.Unlock()
		n.wg.Add(1)
		go func() {
			defer n.wg.Done()
			for msg := range q {
				s.Received(msg)
			}
		}()
		s.SetCores(workers, false)
	}
	t.Cleanup(func() {
		for _, s := range n.sessions {
			s.Close()
		}
		n.mu.Lock()
		for _, q := range n.queues {
			close(q)
		}
		n.queues = nil
		n.mu.Unlock()
		n.wg.Wait()
	})
	return n
}

func (n *net) send(m *steal.Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := n.queues[m.To.Peer]
	if q == nil {
		return
	}
	copies := 1
	if n.lossy {
		switch rand.IntN(20) {
		case 0:
			copies = 0
		case 1:
			copies = 2
		}
	}
	for range copies {
		select {
		case q <- m:
		default:
		}
	}
}

// root runs a job at the first peer and waits for what comes of it.
func (n *net) root(t *testing.T, fn string, arg any) (any, *job.Error, error) {
	t.Helper()
	b, err := wire.Value().Encode(arg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan []byte, 1)
	n.engines["p0"].root(n.sessions["p0"], fn, b, func(o []byte) { ended <- o })
	f, _ := engine.Lookup(fn)
	result, err, panicked, bad := compute.DecodeOutcome(n.run, <-ended, f)
	if bad != nil {
		t.Fatal(bad)
	}
	return result, panicked, err
}

func (n *net) moved() (jobs uint64) {
	for _, s := range n.sessions {
		st := s.Stats().Steal
		jobs += st.JobsTakenLocal + st.JobsTakenWide
	}
	return jobs
}

func (n *net) aborted() (segments uint64) {
	for _, s := range n.sessions {
		segments += s.Stats().Steal.SegmentsAborted
	}
	return segments
}

// Sessions of several peers come to the answer that one program comes to.
func TestAnswerIsTheSequentialOne(t *testing.T) {
	for _, name := range policy.Names() {
		t.Run(name, func(t *testing.T) {
			n := newNet(t, 4, 1, false, name)
			// on a busy machine a thief may come too late for one run
			for first := true; first || n.moved() == 0; first = false {
				if name == "push" && !first {
					return // it pushes what is published, and the jobs of fib are too fine to be published unasked
				}
				if got, p, err := n.root(t, "session_test.fib", 30); got != 832040 || err != nil || p != nil {
					t.Fatalf("fib(30) = %v, %v, %v", got, err, p)
				}
			}
		})
	}
}

// A thief is told when what it has stolen is not wanted any more, and the answer is the same.
func TestAbortsReachThieves(t *testing.T) {
	n := newNet(t, 3, 2, false, "")
	for i := 0; n.aborted() == 0; i++ {
		if i == 1000 {
			t.Fatal("no thief was told of an abort")
		}
		if got, p, err := n.root(t, "session_test.first", 12); got != 1 || err != nil || p != nil {
			t.Fatalf("got %v, %v, %v", got, err, p)
		}
	}
}

// An error of a job reaches whoever spawned it, on whatever peer it ran, and a panic says in which job and where it
// was.
func TestErrorsAndPanicsComeHome(t *testing.T) {
	n := newNet(t, 3, 1, false, "")
	if got, p, err := n.root(t, "session_test.sumOdd", 400); got != 40000 || err == nil || p != nil {
		t.Errorf("got %v, %v, %v", got, err, p)
	}
	_, p, _ := n.root(t, "session_test.fail", 30)
	if p == nil || p.Panic != "out of fuel" || p.Func != "session_test.fail" || len(p.ID.Path) != 30 || p.Peer == "" {
		t.Errorf("got %+v", p)
	}
}

// Messages that are lost or come twice cost a run nothing of its answer.
func TestLostAndRepeatedMessages(t *testing.T) {
	n := newNet(t, 4, 1, true, "")
	if got, p, err := n.root(t, "session_test.fib", 30); got != 832040 || err != nil || p != nil {
		t.Errorf("fib(30) = %v, %v, %v", got, err, p)
	}
}

// What one peer holds when it leaves is run by others.
func TestLeavingCostsTimeOnly(t *testing.T) {
	n := newNet(t, 3, 1, false, "")
	go n.sessions["p1"].Leave(0)
	if got, p, err := n.root(t, "session_test.fib", 32); got != 2178309 || err != nil || p != nil {
		t.Errorf("fib(32) = %v, %v, %v", got, err, p)
	}
}

// FuzzOutcome reads hostile outcomes: whatever is accepted has the function's type.
func FuzzOutcome(f *testing.F) {
	good, err := wire.Value().Encode(&compute.Outcome{Value: []byte{7}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{0xa0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range []string{"session_test.fib", "session_test.odd"} {
			fn, _ := engine.Lookup(name)
			result, err, panicked, bad := compute.DecodeOutcome(job.RunID{}, b, fn)
			if bad != nil || panicked != nil {
				continue
			}
			if _, ok := result.(int); !ok {
				t.Errorf("%s: a result of type %T", name, result)
			}
			if err != nil && !fn.MayFail {
				t.Errorf("%s fails: %v", name, err)
			}
		}
	})
}

// What no correct peer would send is refused, and nothing of it is used.
func TestHostileOutcomes(t *testing.T) {
	never, _ := engine.Lookup("session_test.fib")
	may, _ := engine.Lookup("session_test.odd")
	why := &compute.Failure{Error: "because"}
	for name, c := range map[string]struct {
		outcome compute.Outcome
		fn      engine.Func
		good    bool
	}{
		"a value":                         {compute.Outcome{Value: []byte{7}}, never, true},
		"a panic":                         {compute.Outcome{Panic: &compute.Failure{Panic: "oh"}}, never, true},
		"an error of who may fail":        {compute.Outcome{Value: []byte{7}, Error: why}, may, true},
		"a panic and a value":             {compute.Outcome{Panic: why, Value: []byte{7}}, never, false},
		"a panic and an error":            {compute.Outcome{Panic: why, Error: why}, may, false},
		"an error of who returns none":    {compute.Outcome{Value: []byte{7}, Error: why}, never, false},
		"an error without a value":        {compute.Outcome{Error: why}, may, false},
		"nothing":                         {compute.Outcome{}, never, false},
		"a value of another type":         {compute.Outcome{Value: []byte{0x61, 'x'}}, never, false},
		"a value and bytes that are none": {compute.Outcome{Value: []byte{7, 7}}, never, false},
	} {
		b, err := wire.Value().Encode(&c.outcome)
		if err != nil {
			t.Fatal(err)
		}
		result, returned, panicked, bad := compute.DecodeOutcome(job.RunID{}, b, c.fn)
		if (bad == nil) != c.good {
			t.Errorf("%s: %v", name, bad)
		}
		if bad != nil && (result != nil || returned != nil || panicked != nil) {
			t.Errorf("%s: %v, %v, %v are used", name, result, returned, panicked)
		}
	}
}
