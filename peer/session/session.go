package session

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
	"github.com/satin-peer/satin/verify"
)

// Config says who takes part in what, and how. All fields but Tell, Answer, Store, Log and those for what is
// shared are needed.
type Config struct {
	// Run is what is computed, who goes on with it when its owner is silent, and what is known already.
	// compute.RootOf makes its root.
	Run     steal.Run
	Self    steal.Address
	Core    steal.Config
	Policy  policy.Policy
	Members *steal.Members
	// Engine runs the jobs. It belongs to the session, which closes it.
	Engine port.Live
	// Send sends a message to m.To.Peer. It must not block and may lose the message; if it knows that it did, it has
	// SendFailed called, on another goroutine.
	Send func(m *steal.Message)
	// Tell tells news to everybody in the run, who are to give them to Hear. It must not block, and may lose,
	// delay and repeat them: then orphans are found later or not at all, and the root is restarted without
	// need.
	Tell func(n *steal.News)
	// Shared bounds what is held of what jobs share.
	Shared sharedobj.Config
	// Argument is what the root's argument names, without which it does not begin. Holds has this peer get it at once,
	// as one that may have to begin it: see driver.Config.
	Argument []sharedobj.Digest
	Holds    bool
	// SendShared and TellShared are Send and Tell for what the core of that has to say; SharedSendFailed and HearShared
	// are what they lead to. Without them a job that names something shared comes back to where it was spawned.
	SendShared func(m *sharedobj.Message)
	TellShared func(n *sharedobj.News)
	// Deposit is given bytes that a job has left to outlive the run, and Bring asked for such: it calls done, on
	// another goroutine, with what it has got, nil for nothing. They must not block. Nil: both go to the core of what
	// is shared.
	Deposit func(b []byte)
	Bring   func(d sharedobj.Digest, done func(b []byte))
	// Answer is told the root's Outcome when this peer holds the root, by the loop, which it must not hold
	// up. Another peer may have had one before, and this one again if it becomes master again.
	Answer func(outcome []byte, of verify.Authors)
	// Store keeps what finishes here beyond the session. A naive run does not use it.
	Store Store
	// Notary vouches for what is computed here; nil: nobody asks. It is called by the loop.
	Notary driver.Notary
	// Proving compares what others compute before it is used; nil: it is used as it comes. Its functions are called by
	// the loop, which they must not hold up.
	Proving *driver.Proving
	// Commit is given what stands behind what is computed here: see driver.Config. It is called by the loop, which it
	// must not hold up.
	Commit func(c *verify.Claim, m *driver.Made)
	// Died is told, by the loop, that the engine is gone. This peer has no part in the run any more: the others
	// hear a goodbye. It must not block.
	Died func(d Death)
	// Wanted is told, by the loop, that there is a job now, and no core for it in this turn; nil: nobody is. It must
	// not block.
	Wanted func()
	Log    *slog.Logger
}

// A Death is the end of an engine.
type Death struct {
	Why error
	// Jobs are those of the segments that it had, by path and identity, if one of them has brought it about.
	Jobs []steal.Job
}

const (
	// inboxLength is how many messages may wait for the loop before Received blocks: of the longest 6 MiB.
	inboxLength = 32
	// gossipLength is how many news may wait for the loop before the next ones are dropped.
	gossipLength = 256
	// figuresPatience is how long Figures and Segments wait for the engine to count.
	figuresPatience = 50 * time.Millisecond
	// lastPatience is how long Last waits for all that it can count.
	lastPatience = 250 * time.Millisecond
	// freshFor is how old the figures of Lately may be.
	freshFor = 100 * time.Millisecond
	// epoch is what the core's clock shows at the start: not zero, which it takes for "never".
	epoch = time.Second
)

// A Session is one peer's part in one run. Its methods may be called from any goroutine.
type Session struct {
	cfg     Config
	driver  *driver.Driver // of the loop
	started time.Time
	inbox   chan *steal.Message
	gossip  chan *steal.News
	shared  sharedIn
	bell    chan struct{}  // news for the loop; see the package comment
	quit    chan struct{}  // closed by Close
	left    chan struct{}  // closed when the core has said goodbye
	wg      sync.WaitGroup // the loop
	stats   atomic.Pointer[Stats]
	figures atomic.Pointer[port.Figures] // the last whole ones
	// countedAt is when these were counted, in ns of now; 0: none were.
	countedAt atomic.Int64
	trace     trace // segments.go
	closing   sync.Once

	mu   sync.Mutex
	news []func(now time.Duration) // from others for the loop, in order

	// Of the loop.
	cores   int
	stance  steal.Stance
	members *steal.Members
	load    steal.Load    // told last
	spoke   bool          // has told one
	ordered uint64        // Run orders
	again   time.Duration // when the engine wants to be asked again, 0 is never
	heard   time.Duration // for which it was listened to, less three times that for which it was not,
	heardAt time.Duration // until then
	asking  []asking
	lasting lasting
	rate    float64
	gone    bool  // said goodbye
	died    error // why the engine is gone
}

// Stats are what a session counts. They are a moment's snapshot, a few milliseconds old at most while
// anything happens.
type Stats struct {
	Steal  steal.Stats
	Shared sharedobj.Stats
	// Load is what the core was told last.
	Load steal.Load
	// Held and Given are the jobs of others that are here, and those of this peer that others hold. Master
	// says that the root runs here, and MasterID is who is master: see steal.Core.Masters.
	Held, Given int
	Master      bool
	MasterID    steal.PeerID
	// Holding is how many jobs are here that others wait for, the root and results on their way home among them.
	Holding int
	// Proofs are what was compared.
	Proofs driver.Proofs
	// Begins says that the engine has cores and has not begun to use them: its process starts, its module is compiled.
	Begins bool
	// Lack is what the root waits for here; nil if it does not wait.
	Lack *driver.Lack
	// Rate is the highest bandwidth that was measured to another cluster, in bytes a second; 0: none was.
	Rate float64
}

// has says whether there is a job here, the root included.
func (st *Stats) has() bool { return st.Held > 0 || st.Master }

// New makes a session, with no cores: call SetCores. The error wraps steal.ErrConfig or
// sharedobj.ErrConfig; the engine is closed then.
func New(cfg Config) (*Session, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	core, err := steal.NewCore(cfg.Core, cfg.Run, cfg.Self, cfg.Members, cfg.Policy, random)
	var shared *sharedobj.Core
	if err == nil {
		shared, err = newShared(&cfg, random)
	}
	if err != nil {
		cfg.Engine.Close()
		return nil, err
	}
	s := &Session{
		cfg: cfg, started: time.Now(), members: cfg.Members,
		inbox: make(chan *steal.Message, inboxLength), gossip: make(chan *steal.News, gossipLength),
		shared: newSharedIn(), bell: make(chan struct{}, 1), quit: make(chan struct{}), left: make(chan struct{}),
	}
	s.lasting = lasting{cfg: &s.cfg, tell: s.tell}
	sides := sides{s}
	with := driver.Config{Core: core, Engine: sides, Transport: sides, Shared: shared, SharedTransport: sides,
		MaxJobBytes: cfg.Core.MaxJobBytes, Notary: cfg.Notary, Proving: cfg.Proving, Argument: cfg.Argument,
		Holds: cfg.Holds, Commit: cfg.Commit}
	if len(cfg.Run.Deputies) > 0 {
		with.Owner = sharedobj.PeerID(cfg.Run.Deputies[0])
	}
	if cfg.Store != nil && cfg.Run.Recovery != steal.Naive {
		with.Store = sides
	}
	s.driver = driver.New(with)
	s.stats.Store(&Stats{})
	s.figures.Store(&port.Figures{})
	sides.Do(&port.Order{Kind: port.LostWork, Orphans: core.Orphans()})
	s.wg.Go(s.loop)
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
	}
}

// Restore takes in the outcomes of a checkpoint, at any time: they are told to the others, and used instead
// of being computed again. They are not to be changed afterwards.
func (s *Session) Restore(parts []steal.Partial) {
	s.tell(func(now time.Duration) { s.driver.Restore(now, parts) })
}

// Shun takes from outcasts what they have here: see steal.Core. What they are told by must not block.
func (s *Session) Shun(o steal.Outcasts) {
	s.tell(func(now time.Duration) { s.driver.Shun(now, o) })
}

// Opened says what a peer has shown of a claim that Config.Proving.Open has asked for: see driver.Driver.
func (s *Session) Opened(asked verify.Open, shown *driver.Shown) {
	s.tell(func(now time.Duration) { s.driver.Opened(now, asked, shown) })
}

// Reran says what came of a trial that Config.Proving.Rerun has been given.
func (s *Session) Reran(t *driver.Trial, r driver.Tried) {
	s.tell(func(now time.Duration) { s.driver.Reran(now, t, r) })
}

// SendFailed says that a message given to Config.Send was certainly not delivered.
func (s *Session) SendFailed(m *steal.Message) {
	s.tell(func(now time.Duration) { s.driver.SendFailed(now, m) })
}

// SetMembers says who takes part in the run.
func (s *Session) SetMembers(members *steal.Members) {
	s.tell(func(now time.Duration) {
		s.members = members
		s.setCores()
		s.driver.SetMembers(now, members)
	})
}

// SetCores says how many cores the run may use from now on, 0 to as many as its engine has; and whether that is for a
// turn only, and others come.
func (s *Session) SetCores(n int, turns bool) {
	s.tell(func(now time.Duration) {
		stands := s.stance.Turns != turns
		s.cores, s.stance.Turns = n, turns
		s.setCores()
		if stands {
			s.driver.Stand(now, s.stance)
		}
	})
}

// setCores tells the engine how many cores it may use, and whether there is anybody to share with.
func (s *Session) setCores() {
	sides{s}.Do(&port.Order{Kind: port.Cores, Max: s.cores, Turns: s.stance.Turns, Others: s.members.Len() > 1})
}

// Finish has this peer take no more jobs of the run from others, or lifts that; what it holds it finishes, until
// Stats.Holding is 0.
func (s *Session) Finish(on bool) {
	s.tell(func(now time.Duration) {
		s.stance.Finish = on
		s.driver.Stand(now, s.stance)
	})
}

// Stats returns the counters.
func (s *Session) Stats() Stats { return *s.stats.Load() }

// Leave ends this peer's part with little loss: jobs that have not begun go back at once, finished results to
// other peers, who tell everybody, and then all partners hear a goodbye and queue again what is left. With
// patience 0, and when it is over, the goodbye comes at once. Leave returns when the goodbyes have been given
// to Send, or when the session is closed. Nothing is received afterwards; Close is still needed.
func (s *Session) Leave(patience time.Duration) {
	s.tell(func(now time.Duration) { s.driver.Leave(now, patience) })
	s.untilGone()
}

// Cancel ends this peer's part because the run is over: nothing is handed over, and partners hear a goodbye.
// It returns as Leave does.
func (s *Session) Cancel() {
	s.tell(func(now time.Duration) { s.driver.Cancel(now) })
	s.untilGone()
}

func (s *Session) untilGone() {
	select {
	case <-s.left:
	case <-s.quit:
	}
}

// Close ends the session without a word to others and closes its engine, with all jobs. It waits for leaves
// that run, which look at their attention word only when they spawn, sync or ask.
func (s *Session) Close() {
	s.closing.Do(func() { close(s.quit) })
	s.wg.Wait()
	s.cfg.Engine.Close()
	s.trace.close()
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
