package library

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/sharedobj"
)

// Hash names a module.
type Hash = module.Hash

// PeerID names a member of the swarm.
type PeerID = sharedobj.PeerID

// Config has bounds and periods.
type Config struct {
	Most    int64            // bytes on the disk
	Kind    Kind             // what is kept
	Objects sharedobj.Config // its MaxBytes bounds the memory
	Wanted  int              // modules that are being fetched
	Waiting int              // questions that wait for the disk
	// Again is how long a fetch rests when nobody had the module.
	Again time.Duration
}

// A Kind is what a library has: constants of one name.
type Kind struct {
	Name   string // for people
	Suffix string // of the files
	Most   int64  // bytes of one
	// AsConstant names bytes, and Is says whether a recipe may be one of these.
	AsConstant func(b []byte) (*sharedobj.Recipe, *sharedobj.Body)
	Is         func(*sharedobj.Recipe) bool
}

// Modules is the kind of a peer's modules.
func Modules() Kind {
	return Kind{"module", ".wasm", module.MaxSize, module.AsConstant, module.IsModule}
}

// DefaultConfig is for a desktop's modules, with so many bytes of its disk.
func DefaultConfig(most int64) Config {
	o := sharedobj.Default()
	o.MaxBytes, o.MaxEntries, o.MaxFetches, o.MaxAdopted, o.ReadPatience = 64<<20, 256, 32, 16, 30*time.Second
	return Config{Most: most, Kind: Modules(), Objects: o, Wanted: 32, Waiting: 256, Again: 5 * time.Second}
}

// Orders are what one input made the core want done, in this order.
type Orders struct {
	Remove   []Hash               // from the disk
	Store    []Stored             // on the disk
	Load     []Hash               // from the disk: Core.Loaded
	Here     []Hash               // that were wanted
	Messages []*sharedobj.Message // to be sent; they may be lost
}

// Stored is a module that is to be written.
type Stored struct {
	Hash  Hash
	Bytes []byte
}

// Core is what one peer knows and decides about modules. Each input says what time it is.
type Core struct {
	cfg     Config
	objects *sharedobj.Core
	memory  map[Hash][]byte // what objects holds
	shelf   shelf
	wanted  map[Hash]*want
	loading map[Hash][]*sharedobj.Message // questions that wait for the disk
	waits   int
	out     Orders
}

// want is a module that runs wait for.
type want struct {
	by      map[string]bool // names of runs
	owner   PeerID          // of the first of them; "" is this machine's user
	holders []PeerID
	again   time.Duration // when it is tried again; 0: it is being fetched
}

// New makes the core of a peer; files are what is on the disk. The error is that of sharedobj.NewCore.
func New(cfg Config, self PeerID, rand sharedobj.Rand, files []File) (*Core, error) {
	o, err := sharedobj.NewCore(cfg.Objects, self, nil, rand)
	if err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, objects: o, memory: map[Hash][]byte{}, shelf: newShelf(cfg.Most), wanted: map[Hash]*want{},
		loading: map[Hash][]*sharedobj.Message{}}
	for _, f := range files {
		c.shelf.put(f)
	}
	return c, nil
}

// Has says whether a module is here.
func (c *Core) Has(h Hash) bool { return c.memory[h] != nil || c.shelf.has(h) }

// InMemory is a module's bytes, if they are there; not to be changed.
func (c *Core) InMemory(h Hash) []byte { return c.memory[h] }

// Wanted says whether a module is being fetched.
func (c *Core) Wanted(h Hash) bool { return c.wanted[h] != nil }

// Files lists what is on the disk, the one used longest ago first.
func (c *Core) Files() []File { return c.shelf.list() }

// Add takes in a module from this machine.
func (c *Core) Add(now time.Duration, r *sharedobj.Recipe, b *sharedobj.Body) Orders {
	c.take(now, c.objects.Created(now, r, b))
	c.store(now, Hash(r.Digest()), b.Bytes())
	return c.end()
}

// Want has a module fetched for a run, from those who are said to have it. It is told as Here when it is; at once,
// if it is already. What is too much is not fetched, or makes way: whoever wants it asks again. Owner is the run's, ""
// this machine's user.
func (c *Core) Want(now time.Duration, h Hash, run string, owner PeerID, holders ...PeerID) Orders {
	w := c.wanted[h]
	switch {
	case c.Has(h):
		if b := c.memory[h]; b != nil { // it was passed on, or could not be written
			c.shelf.use(now, h, run)
			c.store(now, h, b)
		}
		c.out.Here = append(c.out.Here, h)
		return c.end()
	case w == nil && len(c.wanted) >= c.cfg.Wanted && !c.makeWay(owner):
		return c.end()
	case w == nil:
		w = &want{by: map[string]bool{}, owner: owner}
		c.wanted[h] = w
	case owner == "":
		w.owner = ""
	}
	w.by[run] = true
	w.holders = holders
	w.again = 0
	c.take(now, c.objects.Read(now, sharedobj.Digest(h), holders...))
	return c.end()
}

// makeWay gives one more of an owner's a place, if another's can go: of whoever has most, and more than that owner, the
// one that nobody had when it was tried last. The user's own goes before all others', and makes way for nothing.
func (c *Core) makeWay(owner PeerID) bool {
	has := map[PeerID]int{}
	for _, w := range c.wanted {
		has[w.owner]++
	}
	var out *want
	var last Hash
	for _, h := range sorted(c.wanted) {
		w := c.wanted[h]
		if w.owner == "" || owner != "" && (w.again == 0 || has[w.owner] <= has[owner]) {
			continue
		}
		if out == nil || has[w.owner] > has[out.owner] {
			out, last = w, h
		}
	}
	delete(c.wanted, last)
	return out != nil
}

// Use says that a run needs a module from now on.
func (c *Core) Use(now time.Duration, h Hash, run string) { c.shelf.use(now, h, run) }

// Unuse says that a run needs its module no more, nor waits for one.
func (c *Core) Unuse(run string) Orders {
	c.out.Remove = append(c.out.Remove, c.shelf.unuse(run)...)
	for _, h := range sorted(c.wanted) {
		w := c.wanted[h]
		if delete(w.by, run); len(w.by) == 0 {
			delete(c.wanted, h) // what is under way ends by its own patience
		}
	}
	c.out.Remove = append(c.out.Remove, c.shelf.trim(0)...)
	return c.end()
}

// Sized says how much of the disk a module takes with what was compiled of it.
func (c *Core) Sized(h Hash, size int64) Orders {
	c.shelf.resize(h, size)
	c.out.Remove = append(c.out.Remove, c.shelf.trim(0)...)
	return c.end()
}

// Loaded is the end of Load; without a body the file was not there, or had other bytes.
func (c *Core) Loaded(now time.Duration, h Hash, r *sharedobj.Recipe, b *sharedobj.Body) Orders {
	if b == nil {
		c.shelf.remove(h)
		c.out.Remove = append(c.out.Remove, h)
	} else {
		c.take(now, c.objects.Created(now, r, b))
	}
	list := c.loading[h]
	delete(c.loading, h)
	c.waits -= len(list)
	for _, m := range list {
		c.take(now, c.objects.Step(now, m))
	}
	return c.end()
}

// Size is that of a module on the disk; 0 if it is not there.
func (c *Core) Size(h Hash) int64 {
	if f := c.shelf.files[h]; f != nil {
		return f.Size
	}
	return 0
}

// Drop removes a module from the disk, whoever needs it.
func (c *Core) Drop(h Hash) Orders {
	c.shelf.remove(h)
	delete(c.shelf.users, h)
	delete(c.wanted, h)
	c.out.Remove = append(c.out.Remove, h)
	return c.end()
}

// NotStored says that a module could not be written.
func (c *Core) NotStored(h Hash) { c.shelf.remove(h) }

// Received takes a message in, which may be any at all.
func (c *Core) Received(now time.Duration, m *sharedobj.Message) Orders {
	switch {
	case !c.lawful(m):
	case m.Ask != nil && c.memory[Hash(m.Ask.Digest)] == nil && c.shelf.has(Hash(m.Ask.Digest)):
		c.load(Hash(m.Ask.Digest), m)
	default:
		c.take(now, c.objects.Step(now, m))
	}
	return c.end()
}

// load has a question wait for the disk. One too many is not answered: it is asked again. Of one member there are a
// quarter, so that it keeps nobody from what is here.
func (c *Core) load(h Hash, m *sharedobj.Message) {
	list, is := c.loading[h]
	theirs := 0
	for _, wait := range c.loading {
		for _, other := range wait {
			if other.From == m.From {
				theirs++
			}
		}
	}
	if c.waits >= c.cfg.Waiting || theirs >= c.cfg.Waiting/4 {
		return
	}
	c.loading[h] = append(list, m)
	if c.waits++; !is {
		c.out.Load = append(c.out.Load, h)
	}
}

// lawful says whether a message may be about what is kept here: constants of that name, no larger than they may be.
func (c *Core) lawful(m *sharedobj.Message) bool {
	if m.Announce != nil || m.Sums != nil {
		return false
	}
	return m.Answer == nil || !slices.ContainsFunc(m.Answer.Told, func(t sharedobj.Told) bool {
		return !c.cfg.Kind.Is(&t.Recipe)
	})
}

// SetMembers says who there is, this peer among them.
func (c *Core) SetMembers(now time.Duration, members []sharedobj.Member) Orders {
	c.take(now, c.objects.SetMembers(now, members))
	return c.end()
}

// NotSent says that a message was certainly not delivered.
func (c *Core) NotSent(now time.Duration, m *sharedobj.Message) Orders {
	c.take(now, c.objects.SendFailed(now, m))
	return c.end()
}

// Tick lets time pass. Call it when Next says.
func (c *Core) Tick(now time.Duration) Orders {
	c.take(now, c.objects.Tick(now))
	for _, h := range sorted(c.wanted) {
		if w := c.wanted[h]; w != nil && w.again != 0 && w.again <= now {
			w.again = 0
			c.take(now, c.objects.Read(now, sharedobj.Digest(h), w.holders...))
		}
	}
	return c.end()
}

// Next is when the core wants to be ticked; 0 is never.
func (c *Core) Next() time.Duration {
	at, _ := c.objects.Next()
	for _, w := range c.wanted {
		if w.again != 0 && (at == 0 || w.again < at) {
			at = w.again
		}
	}
	return at
}

// Stats are the counters of what was fetched and given.
func (c *Core) Stats() sharedobj.Stats { return c.objects.Stats() }

// take carries out what the core of objects orders.
func (c *Core) take(now time.Duration, out sharedobj.Output) {
	c.out.Messages = append(c.out.Messages, out.Messages...)
	for i := range out.Orders {
		o := &out.Orders[i]
		h := Hash(o.Digest)
		switch o.Kind {
		case sharedobj.OrderHere:
			c.memory[h] = o.Data
			if c.wanted[h] != nil {
				c.arrived(now, h, o.Data)
			}
		case sharedobj.OrderForget:
			delete(c.memory, h)
		case sharedobj.OrderFailed:
			if w := c.wanted[h]; w != nil {
				w.again = now + c.cfg.Again
			}
		}
	}
}

// arrived tells those who wait for a module, and keeps it for them.
func (c *Core) arrived(now time.Duration, h Hash, b []byte) {
	for run := range c.wanted[h].by { // in any order
		c.shelf.use(now, h, run)
	}
	delete(c.wanted, h)
	c.store(now, h, b)
	c.out.Here = append(c.out.Here, h)
}

// store has a module written, if there is room for it or room can be made.
func (c *Core) store(now time.Duration, h Hash, b []byte) {
	if c.shelf.has(h) {
		return
	}
	removed := c.shelf.trim(int64(len(b)))
	c.out.Remove = append(c.out.Remove, removed...)
	if c.shelf.fits(int64(len(b))) {
		c.shelf.put(File{Hash: h, Size: int64(len(b)), Used: now})
		c.out.Store = append(c.out.Store, Stored{h, b})
	}
}

func (c *Core) end() Orders {
	out := c.out
	c.out = Orders{}
	return out
}

func sorted[V any](m map[Hash]V) []Hash {
	return slices.SortedFunc(maps.Keys(m), func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
}
