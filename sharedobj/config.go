package sharedobj

import (
	"errors"
	"fmt"
	"time"
)

// Config bounds and times a core. Default is a fitting one.
type Config struct {
	// MaxBytes bounds what is held, encoded: values, writes, and what is on its way here. The volunteer sets it.
	MaxBytes    uint64
	Room        Room // bounds it over all runs of this peer, too; nil: it is not counted
	MaxEntries  int  // digests of which something is known
	MaxChain    int  // versions that a chain of writes may bridge
	MaxFetches  int  // digests that are being fetched
	MaxAdopted  int  // of them, those that are fetched for others of the cluster
	MaxJobs     int  // jobs from elsewhere, waiting and running
	MaxNeeds    int  // digests that one job may name
	MaxLattices int  // lattices known

	// Patience is how long a job, or a result, waits for what it names before it goes back to its victim, and again as
	// long while pieces of that come: given up, they would have come in vain.
	Patience time.Duration
	// ReadPatience is how long a read inside a job waits before it fails, and a job goes back in any case.
	ReadPatience time.Duration
	// AskTimeout is how long a peer that was asked is waited for before the next is asked too.
	AskTimeout time.Duration
	// PieceTimeout is how long a piece is waited for, on top of four usual times of its source.
	PieceTimeout time.Duration
	// RetryAfter is how long a fetch rests when nobody had what it wants.
	RetryAfter time.Duration
	// MaxWindow is the most pieces that are requested of one source and have not come.
	MaxWindow int
	// ServeRate bounds what one peer gets from here, in bytes a second.
	ServeRate uint64
	// SentRate bounds what of one sender begins to be fetched before a job names it, in bytes a second: one second's,
	// and what goes beyond that with the last value, at once.
	SentRate uint64

	// GossipEvery is how long small writes are collected before they are told (Satin paper, 4.2: combining).
	GossipEvery time.Duration
	// SmallWrite is the most bytes of a write that is told by gossip; larger ones are announced.
	SmallWrite int
	// FlushEvery is the least time between two tellings of one lattice's offers, which are joined meanwhile.
	FlushEvery time.Duration
	// SumsEvery is how often lattices are compared with those of another peer.
	SumsEvery time.Duration
}

// A Room is the memory that this peer has for what jobs share, over all its runs. Its answers are inputs of the core
// like any other.
type Room interface {
	// Hold says how many bytes the core holds from now on, and whether it may. If not, and unless it must because they
	// are here already, what it said before stands. No more than before is always allowed.
	Hold(bytes uint64, must bool) bool
	// Sent is Hold of what one sender has here before a job names it, and all of them ("") have, which is bounded over
	// all runs, too.
	Sent(from PeerID, bytes uint64, must bool) bool
	// Wanted says whether another run was refused since it was asked last: what nothing here needs should go.
	Wanted() bool
}

// Default is for a desktop of today.
func Default() Config {
	return Config{
		MaxBytes: 1 << 30, MaxEntries: 4096, MaxChain: 64, MaxFetches: 256, MaxAdopted: 64, MaxJobs: 4096,
		MaxNeeds: 64, MaxLattices: 256,
		Patience: 30 * time.Second, ReadPatience: 5 * time.Minute, AskTimeout: 2 * time.Second,
		PieceTimeout: 2 * time.Second, RetryAfter: time.Second, MaxWindow: 64, ServeRate: 256 << 20, SentRate: 2 << 20,
		GossipEvery: 20 * time.Millisecond, SmallWrite: 4 << 10, FlushEvery: 75 * time.Millisecond,
		SumsEvery: 3 * time.Second,
	}
}

// ErrConfig is what Validate wraps.
var ErrConfig = errors.New("sharedobj: configuration")

// Validate reports a value out of range, as an error that wraps ErrConfig.
func (c *Config) Validate() error {
	for _, n := range []struct {
		name  string
		value int
		most  int
	}{
		{"MaxEntries", c.MaxEntries, 1 << 20}, {"MaxChain", c.MaxChain, maxTold}, {"MaxFetches", c.MaxFetches, 1 << 16},
		{"MaxAdopted", c.MaxAdopted, c.MaxFetches}, {"MaxJobs", c.MaxJobs, 1 << 20}, {"MaxNeeds", c.MaxNeeds, 1 << 10},
		{"MaxLattices", c.MaxLattices, 1 << 12}, {"MaxWindow", c.MaxWindow, maxPieces},
		{"SmallWrite", c.SmallWrite, maxInline},
	} {
		if n.value < 1 || n.value > n.most {
			return fmt.Errorf("%w: %s is %d; 1 to %d are possible", ErrConfig, n.name, n.value, n.most)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Patience", c.Patience}, {"ReadPatience", c.ReadPatience}, {"AskTimeout", c.AskTimeout},
		{"PieceTimeout", c.PieceTimeout}, {"RetryAfter", c.RetryAfter}, {"GossipEvery", c.GossipEvery},
		{"FlushEvery", c.FlushEvery}, {"SumsEvery", c.SumsEvery},
	} {
		if d.value <= 0 {
			return fmt.Errorf("%w: %s is %v, which is not positive", ErrConfig, d.name, d.value)
		}
	}
	if c.MaxBytes == 0 || c.ServeRate < maxPieces*pieceSize || c.SentRate == 0 {
		return fmt.Errorf("%w: MaxBytes is %d, ServeRate %d and SentRate %d; at least 1, %d and 1 are possible", ErrConfig,
			c.MaxBytes, c.ServeRate, c.SentRate, maxPieces*pieceSize)
	}
	return nil
}

// TooLarge says that a value does not fit into what the volunteer gives.
type TooLarge struct {
	Kind   Kind
	Digest Digest
	Name   string // of the object, or of the function whose argument it is
	Size   uint64 // bytes
	Most   uint64 // Config.MaxBytes
}

func (e *TooLarge) Error() string {
	what, how := fmt.Sprintf("shared object %q", e.Name), "share"
	switch e.Kind {
	case Argument:
		what, how = fmt.Sprintf("an argument of %q", e.Name), "pass"
	case Outcome:
		what, how = "a job's result", "return"
	}
	return fmt.Sprintf("%s (%v) has %d bytes, but this peer holds at most %d at once: allow more memory "+
		"for objects, or %s it in parts", what, e.Digest, e.Size, e.Most, how)
}

// NotFound says that nobody had a version.
type NotFound struct{ Digest Digest }

func (e *NotFound) Error() string {
	return fmt.Sprintf("shared object %v: no peer has this version", e.Digest)
}

// Why a job goes back.
var (
	errPatience = errors.New("what the job names did not come in time")
	errFloor    = errors.New("the value of a lattice that came with the job is not valid")
	errRefused  = errors.New("too many jobs or objects are waited for here")
)

// Refused says whether a job came back for want of room alone: later there may be some.
func Refused(err error) bool { return err == errRefused }
