//go:build floods

package hostile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// What floods may cost: see docs/security.md.
const (
	mostMemory = 150e6
	mostSlower = 5
	flooders   = 4
	probes     = 400
	quietFor   = 2 * time.Second
	floodFor   = 15 * time.Second
)

// A pour is what a member sends without an end; n counts up. What is refused is refused.
type pour func(n int)

func placing(arg []byte, path ...uint32) steal.Job {
	const function = "nqueens.place"
	return steal.Job{Path: path, Function: function, Identity: job.Identify(function, arg), Arg: arg}
}

// floods are the pours of one member, of every kind.
var floods = map[string]func(t *testing.T, d *daemonVictim, x *robber) pour{
	"jobs": messages(func(_ *testing.T, _ *robber, n int) *steal.Message {
		m := &steal.Message{Reply: &steal.StealReply{}}
		for k := range 12 {
			m.Reply.Jobs = append(m.Reply.Jobs, steal.Grant{Handle: steal.Handle(12*n + k + 1),
				Job: placing(make([]byte, 15<<10), uint32(n), uint32(k))})
		}
		return m
	}),
	"hand-overs":      handOvers(100 << 10),
	"long hand-overs": handOvers(4 << 20),
	"long tuples": messages(func(_ *testing.T, x *robber, n int) *steal.Message {
		g := steal.Grant{Handle: steal.Handle(n + 1), Job: placing(nil, uint32(n))}
		g.Job.Restarted = true
		for k := range 5 {
			path := make(job.Path, 8000)
			path[0], path[1], path[2] = uint32(n), uint32(k), 1<<20
			g.Orphans = append(g.Orphans, steal.Tuple{Path: path, Holder: x.self, Done: true})
		}
		return &steal.Message{Reply: &steal.StealReply{Jobs: []steal.Grant{g}}}
	}),
	"inventories": messages(func(_ *testing.T, _ *robber, n int) *steal.Message {
		h := &steal.Heartbeat{Seq: uint64(n + 1), Leases: 1000, Every: time.Second}
		for k := range 16_000 {
			h.Held = append(h.Held, steal.Handle(n+2*k+1))
		}
		return &steal.Message{Heartbeat: h}
	}),
	"aborts": messages(func(_ *testing.T, x *robber, n int) *steal.Message {
		a := &steal.Abort{}
		for k := range 1000 {
			a.Handles = append(a.Handles, steal.Handle(n+2*k+1))
			a.Elsewhere = append(a.Elsewhere, steal.Tuple{Path: job.Path{uint32(n), uint32(k)}, Holder: x.self,
				Age: time.Hour})
		}
		return &steal.Message{Abort: a}
	}),
	"adoptions": messages(func(_ *testing.T, _ *robber, n int) *steal.Message {
		a := &steal.Adopt{}
		for k := range 1000 {
			a.Jobs = append(a.Jobs, steal.Adoption{Handle: steal.Handle(1000*n + k + 1),
				Path: job.Path{uint32(n), uint32(k)}})
		}
		return &steal.Message{Adopt: a}
	}),
	"results": messages(func(_ *testing.T, _ *robber, n int) *steal.Message {
		return &steal.Message{Result: &steal.Result{Handle: steal.Handle(n + 1), Path: make(job.Path, 8000),
			Outcome: make([]byte, 50<<10)}}
	}),
	"messages in messages": messages(func(_ *testing.T, x *robber, n int) *steal.Message {
		self := steal.Address{Peer: steal.PeerID(x.victim.String())}
		return &steal.Message{Relayed: &steal.Message{From: x.self, To: self, Result: &steal.Result{
			Handle: steal.Handle(n), Path: append(make(job.Path, 8000), uint32(n)), Outcome: []byte{1}}}}
	}),
	"requests": messages(func(_ *testing.T, x *robber, n int) *steal.Message {
		return &steal.Message{Request: &steal.StealRequest{ID: steal.RequestID(n + 1), Max: 64, Patience: time.Minute}}
	}),
	"graves":     graves,
	"cards":      cards,
	"kept":       keptAnswers,
	"half-open":  halfOpen,
	"announced":  announced,
	"what comes": announcedAndServed,
}

// messages pours out messages of the steal protocol.
func messages(next func(t *testing.T, x *robber, n int) *steal.Message) func(*testing.T, *daemonVictim, *robber) pour {
	return func(t *testing.T, _ *daemonVictim, x *robber) pour {
		return func(n int) {
			x.send(steal.Address{Peer: steal.PeerID(x.victim.String())}, next(t, x, n))
			x.mu.Lock()
			x.got = nil
			x.mu.Unlock()
		}
	}
}

// graves are tombstones of runs that nobody knows, by gossip and at meetings.
func graves(t *testing.T, _ *daemonVictim, x *robber) pour {
	const at = 16 // a meeting
	tells, now, stones := x.gossips(t), time.Now(), make([][]byte, prepared)
	for n := range stones {
		var err error
		s := statement.Tombstone{Run: job.RunID{byte(n), byte(n >> 8), 1}, Reason: runs.Cancelled, At: now.Unix(),
			Until: now.Add(time.Hour).Unix(), Seq: 1}
		if stones[n], err = s.Sign(x.key); err != nil {
			t.Fatal(err)
		}
	}
	return func(n int) {
		n = n * at % prepared
		for _, b := range stones[n : n+at] {
			tells(gossip.KindTombstone, b)
		}
		x.pours("/satin/meet/1", encoded(t, &meeting{Over: stones[n : n+at]}))
	}
}

// prepared is how many signed statements each has before it begins, lest their making keep the victim's cores busy.
const prepared = 1 << 14

// cards are of members that nobody has invited.
func cards(t *testing.T, _ *daemonVictim, x *robber) pour {
	const at = 64 // a meeting
	list := make([][]byte, prepared)
	for n := range list {
		list[n] = card(t, newKey(t), x.Proof(), "/ip4/127.0.0.1/tcp/9")
	}
	return func(n int) {
		n = n * at % prepared
		x.pours("/satin/meet/1", encoded(t, &meeting{Cards: list[n : n+at]}))
	}
}

// keptAnswers are answers of another daemon's run, in which the victim takes part.
func keptAnswers(t *testing.T, d *daemonVictim, x *robber) pour {
	return func(n int) {
		out := make([]byte, 4<<20)
		copy(out, fmt.Append(nil, n, x.self.Peer))
		x.pours("/satin/keep/1", encoded(t, map[int]any{1: says(t, x.key, d.other(), out)}), out)
	}
}

// halfOpen are connections that say nothing, 200 at a time and as many a second as ten addresses may open.
func halfOpen(t *testing.T, _ *daemonVictim, x *robber) pour {
	at, err := manet.ToNetAddr(x.Network().Network().ConnsToPeer(x.victim)[0].RemoteMultiaddr())
	if err != nil {
		t.Fatal(err)
	}
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			_ = c.Close()
		}
	})
	return func(int) {
		time.Sleep(5 * time.Millisecond)
		c, err := net.DialTimeout("tcp", at.String(), time.Second)
		if err != nil {
			return
		}
		if open = append(open, c); len(open) > 200 {
			_ = open[0].Close()
			open = open[1:]
		}
	}
}

// announced are values of 60 MiB of which no piece ever comes.
func announced(t *testing.T, _ *daemonVictim, x *robber) pour {
	return x.announces(t, func(n int) *sharedobj.Body {
		return &sharedobj.Body{Blob: sharedobj.Blob{Size: 60 << 20, Top: sha256.Sum256(fmt.Append(nil, x.self, n))}}
	})
}

// announcedAndServed are values of a MiB that nobody names, which come.
func announcedAndServed(t *testing.T, _ *daemonVictim, x *robber) pour {
	return x.announces(t, func(n int) *sharedobj.Body {
		b := make([]byte, 1<<20)
		copy(b, fmt.Append(nil, x.self, n))
		return sharedobj.Build(b)
	})
}

// announces tells of values, of an object that each has for itself, and answers who asks for them.
func (x *robber) announces(t *testing.T, value func(n int) *sharedobj.Body) pour {
	self, victim := sharedobj.PeerID(x.self.Peer), sharedobj.PeerID(x.victim.String())
	with := sharedobj.Default()
	with.MaxBytes = 32 << 20
	core, err := sharedobj.NewCore(with, self, []sharedobj.Member{{ID: self}, {ID: victim}},
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var to *stream.Transport
	began := time.Now()
	pass := func(out sharedobj.Output) {
		for _, m := range out.Messages {
			to.SendShared(&stream.Shared{Run: x.run, Message: m})
		}
	}
	_ = x.to.Close()
	to = stream.New(x.Network(), stream.Config{}, stream.Handler{Received: func(*steal.Message) {},
		Failed: func(*steal.Message, error) {}, SharedFailed: func(*stream.Shared, error) {},
		Shared: func(m *stream.Shared) {
			mu.Lock()
			defer mu.Unlock()
			pass(core.Step(time.Since(began), m.Message))
		}})
	t.Cleanup(func() { _ = to.Close() })
	return func(n int) {
		b := value(n)
		r := sharedobj.Recipe{Kind: sharedobj.Phased, Name: string(self[:20]), Write: b.Blob,
			State: b.Blob, Parent: sharedobj.Digest(b.Top)}
		mu.Lock()
		defer mu.Unlock()
		core.Created(time.Since(began), &r, b)
		to.SendShared(&stream.Shared{Run: x.run, Message: &sharedobj.Message{From: self, To: victim,
			Announce: &sharedobj.Announce{Origin: self, Recipe: r}}})
	}
}

// pours says something on a protocol, and waits for an answer, for a moment.
func (x *robber) pours(proto protocol.ID, frames ...[]byte) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := x.Network().NewStream(network.WithNoDial(ctx, "connected"), x.victim, proto)
	if err != nil {
		return
	}
	defer s.Reset()
	_ = s.SetDeadline(time.Now().Add(time.Second))
	for _, b := range frames {
		_ = wire.WriteFrame(s, b, wire.MaxValue)
	}
	_, _ = wire.ReadFrame(s, nil, wire.MaxValue)
}

func encoded(t *testing.T, what any) []byte {
	b, err := wire.Value().Encode(what)
	if err != nil {
		t.Error(err)
	}
	return b
}

// handOvers are of one outcome of that size, which is made once: their making is not to be what is measured.
func handOvers(size int) func(*testing.T, *daemonVictim, *robber) pour {
	outcome := make([]byte, size)
	digest := sync.OnceValue(func() verify.Hash { return compute.Digest(outcome) })
	return messages(func(t *testing.T, x *robber, n int) *steal.Message {
		p := steal.Partial{Path: job.Path{uint32(n), 7}, Identity: job.Identity{1}, Outcome: outcome}
		c := (&verify.Opening{Node: driver.NodeOf(p.Path, p.Identity), Outcome: digest()}).Claim()
		var err error
		if p.Voucher, err = statement.Vouch(x.key, x.run, &c); err != nil {
			t.Error(err)
		}
		return &steal.Message{HandOver: &steal.HandOver{ID: uint64(n + 1), Parts: []steal.Partial{p}}}
	})
}

// Floods of every kind, by several members at once, leave the victim's memory and its answers within bounds. Who floods
// has a process of its own, which gives way: else whoever measures would wait for the flooders' threads.
func TestFloods(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(floods)) {
		t.Run(name, func(t *testing.T) {
			d, run := newDaemonVictim(t)
			honest := d.member(run)
			other := job.RunID{}
			if name == "kept" {
				other = d.other()
			}
			cores := d.cores()
			quiet, before, idle := p99(honest.probe(t, time.Now().Add(quietFor))), d.peak(), cores()
			poured := d.flood(name, run, other)
			cores = d.cores()
			flooded := p99(honest.probe(t, time.Now().Add(floodFor)))
			t.Logf("| %s | %d | %.1f | %.1f | %.0f | %.0f | %.2f | %.2f |", name, poured(), quiet, flooded,
				float64(before)/1e6, float64(d.peak())/1e6, idle, cores())
			if d.peak() > mostMemory {
				t.Errorf("%.0f MB, at most %.0f are allowed", float64(d.peak())/1e6, mostMemory/1e6)
			}
			if flooded > mostSlower*max(quiet, 2) {
				t.Errorf("steals take %.1f times as long, at most %d are allowed", flooded/quiet, mostSlower)
			}
		})
	}
}

// TestPour is the process that floods: it says that it begins, and how much it has poured.
func TestPour(t *testing.T) {
	is := strings.Split(os.Getenv(floodIs), ",")
	if len(is) < 5 {
		t.Skip("nobody asks for it")
	}
	run, _ := job.ParseRunID(is[1])
	other, _ := job.ParseRunID(is[2])
	d := &daemonVictim{t: t, program: is[3], env: is[4:], other: func() job.RunID { return other }}
	var members []pour
	for range flooders {
		members = append(members, floods[is[0]](t, d, d.member(run)))
	}
	var flooding sync.WaitGroup
	var poured atomic.Int64
	fmt.Println("begins")
	until := time.Now().Add(floodFor)
	for _, send := range members {
		flooding.Go(func() {
			for n := 0; time.Now().Before(until); n++ {
				send(n)
				poured.Add(1)
				time.Sleep(time.Millisecond)
			}
		})
	}
	flooding.Wait()
	fmt.Println(poured.Load())
}
