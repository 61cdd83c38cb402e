package session

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/steal"

	"github.com/satin-peer/satin/internal/engine"
)

// Config says who takes part in what, and how. All fields but Tell, Answer, Store and Log are needed.
type Config struct {
	// Run is what is computed, who goes on with it when its owner is silent, and what is known already.
	// RootOf makes its root.
	Run     steal.Run
	Self    steal.Address
	Core    steal.Config
	Policy  steal.Policy
	Members *steal.Members
	// Workers bounds the cores that the run may ever use here; SetCores says how many it may at the moment.
	Workers int
	// Idle gives the workers' threads the lowest priority there is, see engine.Config.
	Idle bool
	// Send sends a message to m.To.Peer. It must not block and may lose the message; if it knows that it did, it has
	// SendFailed called, on another goroutine.
	Send func(m *steal.Message)
	// Tell tells news to everybody in the run, who are to give them to Hear. It must not block, and may lose,
	// delay and repeat them: then orphans are found later or not at all, and the root is restarted without
	// need.
	Tell func(n *steal.News)
	// Answer is told the root's Outcome when this peer holds the root, by the loop, which it must not hold
	// up. Another peer may have had one before, and this one again if it becomes master again.
	Answer func(outcome []byte)
	// Store keeps what finishes here beyond the session. A naive run does not use it.
	Store Store
	// KeepAfter is how long a job must have run in place that its outcome is kept, DefaultKeepAfter if 0;
	// below zero, none is. A naive run keeps none.
	KeepAfter time.Duration
	Log       *slog.Logger
}

// DefaultKeepAfter is as long as a job takes whose outcome is worth some microseconds.
const DefaultKeepAfter = 20 * time.Millisecond

// pulseShare is how many times KeepAfter a job's end may be hidden in the frame of another one: see
// engine.Pool.Pulse.
const pulseShare = 5

const (
	// inboxLength is how many messages may wait for the loop before Received blocks.
	inboxLength = 256
	// gossipLength is how many news may wait for the loop before the next ones are dropped.
	gossipLength = 256
	// lookEvery is how often a session whose workers are busy looks whether there is work to give again:
	// workers do not report what they spawn.
	lookEvery = 2 * time.Millisecond
	// epoch is what the core's clock shows at the start: not zero, which it takes for "never".
	epoch = time.Second
)

// A Session is one peer's part in one run. Its methods may be called from any goroutine.
type Session struct {
	cfg     Config
	core    *steal.Core // of the loop
	pool    *engine.Pool
	started time.Time
	inbox   chan *steal.Message
	gossip  chan *steal.News
	bell    chan struct{}  // news for the loop; see the package comment
	takes   chan takeOrder // to the taker
	quit    chan struct{}  // closed by Close
	left    chan struct{}  // closed when the core has said goodbye
	wg      sync.WaitGroup // the loop and the taker
	stats   atomic.Pointer[Stats]
	trace   trace // segments.go
	closing sync.Once

	unheard atomic.Uint64 // news that were dropped
	orphans atomic.Pointer[steal.Orphans]
	kept    keptQueue

	mu    sync.Mutex
	found []foundJob                // from workers for the loop
	news  []func(now time.Duration) // from others for the loop, in order

	// Of the loop.
	segments map[steal.SegmentID]*engine.Guest
	root     steal.SegmentID // among segments while this peer is the run's master; 0 is none
	given    map[steal.Ref]given
	refs     map[*engine.Taken]steal.Ref
	lastRef  steal.Ref
	taking   int                    // Take orders not answered
	early    map[*engine.Taken]bool // dropped before their Take was answered; empty when taking is 0
	members  *steal.Members
	runs     uint64 // Run orders received
	reported steal.Load
	everSaid bool
	bad      uint64 // jobs and outcomes that could not be decoded
	stored   uint64 // outcomes that the store took,
	unstored uint64 // and did not
	gone     bool   // said goodbye
	pulseAt  time.Duration
}

// Stats are what a session counts. They are a moment's snapshot, a few milliseconds old at most while
// anything happens.
type Stats struct {
	Steal steal.Stats
	// Load is what the core was told last.
	Load steal.Load
	// Held and Given are the jobs of others that are here, and those of this peer that others hold. Master
	// says that the root runs here.
	Held, Given int
	Master      bool
	// Malformed counts the jobs and outcomes that could not be decoded.
	Malformed uint64
	// Unheard counts the news that came while too many waited, and were dropped.
	Unheard uint64
	// Unkept counts the outcomes of long jobs that were not kept, because the loop was behind, they were too
	// large, or encoding them took too long.
	Unkept uint64
	// Stored counts the outcomes that the store took, Unstored those that it did not, because they came
	// faster than it writes. Trouble is why it cannot write at all at the moment: the run goes on, and would
	// have to be computed again if all was lost.
	Stored, Unstored uint64
	Trouble          error
}

// New makes a session and starts its pool, with no cores: call SetCores. The error wraps steal.ErrConfig or
// is the pool's.
func New(cfg Config) (*Session, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case cfg.Run.Recovery == steal.Naive || cfg.KeepAfter < 0:
		cfg.KeepAfter = 0
	case cfg.KeepAfter == 0:
		cfg.KeepAfter = DefaultKeepAfter
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	core, err := steal.NewCore(cfg.Core, cfg.Run, cfg.Self, cfg.Members, cfg.Policy, random)
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, core: core, started: time.Now(),
		inbox: make(chan *steal.Message, inboxLength), gossip: make(chan *steal.News, gossipLength),
		bell: make(chan struct{}, 1), takes: make(chan takeOrder, cfg.Core.MaxAsks),
		quit: make(chan struct{}), left: make(chan struct{}),
		segments: map[steal.SegmentID]*engine.Guest{}, given: map[steal.Ref]given{},
		refs:  map[*engine.Taken]steal.Ref{},
		early: map[*engine.Taken]bool{}, members: cfg.Members,
	}
	s.stats.Store(&Stats{})
	s.orphans.Store(core.Orphans())
	pool := engine.Config{Workers: cfg.Workers, Idle: cfg.Idle, Host: outside{s: s}}
	if !s.naive() {
		pool.Host, pool.KeepAfter = salvager{outside{s: s}}, cfg.KeepAfter
	}
	if s.pool, err = engine.NewPool(pool); err != nil {
		return nil, err
	}
	s.pool.SetCores(0)
	s.wg.Add(2)
	go s.loop()
	go s.taker()
	return s, nil
}

// Received takes a message in. It blocks while too many wait, and returns at once when the session is closed.
func (s *Session) Received(m *steal.Message) {
	select {
	case s.inbox <- m:
	case <-s.quit:
	}
}

// Hear takes gossip of this run in. It never blocks; while too many wait, they are dropped.
func (s *Session) Hear(n *steal.News) {
	select {
	case s.gossip <- n:
	default:
		s.unheard.Add(1)
	}
}

// Restore takes in the outcomes of a checkpoint, at any time: they are told to the others, and used instead
// of being computed again. They are not to be changed afterwards.
func (s *Session) Restore(parts []steal.Partial) {
	s.tell(func(now time.Duration) { s.carryOut(now, s.core.Restore(now, parts)) })
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
func (s *Session) Pool() *engine.Pool { return s.pool }

// Leave ends this peer's part with little loss: jobs that have not begun go back at once, finished results to
// other peers, who tell everybody, and then all partners hear a goodbye and queue again what is left. With
// patience 0, and when it is over, the goodbye comes at once. Leave returns when the goodbyes have been given
// to Send, or when the session is closed. Nothing is received afterwards; Close is still needed.
func (s *Session) Leave(patience time.Duration) {
	s.tell(func(now time.Duration) { s.carryOut(now, s.core.Leave(now, patience)) })
	s.untilGone()
}

// Cancel ends this peer's part because the run is over: nothing is handed over, and partners hear a goodbye.
// It returns as Leave does.
func (s *Session) Cancel() {
	s.tell(func(now time.Duration) { s.carryOut(now, s.core.Cancel(now)) })
	s.untilGone()
}

func (s *Session) untilGone() {
	select {
	case <-s.left:
	case <-s.quit:
	}
}

// Close ends the session without a word to others and aborts its jobs. It waits for leaves that run, which
// look at their attention word only when they spawn, sync or ask.
func (s *Session) Close() {
	s.closing.Do(func() { close(s.quit) })
	s.wg.Wait()
	s.pool.Close()
	s.trace.close()
}

// dropped hears that nobody waits for a given-away job any more.
func (s *Session) dropped(t *engine.Taken) {
	s.tell(func(now time.Duration) {
		if ref, ok := s.refs[t]; ok {
			_, _ = s.forget(ref)
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
