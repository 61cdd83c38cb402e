package objects

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/sharedobj"
)

// quiet is a world of four clusters of two peers without faults, in which the test does what happens.
func quiet(bandwidth float64) Config {
	core := sharedobj.Default()
	core.MaxBytes = 64 << 20
	return Config{Seed: 1, Core: core, Largest: 1, LargestWrite: 1, Offers: 1, Calm: time.Nanosecond, End: time.Hour,
		Slow: time.Millisecond,
		Network: func() *wan.Model {
			return wan.Uniform([]int{2, 2, 2, 2}, wan.Conditions{Bandwidth: 1e8, Latency: 100 * time.Microsecond},
				wan.Conditions{Bandwidth: bandwidth, Latency: 20 * time.Millisecond})
		}}
}

// A constant that jobs everywhere name comes once into each cluster: wide-area links carry data only once (Albatross
// paper, section 2.1), at most a tenth more.
func TestConstantComesOnceIntoEachCluster(t *testing.T) {
	const size = 8 << 20
	c := quiet(1e6)
	c.OneCopy = size
	w := New(c)
	r := w.create(sharedobj.Constant, w.peers[0], w.bytes(size))
	for _, p := range w.peers[1:] {
		w.launch(&job{victim: w.peers[0], names: []sharedobj.Digest{r.Digest()}, run: func(*engine) {}}, p)
	}
	if err := w.Play(); err != nil {
		t.Fatal(err)
	}
	if w.begun != 7 {
		t.Errorf("%d jobs have begun, want 7", w.begun)
	}
	t.Logf("%.3f copies over the link into cluster 1", float64(w.wide[1])/size)
}

// A large write is announced along a tree and comes once into each cluster, though nobody has asked for it; the peer
// below the landing gets its first pieces while the last are still on their way to the landing (segments pipelined),
// so it has all of it hardly later.
func TestLargeWritePipelined(t *testing.T) {
	const size = 2 << 20
	c := quiet(1e6)
	c.Network = func() *wan.Model { // a local network on which a copy takes its time
		return wan.Uniform([]int{2, 2, 2, 2}, wan.Conditions{Bandwidth: 2e6, Latency: 100 * time.Microsecond},
			wan.Conditions{Bandwidth: 1e6, Latency: 20 * time.Millisecond})
	}
	w := New(c)
	maker := w.peers[0]
	o := &object{maker: maker, life: maker.life}
	o.recipe = w.create(sharedobj.Phased, maker, w.bytes(size))
	for _, p := range w.peers[1:] {
		w.launch(&job{victim: maker, names: []sharedobj.Digest{o.recipe.Digest()}, run: func(*engine) {}}, p)
	}
	w.playUntil(time.Minute)
	clear(w.wide)
	w.cfg.LargestWrite = size
	write := w.bytes(size / 2)
	old, wb := o.recipe.Digest(), sharedobj.Build(write)
	next := sharedobj.Build(move(maker.engine.values[old], write))
	r := sharedobj.Recipe{Kind: sharedobj.Phased, Name: o.recipe.Name, Parent: old, Write: wb.Blob, State: next.Blob}
	w.truth[r.Digest()] = next.Bytes()
	began, before := w.now, maker.core.Stats()
	maker.absorb(maker.core.Wrote(w.now, &r, wb, next))
	there := make(map[int]time.Duration)
	for w.now < began+time.Minute && w.next() {
		for _, p := range w.peers {
			if _, seen := there[p.number]; !seen && p.engine.values[r.Digest()] != nil {
				there[p.number] = w.now - began
			}
		}
	}
	for c := 1; c < 4; c++ {
		if w.wide[c] > size/2*11/10 {
			t.Errorf("%d bytes came into cluster %d of a write of %d", w.wide[c], c, size/2)
		}
		a, b := there[2*c], there[2*c+1]
		one := time.Duration(size / 2 * 1000) // at 1 MB/s
		if a == 0 || b == 0 || max(a, b) > one*4/3 || max(a, b)-min(a, b) > 50*time.Millisecond {
			t.Errorf("cluster %d has the write after %v and %v; it takes %v over the link", c, a, b, one)
		}
	}
	if n := maker.core.Stats().PiecesWide - before.PiecesWide; n > 3*(size/2/16384+2)*11/10 {
		t.Errorf("the maker sent %d pieces to other clusters", n)
	}
}

// A write is shipped, not the state, where it is shorter, and a read is local (RepMI; Albatross paper, section 2.2).
func TestWritesAreShippedReadsAreLocal(t *testing.T) {
	c := quiet(1e6)
	w := New(c)
	maker, reader := w.peers[0], w.peers[1]
	o := &object{maker: maker, life: maker.life}
	o.recipe = w.create(sharedobj.Phased, maker, w.bytes(1<<20))
	w.launch(&job{victim: maker, names: []sharedobj.Digest{o.recipe.Digest()}, run: func(*engine) {}}, reader)
	w.playUntil(10 * time.Second)
	before := maker.core.Stats()
	w.cfg.LargestWrite = 100
	for range 10 {
		w.write(o)
	}
	w.playUntil(20 * time.Second)
	after := maker.core.Stats()
	if after.PiecesSent != before.PiecesSent || after.WritesTold != 10 {
		t.Errorf("%d pieces and %d writes were sent for ten small writes", after.PiecesSent-before.PiecesSent,
			after.WritesTold)
	}
	sent := w.messages
	reader.absorb(reader.core.Read(w.now, o.recipe.Digest(), maker.id))
	if reader.engine.values[o.recipe.Digest()] == nil || w.messages != sent {
		t.Errorf("the read was not local: %d messages", w.messages-sent)
	}
}

// Ten offers within the time of one telling leave as one message (message combining; Satin paper, section 4.2), and
// are at 64 peers behind links of 100 ms in at most 400 ms.
func TestOffersAreCombined(t *testing.T) {
	c := quiet(1e6)
	c.Network = func() *wan.Model {
		return wan.Uniform([]int{16, 16, 16, 16}, wan.Conditions{Bandwidth: 1e8, Latency: 100 * time.Microsecond},
			wan.Conditions{Bandwidth: 1e6, Latency: 100 * time.Millisecond})
	}
	w := New(c)
	r := w.create(sharedobj.Lattice, w.peers[0], []byte("seed"))
	d := r.Digest()
	w.lattices = append(w.lattices, d)
	w.offers[d] = set{}
	for _, p := range w.peers[1:] {
		w.launch(&job{victim: w.peers[0], names: []sharedobj.Digest{d}, run: func(*engine) {}}, p)
	}
	w.playUntil(10 * time.Second)
	began := w.now
	for i := range uint32(10) {
		w.offers[d][witness*(i+1)] = true
		w.peers[5].engine.offer(d, witness*(i+1))
	}
	all := func() bool {
		for _, p := range w.peers {
			if len(p.engine.lattices[d].value) < 10 {
				return false
			}
		}
		return true
	}
	for !all() && w.next() {
	}
	told := w.peers[5].core.Stats().OffersTold
	t.Logf("ten offers are at 64 peers after %v, in %d tellings", w.now-began, told)
	if w.now-began > 400*time.Millisecond || told > 2 {
		t.Errorf("ten offers took %v in %d tellings", w.now-began, told)
	}
}

// A steal does not wait behind a constant that comes over the same link: half of those that ask meanwhile take at most
// 1.6 times as long as over an idle one, as beside a long result, or wait for one piece where that takes longer.
func TestStealBesideAConstant(t *testing.T) {
	const size = 2 << 20
	for _, link := range []wan.Conditions{
		{Bandwidth: 100e3, Latency: 100 * time.Millisecond},
		{Bandwidth: 1e6, Latency: 20 * time.Millisecond},
		{Bandwidth: 1e6, Latency: 300 * time.Millisecond},
		{Bandwidth: 10e6, Latency: 100 * time.Millisecond},
	} {
		c := quiet(1e6)
		c.Network = func() *wan.Model {
			return wan.Uniform([]int{1, 1}, wan.Conditions{Bandwidth: 1e8, Latency: 100 * time.Microsecond}, link)
		}
		w := New(c)
		r := w.create(sharedobj.Constant, w.peers[0], w.bytes(size))
		d := r.Digest()
		w.launch(&job{victim: w.peers[0], names: []sharedobj.Digest{d}, run: func(*engine) {}}, w.peers[1])
		var waits []time.Duration
		for at := w.now; w.peers[1].engine.values[d] == nil && at < time.Hour; at += 7 * time.Millisecond {
			w.playUntil(at)
			waits = append(waits, w.net.Backlog(at, 0, 1))
		}
		took := w.now
		slices.Sort(waits)
		idle := 2*link.Latency + link.Transmission(1000)
		median, most := waits[len(waits)/2], waits[len(waits)-1]
		t.Logf("%v: %v for the constant; a steal takes %v, and waits for %v, at most %v", link, took, idle, median, most)
		if median > max(idle*6/10, link.Transmission(16<<10)) {
			t.Errorf("%v: a steal of %v waits for %v", link, idle, median)
		}
	}
}
