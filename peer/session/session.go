package session

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/steal"
)

// Config says who takes part in what, and how. All fields but Log are needed.
type Config struct {
	Run     satin.RunID
	Self    steal.Address
	Core    steal.Config
	Policy  steal.Policy
	Members *steal.Members
	// Workers bounds the cores that the run may ever use here; SetCores says how many it may at the moment.
	Workers int
	// Idle gives the workers' threads the lowest priority there is, see satin.Config.
	Idle bool
	// Send sends a message to m.To.Peer. It must not block and may lose the message; if it knows that it did, it has
	// SendFailed called, on another goroutine.
	Send func(m *steal.Message)
	Log  *slog.Logger
}

// ErrClosed is the error of a root job whose session was closed.
var ErrClosed = errors.New("the session was closed")

const (
	// inboxLength is how many messages may wait for the loop before Received blocks.
	inboxLength = 256
	// lookEvery is how often a session whose workers are busy looks whether there is work to give again: workers do not
	// report what they spawn.
	lookEvery = 2 * time.Millisecond
	// epoch is what the core's clock shows at the start: not zero, which it takes for "never".
	epoch = time.Second
)

// A Session is one peer's part in one run. Its methods may be called from any goroutine.
type Session struct {
	cfg     Config
	core    *steal.Core // of the loop
	pool    *satin.Pool
	started time.Time
	inbox   chan *steal.Message
	bell    chan struct{}  // news for the loop; see the package comment
	takes   chan takeOrder // to the taker
	quit    chan struct{}  // closed by Close
	left    chan struct{}  // closed when the loop has said goodbye
	wg      sync.WaitGroup // the loop and the taker
	stats   atomic.Pointer[Stats]
	trace   trace // segments.go
	closing sync.Once

	mu   sync.Mutex
	news []func(now time.Duration) // from others for the loop, in order

	// Of the loop.
	segments map[steal.SegmentID]*satin.Guest
	given    map[steal.Ref]*satin.Taken
	refs     map[*satin.Taken]steal.Ref
	lastRef  steal.Ref
	taking   int                   // Take orders not answered
	early    map[*satin.Taken]bool // dropped before their Take was answered; empty when taking is 0
	members  *steal.Members
	runs     uint64 // Run orders received
	reported steal.Load
	everSaid bool
	bad      uint64 // jobs and outcomes that could not be decoded
	gone     bool   // said goodbye
}

// Stats are what a session counts. They are a moment's snapshot, a few milliseconds old at most while anything happens.
type Stats struct {
	Steal steal.Stats
	// Load is what the core was told last.
	Load steal.Load
	// Held and Given are the jobs of others that are here, and those of this peer that others hold.
	Held, Given int
	// Malformed counts the jobs and outcomes that could not be decoded.
	Malformed uint64
}

// New makes a session and starts its pool, with no cores: call SetCores. The error wraps steal.ErrConfig or is the pool's.
func New(cfg Config) (*Session, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	core, err := steal.NewCore(cfg.Core, steal.Run{ID: cfg.Run, Recovery: steal.Naive}, cfg.Self, cfg.Members, cfg.Policy, random)
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, core: core, started: time.Now(),
		inbox: make(chan *steal.Message, inboxLength), bell: make(chan struct{}, 1), takes: make(chan takeOrder, cfg.Core.MaxAsks),
		quit: make(chan struct{}), left: make(chan struct{}),
		segments: map[steal.SegmentID]*satin.Guest{}, given: map[steal.Ref]*satin.Taken{}, refs: map[*satin.Taken]steal.Ref{},
		early: map[*satin.Taken]bool{}, members: cfg.Members,
	}
	s.stats.Store(&Stats{})
	if s.pool, err = satin.NewPool(satin.Config{Workers: cfg.Workers, Idle: cfg.Idle, Outside: s}); err != nil {
		return nil, err
	}
	s.pool.SetCores(0)
	s.wg.Add(2)
	go s.loop()
	go s.taker()
	return s, nil
}

// Root runs the run's root job here. ended is called once, by a worker, with its encoded Outcome; not if the session is
// closed before. The error says that there is no such function or that its argument does not fit.
func (s *Session) Root(fn string, arg []byte, ended func(outcome []byte)) error {
	id := satin.JobID{Run: s.cfg.Run}
	_, err := s.submit(id, fn, arg, false, ended)
	return err
}

// submit decodes an argument and starts the job.
func (s *Session) submit(id satin.JobID, fn string, arg []byte, restarted bool, ended func(outcome []byte)) (*satin.Guest, error) {
	f, ok := satin.Lookup(fn)
	if !ok {
		return nil, fmt.Errorf("there is no function %q here", clip(fn, maxFailureName))
	}
	v, err := decodeValue(arg, f.Arg)
	if err != nil {
		return nil, fmt.Errorf("the argument of %s: %w", fn, err)
	}
	self := string(s.cfg.Self.Peer)
	seg := s.trace.begin(id.Path, restarted)
	g, err := s.pool.Submit(id, fn, v, func(result any, err error) {
		s.trace.end(seg, SegmentDone)
		ended(encodeOutcome(self, id, fn, result, err))
	})
	if s.trace.runs(seg, g); err != nil {
		s.trace.end(seg, SegmentAborted)
	}
	return g, err
}

// Received takes a message in. It blocks while too many wait, and returns at once when the session is closed.
func (s *Session) Received(m *steal.Message) {
	select {
	case s.inbox <- m:
	case <-s.quit:
	}
}

// SendFailed says that a message given to Config.Send was certainly not delivered.
func (s *Session) SendFailed(m *steal.Message) {
	s.tell(func(now time.Duration) { s.carryOut(now, s.core.SendFailed(now, m)) })
}

// SetMembers says who takes part in the run.
func (s *Session) SetMembers(members *steal.Members) {
	s.tell(func(now time.Duration) {
		s.members = members
		s.carryOut(now, s.core.SetMembers(now, members))
	})
}

// SetCores says how many cores the run may use from now on, 0 to Config.Workers.
func (s *Session) SetCores(n int) {
	s.pool.SetCores(n)
	s.ring()
}

// Stats returns the counters.
func (s *Session) Stats() Stats { return *s.stats.Load() }

// Pool is the pool that runs the jobs, for its statistics and progress.
func (s *Session) Pool() *satin.Pool { return s.pool }

// Leave says goodbye to all partners, who queue again what this peer holds. It waits until the messages have been given
// to Send, or the session is closed. Nothing is received afterwards; Close is still needed.
func (s *Session) Leave() {
	s.tell(func(now time.Duration) {
		if !s.gone {
			s.gone = true
			s.carryOut(now, s.core.Leave(now, 0))
			close(s.left)
		}
	})
	select {
	case <-s.left:
	case <-s.quit:
	}
}

// Close ends the session without a word to others and aborts its jobs. It waits for leaves that run, which look at their
// attention word only when they spawn, sync or ask.
func (s *Session) Close() {
	s.closing.Do(func() { close(s.quit) })
	s.wg.Wait()
	s.pool.Close()
	s.trace.close()
}

// Hungry says that a core found no work: see satin.Outside.
func (s *Session) Hungry() { s.ring() }

// Fed says that an idle core got work, see satin.OutsideFed.
func (s *Session) Fed() { s.ring() }

// Dropped says that nobody waits for a given-away job any more.
func (s *Session) Dropped(t *satin.Taken) {
	s.tell(func(now time.Duration) {
		if ref, ok := s.refs[t]; ok {
			s.forget(ref)
			s.carryOut(now, s.core.Aborted(now, ref))
		} else if s.taking > 0 {
			s.early[t] = true
		}
	})
}

// tell gives the loop news. It never blocks.
func (s *Session) tell(f func(now time.Duration)) {
	s.mu.Lock()
	s.news = append(s.news, f)
	s.mu.Unlock()
	s.ring()
}

func (s *Session) ring() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// now is the core's clock. It does not run while the machine sleeps.
func (s *Session) now() time.Duration { return time.Since(s.started) + epoch }
