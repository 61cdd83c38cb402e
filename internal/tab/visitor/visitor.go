// Package visitor is the peer in a browser tab: the part of a run that a session is (package session), with one
// partner, the member whose page this is. It knows neither browsers nor websockets: frames come in by Received and
// leave by Config.Send, so the same code runs natively in tests.
//
// It has no name that lasts: its key is made when the page is opened. It trusts its member, which has sent its code,
// and is trusted with nothing itself: it is no candidate for the root, nothing is handed over to it, and what it
// knows of lost work dies with it, so its core is a naive one. What jobs share it asks of its member, and its member of
// it: it is a guest of the member's core of what is shared, too.
package visitor

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// Config says what a visitor has, and how it speaks.
type Config struct {
	// Ticket is what its member, or another one, has signed.
	Ticket []byte
	// Apps are the applications that are registered here, with their versions.
	Apps []statement.App
	// Module fetches a module of a run that there is work of; it may block, and what it gives is checked. nil: this
	// visitor runs none.
	Module func(module.Hash) ([]byte, error)
	// Send sends a frame. It must not block, and may lose it.
	Send func(frame []byte)
	// Breathe lets others have the only thread there is, see engine.Config; nil: there are several.
	Breathe func()
	// Changed is told that Status gives something else; it must not block. nil: nobody wants to know.
	Changed func()
	Log     *slog.Logger
}

// A Visitor takes part in what its member says. Its methods may be called from any goroutine.
type Visitor struct {
	cfg  Config
	key  crypto.PrivKey
	id   string
	only job.RunID // of its ticket; zero: any run

	made committed

	loader *loader

	mu      sync.Mutex
	member  steal.PeerID     // "" until it has greeted
	work    *tab.Work        // nil: there is none
	session *session.Session // nil: there is none, or its module is not here yet
	part    uint64           // the number of the session, or of the last one
	told    uint64           // of its segments: see Segments
	over    Segments         // what is still to be told of a part that has ended
	resting bool
	left    bool
	ended   Status // of the parts that have ended
}

// Status is what a visitor has done so far, for people.
type Status struct {
	Run      job.RunID // zero: there is none at the moment
	Title    string
	App      string
	Owner    string
	Resting  bool
	Busy     bool          // it has a job at the moment
	Executed uint64        // jobs
	Taken    uint64        // jobs stolen from the member
	Given    uint64        // jobs that the member stole
	Worked   time.Duration // of its core
}

// New makes a visitor with a key of its own.
func New(cfg Config) (*Visitor, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, err
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	cfg.Apps = append(slices.Clone(cfg.Apps), consents(&cfg)...)
	v := &Visitor{cfg: cfg, key: key, id: id.String(), loader: new(loader)}
	if t, err := statement.OpenTicket(cfg.Ticket); err == nil { // else the member says what is wrong with it
		v.only = t.Run
	}
	return v, nil
}

// ErrRefused is what Received's error wraps if the member does not let it in: it is no use to come again.
var ErrRefused = errors.New("the member says")

// ID is its peer ID.
func (v *Visitor) ID() string { return v.id }

// Received takes a frame in, in the order in which they came. An error says that the connection is of no use.
func (v *Visitor) Received(b []byte) error {
	f, err := tab.Decode(b)
	if err != nil {
		return err
	}
	v.mu.Lock()
	s := v.session
	v.mu.Unlock()
	switch {
	case f.Greeting != nil:
		return v.greeted(f.Greeting)
	case f.Work != nil:
		return v.begin(f.Work)
	case f.Ask != nil:
		return v.show(f.Ask)
	case f.Over != nil && f.Over.Out():
		return fmt.Errorf("%w: %s", ErrRefused, f.Over.Why)
	case f.Over != nil:
		v.end(f.Over.Run)
	case s == nil, f.Still != nil: // the part has just ended, or it has only been said that somebody is there
	case f.Steal != nil:
		s.Received(f.Steal)
	case f.Shared != nil:
		v.shared(s, f.Shared)
	default:
		return errors.New("the member sent a frame that is not for a tab")
	}
	return nil
}

// greeted answers the greeting.
func (v *Visitor) greeted(g *tab.Greeting) error {
	visit := statement.Visit{Member: g.Member, Challenge: g.Challenge, Ticket: v.cfg.Ticket, Apps: v.cfg.Apps}
	b, err := visit.Sign(v.key)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock() // so that nothing else is said before
	if v.member != "" {
		return errors.New("a second greeting")
	}
	v.member = steal.PeerID(g.Member)
	err = v.send(&tab.Frame{Visit: b})
	if v.resting && err == nil {
		err = v.send(&tab.Frame{Rest: &tab.Rest{Resting: true}})
	}
	return err
}

func (v *Visitor) send(f *tab.Frame) error {
	b, err := f.Encode(tab.MaxFromTab)
	if err == nil {
		v.cfg.Send(b)
	}
	return err
}

// begin takes part in a run.
func (v *Visitor) begin(w *tab.Work) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.left || v.resting {
		return nil // it has said so
	}
	if v.only != (job.RunID{}) && w.Run != v.only {
		return fmt.Errorf("run %s is none that this visitor has come for", w.Run)
	}
	if v.work != nil || v.member == "" {
		return fmt.Errorf("run %s begins before the last one has ended, or before a greeting", w.Run)
	}
	if len(w.Module) > 0 {
		v.work = w
		go v.take(w)
		return nil
	}
	s, err := v.newSession(w)
	if err != nil {
		return err
	}
	v.work, v.session = w, s
	s.SetCores(1, false)
	v.cfg.Changed()
	return nil
}

// newSession makes the next part. The mutex is held.
func (v *Visitor) newSession(w *tab.Work) (*session.Session, error) {
	engine, err := compute.New(compute.Config{Run: w.Run, Self: v.id, Workers: 1, Naive: !w.Hoard, Whole: w.Hoard,
		Breathe: v.cfg.Breathe})
	if err != nil {
		return nil, err
	}
	self := steal.PeerID(v.id)
	const here = "here" // the two are near each other as far as anybody knows
	var s *session.Session
	made := make(chan struct{})
	defer close(made)
	s, err = session.New(session.Config{
		Run:  steal.Run{ID: w.Run, Recovery: steal.Naive, Hoard: w.Hoard},
		Self: steal.Address{Peer: self, Inc: w.Self}, Core: steal.LAN(), Policy: &policy.Adaptive{},
		Members: steal.NewMembers([]steal.Member{{ID: self, Cluster: here, Guest: true},
			{ID: v.member, Cluster: here}}),
		Shared: objects(), SendShared: v.sendShared(w.Run), TellShared: v.tellShared(w.Run),
		Engine: engine, Log: v.cfg.Log,
		Notary: notary{v}, Commit: v.made.of(w),
		Send: func(m *steal.Message) {
			if v.failed(w, m) {
				return
			}
			if v.send(&tab.Frame{Steal: m}) != nil {
				<-made
				v.tooLarge(s, m)
			}
		},
	})
	if err == nil {
		v.part, v.told = v.part+1, 0
	}
	return s, err
}

// tooLarge does what can be done about a message that no frame holds: the job of an outcome goes back.
func (v *Visitor) tooLarge(s *session.Session, m *steal.Message) {
	if m.Result == nil {
		s.SendFailed(m)
		return
	}
	v.giveBack(m)
}

// giveBack sends back the job of an outcome.
func (v *Visitor) giveBack(m *steal.Message) {
	back := *m
	back.Result, back.Return = nil, &steal.Return{Handles: []steal.Handle{m.Result.Handle}}
	_ = v.send(&tab.Frame{Steal: &back})
}

// end ends the part in a run that is over.
func (v *Visitor) end(run job.RunID) {
	v.mu.Lock()
	here := v.work != nil && v.work.Run == run
	v.mu.Unlock()
	if here {
		v.stop(false)
	}
}

// stop ends the part in a run, if there is one, with a goodbye if the run goes on.
func (v *Visitor) stop(goodbye bool) {
	v.mu.Lock()
	s, part, told := v.session, v.part, v.told
	var so Status
	if s != nil {
		so = soFar(s, false)
		v.ended = v.sum(so)
	}
	v.work, v.session = nil, nil
	v.mu.Unlock()
	if s == nil {
		return
	}
	if goodbye {
		s.Leave(0)
	}
	last := soFar(s, true)
	s.Close()
	over, _ := segmentsOf(s, part, told)
	v.mu.Lock()
	v.ended.Executed += last.Executed - so.Executed // a busy engine had not counted all of it before
	v.ended.Worked += last.Worked - so.Worked
	if v.part == part { // else those of the next one are told already
		v.over = over
	}
	v.mu.Unlock()
	v.cfg.Changed()
}

// Rest has it compute nothing until it is told otherwise. What it has goes back to where it came from. It waits for the
// job that runs to look up: at its next Spawn or Get.
func (v *Visitor) Rest(resting bool) {
	v.mu.Lock()
	news := v.resting != resting
	v.resting = resting
	greeted := v.member != "" // else greeted says it
	v.mu.Unlock()
	if !news {
		return
	}
	if resting {
		v.stop(true)
	}
	if greeted {
		_ = v.send(&tab.Frame{Rest: &tab.Rest{Resting: resting}})
	}
	v.cfg.Changed()
}

// Leave ends its part for good, as Rest does.
func (v *Visitor) Leave() {
	v.mu.Lock()
	v.left = true
	v.mu.Unlock()
	v.stop(true)
}

// soFar is what the engine of a part has counted, the last time all of it.
func soFar(s *session.Session, last bool) Status {
	count := s.Figures
	if last {
		count = s.Last
	}
	f := count()
	return Status{Executed: f.Executed, Worked: f.Times.Cores - f.Times.Free}
}

// sum adds the present part, of which the engine says so much, to those that have ended. The mutex is held.
func (v *Visitor) sum(so Status) Status {
	s := v.ended
	s.Run, s.App, s.Title, s.Owner, s.Busy, s.Resting = job.RunID{}, "", "", "", false, v.resting
	if v.session == nil {
		return s
	}
	st := v.session.Stats()
	s.Executed += so.Executed
	s.Worked += so.Worked
	s.Taken += st.Steal.JobsTakenLocal
	s.Given += st.Steal.JobsGivenLocal
	s.Run, s.App, s.Title, s.Owner = v.work.Run, v.work.App, v.work.Title, v.work.Owner
	s.Busy = st.Load.Workers > st.Load.Idle
	return s
}

// Status says what it does and has done. It may wait some ms for the engine.
func (v *Visitor) Status() Status {
	v.mu.Lock()
	defer v.mu.Unlock()
	var so Status
	if v.session != nil {
		so = soFar(v.session, false)
	}
	return v.sum(so)
}
