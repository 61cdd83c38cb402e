package objects

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/sharedobj"
)

// job is work that goes from one peer to another and names what it reads.
type job struct {
	id     sharedobj.JobID
	victim *peer
	names  []sharedobj.Digest
	floors map[sharedobj.Digest]set
	wants  uint32 // its guard: this number is in the lattice names[0]; 0: no guard
	work   time.Duration
	came   time.Duration
	tries  int
	run    func(*engine)
}

func (j *job) guard(g *engine) bool {
	l := g.lattices[j.names[0]]
	return j.wants == 0 || l != nil && l.value[j.wants]
}

// plan makes what the world shares, and lets things happen.
func (w *World) plan() {
	for range w.cfg.Constants {
		w.create(sharedobj.Constant, w.anyPeer(), w.bytes(w.size()))
	}
	for range w.cfg.Objects {
		p := w.anyPeer()
		o := &object{maker: p, life: p.life}
		o.recipe = w.create(sharedobj.Phased, p, w.bytes(w.size()))
		o.versions = append(o.versions, o.recipe.Digest())
		p.core.Pin(o.recipe.Digest())
		p.pin(o.versions)
		w.objects = append(w.objects, o)
	}
	for range w.cfg.Lattices {
		r := w.create(sharedobj.Lattice, w.anyPeer(), w.bytes(1+w.rnd.IntN(100)))
		w.lattices = append(w.lattices, r.Digest())
		w.offers[r.Digest()] = set{}
	}
	for range w.cfg.Steps {
		w.post(w.upTo(w.cfg.Calm), w.step)
	}
	for range w.cfg.Faults {
		w.post(w.upTo(w.cfg.Calm), w.fault)
	}
	w.post(w.cfg.Calm, func() { clear(w.group) })
	if w.cfg.Search > 0 {
		w.search = newSearch(w)
	}
	if w.cfg.Liar {
		w.post(time.Second, w.lie)
	}
}

func (w *World) anyPeer() *peer {
	for {
		if p := w.peers[w.rnd.IntN(len(w.peers))]; p.up && !p.liar {
			return p
		}
	}
}

func (w *World) size() int {
	switch w.rnd.IntN(4) {
	case 0:
		return 1 + w.rnd.IntN(200)
	case 1:
		return 1 + w.rnd.IntN(20_000)
	default:
		return 1 + w.rnd.IntN(w.cfg.Largest)
	}
}

func (w *World) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.rnd.Uint32())
	}
	return b
}

// create makes a first version at a peer.
func (w *World) create(k sharedobj.Kind, p *peer, state []byte) sharedobj.Recipe {
	b := sharedobj.Build(state)
	r := sharedobj.Recipe{Kind: k, Name: fmt.Sprint("made", len(w.truth)), State: b.Blob}
	w.truth[r.Digest()] = state
	if k == sharedobj.Lattice {
		w.seeds[r.Digest()] = &r
	}
	p.absorb(p.core.Created(w.now, &r, b))
	return r
}

// step is something that a program does.
func (w *World) step() {
	switch n := w.rnd.IntN(10); {
	case n < 3 && len(w.objects) > 0:
		w.write(w.objects[w.rnd.IntN(len(w.objects))])
	case n < 5 && len(w.lattices) > 0:
		w.offer()
	case n < 6:
		w.read()
	default:
		w.give()
	}
}

// write makes a new version where the object was made. It is the program's newest, so it is pinned there.
func (w *World) write(o *object) {
	p := o.maker
	if !p.up || p.life != o.life || p.engine.values[o.recipe.Digest()] == nil {
		return
	}
	write := w.bytes(1 + w.rnd.IntN(1+w.rnd.IntN(w.cfg.LargestWrite)))
	old := o.recipe.Digest()
	next := move(p.engine.values[old], write)
	wb, sb := sharedobj.Build(write), sharedobj.Build(next)
	r := sharedobj.Recipe{Kind: sharedobj.Phased, Name: o.recipe.Name, Parent: old, Write: wb.Blob, State: sb.Blob}
	d := r.Digest()
	w.truth[d] = next
	p.core.Pin(d)
	p.pin([]sharedobj.Digest{d})
	p.absorb(p.core.Wrote(w.now, &r, wb, sb))
	p.core.Unpin(old)
	p.unpin([]sharedobj.Digest{old})
	o.recipe = r
	o.versions = append(o.versions, d)
}

func (w *World) offer() {
	d := w.lattices[w.rnd.IntN(len(w.lattices))]
	p := w.anyPeer()
	if p.engine.lattices[d] == nil {
		return
	}
	for range 1 + w.rnd.IntN(w.cfg.Offers) {
		n := w.rnd.Uint32N(1<<24) * witness
		w.offers[d][n] = true
		p.engine.offer(d, n)
	}
}

// something draws a few digests that a peer has.
func (w *World) something(p *peer, most int) (names []sharedobj.Digest) {
	all := slices.SortedFunc(maps.Keys(p.engine.values), compareDigests)
	for range 1 + w.rnd.IntN(most) {
		if len(all) > 0 {
			if d := all[w.rnd.IntN(len(all))]; !slices.Contains(names, d) {
				names = append(names, d)
			}
		}
	}
	return names
}

// read lets a job wait for a version in the middle of its work.
func (w *World) read() {
	p, holder := w.anyPeer(), w.anyPeer()
	names := w.something(holder, 1)
	if len(names) == 0 || p == holder || !p.meets(holder) || p.engine.values[names[0]] != nil {
		return
	}
	d := names[0]
	p.reads[d] = append(p.reads[d], func() {})
	p.absorb(p.core.Read(w.now, d, holder.id))
}

// give sends a job from one peer to another.
func (w *World) give() {
	victim := w.anyPeer()
	j := &job{victim: victim, names: w.something(victim, 3), floors: make(map[sharedobj.Digest]set),
		work: time.Second, run: func(g *engine) {}}
	if len(j.names) == 0 {
		return
	}
	for _, d := range j.names {
		if l := victim.engine.lattices[d]; l != nil {
			j.floors[d] = maps.Clone(l.value)
		}
	}
	if l := victim.engine.lattices[j.names[0]]; l != nil && len(l.value) > 0 && w.rnd.IntN(2) == 0 {
		j.wants = slices.Sorted(maps.Keys(l.value))[0]
		j.floors[j.names[0]] = set{} // so that the guard has something to wait for
	}
	thief := w.anyPeer()
	if victim.host != nil && victim.host.up {
		thief = victim.host
	}
	w.launch(j, thief)
}

// launch lets a job arrive.
func (w *World) launch(j *job, thief *peer) {
	if thief == j.victim || !thief.meets(j.victim) {
		return
	}
	w.nextJob++
	n := *j
	n.id, n.came = w.nextJob, w.now
	in := sharedobj.Job{ID: n.id, Victim: n.victim.id, Guarded: n.wants != 0}
	for _, d := range n.names {
		need := sharedobj.Need{Digest: d}
		if f := n.floors[d]; len(f) > 0 {
			need.Floor = f.encode()
		}
		in.Needs = append(in.Needs, need)
	}
	n.victim.lend(n.names, w.cfg.Core.Patience+n.work+time.Second)
	thief.engine.jobs[n.id] = &n
	thief.pin(n.names)
	thief.absorb(thief.core.JobCame(w.now, in))
}

// lend keeps what a job names that was given away, as long as it may be asked for.
func (p *peer) lend(names []sharedobj.Digest, d time.Duration) {
	p.core.Pin(names...)
	p.pin(names)
	p.after(d, func() {
		p.core.Unpin(names...)
		p.unpin(names)
	})
}

// givenBack lets a job that came back be stolen again now and then.
func (w *World) givenBack(j *job) {
	if j.tries++; j.tries < 3 && j.victim.up {
		w.post(time.Second, func() {
			if j.victim.up {
				w.launch(j, w.anyPeer())
			}
		})
	}
}

// fault is one of what may go wrong before all is calm.
func (w *World) fault() {
	p := w.peers[w.rnd.IntN(len(w.peers))]
	switch w.rnd.IntN(4) {
	case 0:
		for i := range w.group {
			w.group[i] = w.rnd.IntN(2)
		}
		w.post(w.upTo(10*time.Second), func() { clear(w.group) })
	case 1:
		w.crash(p)
	case 2:
		if p.up && !p.liar {
			p.absorb(p.core.SetMembers(w.now, p.members()))
		}
	}
}

// crash ends a peer, unless it is one of the last two; perhaps it comes back, knowing nothing.
func (w *World) crash(p *peer) {
	up := 0
	for _, q := range w.peers {
		if q.up && !q.liar {
			up++
		}
	}
	if !p.up || p.liar || up <= 2 {
		return
	}
	p.up = false
	for _, q := range w.peers {
		if q.up && !q.liar && w.rnd.IntN(2) == 0 {
			q.absorb(q.core.Lost(w.now, p.id))
		}
	}
	if w.rnd.IntN(2) == 0 {
		w.post(w.upTo(5*time.Second), p.start)
	}
}
