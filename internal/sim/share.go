package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// Share has the jobs of a run share values: the root makes some constants, an object that it writes before each phase,
// and a lattice, and all jobs name them. Some jobs make a value of their own and return its handle, which every frame
// that gets it reads. Some have a guard. All of that goes through the core of package sharedobj, on the same driver.
type Share struct {
	Core      sharedobj.Config
	Constants int
	Given     bool    // the root's argument names them: see handed.go
	Largest   int     // bytes of a value, at least 1
	Makers    float64 // share of the leaves that make a value
	Chains    int     // of so many objects they write a new version each in each step; 0: they make constants
	Guards    float64 // share of the jobs that have a guard
	// Bound makes the lattice a bound: what a leaf costs is its result, of which the least is wanted, and leaves
	// that cost more than what is known end at once.
	Bound bool
	Large bool // the arguments of jobs are too large to go with them
	// Write, if it is not 0, is how many bytes each write has of the object that the root writes, which it replaces.
	// Jobs name nothing else then, neither constants nor the lattice, and offer nothing.
	Write int
	// MaxOutcome is that of the driver: what jobs come to may be more.
	MaxOutcome int
}

// OneObject has the root write so many bytes before each step. A peer may hold some of its versions.
func OneObject(bytes int) *Share {
	s := &Share{Core: sharedobj.Default(), Write: bytes}
	s.Core.MaxBytes = 8 * uint64(bytes)
	return s
}

// Invariants of runs that share.
const (
	readsNamed   = "reads-named"   // what an engine gets as a digest's value is what was named
	guardHolds   = "guard-holds"   // no job begins before all that it names is here and its guard is true
	floorHolds   = "floor-holds"   // nor before the lattice has what its parent saw
	pinnedStays  = "pinned-stays"  // nothing is forgotten that a running job names, or has a handle of
	handleHolds  = "handle-holds"  // a handle in a result leads to its value
	latticesMeet = "lattices-meet" // when faults have ended and nobody offers any more, lattices become equal
	onlyOffered  = "only-offered"  // a lattice has nothing that was not offered
)

// shared is what a run shares, as it truly is.
type shared struct {
	*Share
	seed      uint64
	truth     map[sharedobj.Digest][]byte
	kinds     map[sharedobj.Digest]sharedobj.Recipe
	moves     map[sharedobj.Digest]*sharedobj.Body
	constants []sharedobj.Digest
	versions  []sharedobj.Digest
	chains    [][]sharedobj.Digest // versions of what jobs write
	lattice   sharedobj.Digest
	madeBy    map[uint64]sharedobj.Digest // by the leaf's key
	offered   map[uint32]bool
	outcomes  map[sharedobj.Digest][]byte // that are told of by their references
	met       int64                       // when the last peer came to know the lattice
}

func newShared(c *Config) *shared {
	if c.Share == nil {
		return nil
	}
	s := &shared{Share: c.Share, seed: c.Seed, truth: map[sharedobj.Digest][]byte{},
		kinds: map[sharedobj.Digest]sharedobj.Recipe{}, moves: map[sharedobj.Digest]*sharedobj.Body{},
		madeBy: map[uint64]sharedobj.Digest{}, offered: map[uint32]bool{},
		outcomes: map[sharedobj.Digest][]byte{}}
	for i := range c.Share.Constants {
		s.constants = append(s.constants, s.enter(sharedobj.Recipe{Kind: sharedobj.Constant,
			Name: fmt.Sprint("constant ", i)}, s.bytes(uint64(i), s.Largest)))
	}
	s.versions = s.first("object", 1<<20, max(s.Largest, s.Write))
	for i := range c.Share.Chains {
		s.chains = append(s.chains, s.first(fmt.Sprint("chain ", i), 1<<21+uint64(i), madeBytes))
	}
	s.lattice = s.enter(sharedobj.Recipe{Kind: sharedobj.Lattice, Name: "lattice"}, []byte("seed"))
	return s
}

// bytes makes a value.
func (s *shared) bytes(key uint64, most int) []byte {
	r := rand.New(rand.NewPCG(s.seed, key))
	b := make([]byte, 1+r.IntN(most))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (s *shared) enter(r sharedobj.Recipe, state []byte) sharedobj.Digest {
	r.State = sharedobj.Build(state).Blob
	d := r.Digest()
	s.truth[d], s.kinds[d] = state, r
	return d
}

// move is the object's global method, neither commutative nor idempotent; but a larger write replaces the state.
func move(state, write []byte) []byte {
	if len(write) > smallWrite {
		return write
	}
	next := bytes.Clone(state)
	carry := byte(len(write))
	for i := range next {
		carry = carry*31 + write[i%len(write)]
		next[i] = next[i]*5 + carry
	}
	return next
}

// smallWrite is how many bytes a write has that replaces nothing.
const smallWrite = 9

// first begins the versions of an object.
func (s *shared) first(name string, key uint64, most int) []sharedobj.Digest {
	return []sharedobj.Digest{s.enter(sharedobj.Recipe{Kind: sharedobj.Phased, Name: name}, s.bytes(key, most))}
}

// version is the object before a phase.
func (s *shared) version(phase int32) sharedobj.Digest { return s.nth(&s.versions, phase) }

// nth is a version of an object.
func (s *shared) nth(of *[]sharedobj.Digest, n int32) sharedobj.Digest {
	for int(n) >= len(*of) {
		old := (*of)[len(*of)-1]
		write := binary.BigEndian.AppendUint64([]byte{1}, mix(s.seed+uint64(len(*of))))
		write = append(write, make([]byte, max(0, s.Write-smallWrite))...)
		body := sharedobj.Build(write)
		d := s.enter(sharedobj.Recipe{Kind: sharedobj.Phased, Name: s.kinds[old].Name, Parent: old, Write: body.Blob},
			move(s.truth[old], write))
		s.moves[d] = body
		*of = append(*of, d)
	}
	return (*of)[n]
}

// made is the value of a leaf, if it makes one.
func (s *shared) made(e *entry) (d sharedobj.Digest, ok bool) {
	n := e.node
	if unit(mix(n.Key^0x6d616465)) >= s.Makers {
		return d, false
	}
	if s.Chains > 0 {
		return s.nth(&s.chains[n.Key%uint64(s.Chains)], 1+e.version/phasesOfStep), true
	}
	if d, ok = s.madeBy[n.Key]; !ok {
		d = s.enter(sharedobj.Recipe{Kind: sharedobj.Constant, Name: "made"}, s.bytes(n.Key, madeBytes))
		s.madeBy[n.Key] = d
	}
	return d, true
}

// madeBytes is the most that a job makes: all that a frame has handles of is pinned.
const madeBytes = 500

// guarded says whether a job has a guard: that a number, which its spawner offers when the job leaves, is known.
func (s *shared) guarded(n Node) bool { return unit(mix(n.Key^0x6775617264)) < s.Guards }

// numberOf is what a job offers, or waits for. With a bound it is a leaf's cost.
func numberOf(n Node) uint32 { return uint32(mix(n.Key^0x6f66666572) >> 40) }

// names is what a job that leaves names; the lattice's value is what its parent has seen.
func (s *shared) names(e *entry, seen numbers) *port.Names {
	n := &port.Names{Guarded: s.guarded(e.node)}
	if s.Write > 0 {
		n.Needs = []sharedobj.Need{{Digest: s.version(e.version)}}
		return n
	}
	for _, d := range append([]sharedobj.Digest{s.version(e.version)}, s.constants...) {
		n.Needs = append(n.Needs, sharedobj.Need{Digest: d})
	}
	need := sharedobj.Need{Digest: s.lattice}
	if !n.Guarded { // else the guard has something to wait for
		need.Floor = seen.encode()
	}
	n.Needs = append(n.Needs, need)
	return n
}

// numbers is the value of the lattice: a set, or, of a bound, the least number alone.
type numbers map[uint32]bool

func (s *shared) join(to numbers, n uint32) (changed bool) {
	if to[n] {
		return false
	}
	if s.Bound {
		if least, some := to.least(); some && least < n {
			return false
		}
		clear(to)
	}
	to[n] = true
	return true
}

// holds says whether a value is at least another one.
func (s *shared) holds(all, some numbers) bool {
	if s.Bound {
		a, there := all.least()
		b, wanted := some.least()
		return !wanted || there && a <= b
	}
	for n := range some {
		if !all[n] {
			return false
		}
	}
	return true
}

func (s numbers) least() (least uint32, some bool) {
	for n := range s {
		if !some || n < least {
			least, some = n, true
		}
	}
	return least, some
}

func (s numbers) encode() (b []byte) {
	for _, n := range slices.Sorted(maps.Keys(s)) {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

func decodeNumbers(b []byte) numbers {
	s := numbers{}
	for ; len(b) >= 4; b = b[4:] {
		s[binary.BigEndian.Uint32(b)] = true
	}
	return s
}

// A Least is a tree of which the least cost of a leaf is wanted: what a leaf comes to is told by its own key.
type Least struct{ Tree }

// combined is what two results come to.
func combined(t Tree, a, b Result) Result {
	if _, ok := t.(Least); !ok {
		return a.plus(b)
	}
	switch {
	case a.Leaves == 0 || b.Leaves > 0 && b.Sum < a.Sum:
		return b
	default:
		return a
	}
}

// sharing has some schedules share values. It draws for itself, so that what the others draw stays.
func sharing(seed uint64, c *Config) {
	const oneOf = 5
	if seed%oneOf != 3 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 0x736861726564))
	core := sharedobj.Default()
	core.Patience = time.Duration(500+r.IntN(5000)) * time.Millisecond
	core.ReadPatience = 4 * core.Patience
	core.AskTimeout = time.Duration(100+r.IntN(1000)) * time.Millisecond
	core.PieceTimeout = time.Duration(200+r.IntN(1000)) * time.Millisecond
	core.RetryAfter = time.Duration(50+r.IntN(500)) * time.Millisecond
	core.SumsEvery = time.Duration(20+r.IntN(80)) * time.Millisecond
	core.FlushEvery = time.Duration(10+r.IntN(100)) * time.Millisecond
	core.SmallWrite = 1 << (4 + r.IntN(9))
	c.Share = &Share{Core: core, Constants: r.IntN(3), Largest: 1 + r.IntN(40_000), Bound: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		c.Share.Makers = r.Float64() / 4
	}
	// What jobs name fits, and not much more: versions and made values are forgotten.
	c.Share.Core.MaxBytes = uint64((c.Share.Constants+3)*c.Share.Largest + 20_000 + r.IntN(60_000))
	if r.IntN(2) == 0 {
		c.Share.Guards = r.Float64() / 2
	}
	split, ok := c.Tree.(*Split) // of a search any result will do, so there is nothing to be least
	if c.Share.Bound = c.Share.Bound && ok; c.Share.Bound {
		c.Tree, c.Share.Guards = Least{c.Tree}, 0
	} else if ok && r.IntN(2) == 0 {
		body := *split
		steps := 1 + r.IntN(4)
		body.Total /= time.Duration(steps)
		c.Tree = &Steps{Name: "steps", Count: steps, Serial: time.Millisecond, Body: body}
	}
	if ok && r.IntN(2) == 0 {
		largeArguments(r, c, split)
	}
	if ok && r.IntN(2) == 0 {
		largeOutcomes(r, c, split)
	}
	if c.Share.Makers > 0 && r.IntN(2) == 0 {
		c.Share.Chains = 1 + r.IntN(3)
	}
	c.Share.Given = c.Share.Constants > 0 && r.IntN(2) == 0
	total := Sequential(c.Tree)
	c.Want = &total.Result
}

// largeArguments has jobs leave whose arguments are too large to go with them, as far as there is room for them.
func largeArguments(r *rand.Rand, c *Config, split *Split) {
	arg := 4000 + r.IntN(16_000)
	split.Arg = arg
	if s, ok := c.Tree.(*Steps); ok {
		s.Body.Arg = arg
	}
	c.Core.MaxJobBytes = 4000 + r.IntN(4000) // what else they name may be as much
	c.Share.Core.MaxBytes += uint64(arg * r.IntN(20))
	c.Share.Large = arg > c.Core.MaxJobBytes
}

// largeOutcomes has jobs come to more than goes with a message, as far as there is room for it.
func largeOutcomes(r *rand.Rand, c *Config, split *Split) {
	split.Result = 1000 + r.IntN(30_000)
	if s, ok := c.Tree.(*Steps); ok {
		s.Body.Result = split.Result
	}
	c.Share.MaxOutcome = 500 + r.IntN(split.Result) // names are as much as that
	c.Share.Core.MaxBytes += uint64(split.Result * r.IntN(10))
}

// truly is the outcome that is told of, perhaps by its reference.
func (s *shared) truly(outcome []byte) []byte {
	if d, _, ok := port.Referred(outcome); ok {
		return s.outcomes[d]
	}
	return outcome
}

// settledAt is when lattices must be alike: some time after the run has ended, the last fault, and the last peer that
// came to know the lattice: one that hears nothing of the answer for a while may begin the root again.
func (w *world) settledAt() int64 {
	at := max(w.doneAt, w.harm.calm.since, w.shared.met)
	for i := range w.cfg.Faults {
		at = max(at, int64(w.cfg.Faults[i].At+w.cfg.Faults[i].For))
	}
	return at + int64(settling*w.shared.Core.SumsEvery+5*time.Second)
}

// settling is how many comparisons it takes some twenty peers to have all: seed 6463 took 45.
const settling = 60

// clogged says whether a link has more to carry than it can in the time that lattices have to become alike: some worlds
// compare them more often than their links bear.
func (w *world) clogged() bool {
	n := len(w.net.links.Sizes())
	for from := range n {
		for to := range n {
			if w.net.links.Backlog(time.Duration(w.now), from, to) > time.Second {
				return true
			}
		}
	}
	return false
}

// checkLattices looks whether all who know the lattice have the same of it, and their own offers.
func (w *world) checkLattices() {
	if w.shared == nil || w.clogged() {
		return
	}
	var first *sharer
	for _, p := range w.peers {
		if !stays(p) || !p.engine.sharing.known {
			continue
		}
		s := p.engine.sharing
		if len(s.applied) > 0 {
			s.violate(readsNamed, "was not told what became of %d writes", len(s.applied))
		}
		if first == nil {
			first = s
		}
		if !s.holds(s.value, s.mine) || !s.holds(s.value, first.value) || !s.holds(first.value, s.value) {
			panic(violation(latticesMeet, "%s has %d numbers, %s has %d", first.of.id, len(first.value), p.id,
				len(s.value)))
		}
	}
}
