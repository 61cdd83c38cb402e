package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// A visitor is a peer with which there is at least one connection. It begins outside and is let in by the
// handshake: the dialer greets, the other waits helloTimeout for that.
//
// States: outside -> admitted -> gone, or outside -> refused = gone. done is closed at the first arrow.
type visitor struct {
	id       peer.ID
	conns    map[network.Conn]bool
	met      []meeting // where there were connections, also those that have ended
	greeting bool      // a handshake from here is under way
	answers  bool      // one from there is
	admitted bool
	said     *hello
	came     time.Time
	listed   time.Time // when it last told whom it knows
	patience *time.Timer
	done     chan struct{}
	err      error // why it was refused; after done
}

// A meeting is a connection that there was. A peer is told where it was refused, when the connection has gone.
type meeting struct {
	at     ma.Multiaddr
	dialed bool // from here
}

const maxMeetings = 16 // that are remembered of one visit

// visitors is the list of them. Its callers are the network's notices, the handshake, and those who wait for
// one. While its lock is held nothing is called that could take a lock and call back: the address book asks
// it who is here.
type visitors struct {
	host *Host

	mu      sync.Mutex
	all     map[peer.ID]*visitor
	gone    map[peer.ID]departure // the last of those who were not let in
	outside int
	closed  bool
}

// A departure is why and when a peer was not let in, for those who dialed it and ask a moment too late.
type departure struct {
	why error
	at  time.Time
	met []meeting
}

const maxDepartures = 256

// opened is called when there is a new connection, before anything is read from it.
func (vs *visitors) opened(c network.Conn) {
	id := c.RemotePeer()
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.closed {
		return
	}
	v := vs.all[id]
	if v == nil {
		v = &visitor{id: id, conns: map[network.Conn]bool{}, done: make(chan struct{}), came: time.Now()}
		vs.all[id] = v
		vs.outside++
		if vs.outside > maxIdlers {
			vs.makeRoom(v)
		}
	}
	dialed := c.Stat().Direction == network.DirOutbound
	if !v.conns[c] && len(v.met) < maxMeetings {
		v.met = append(v.met, meeting{c.RemoteMultiaddr(), dialed})
	}
	v.conns[c] = true
	switch {
	case v.admitted || v.greeting:
	case dialed:
		v.greeting = true
		vs.host.spawn(func(ctx context.Context) { vs.greet(ctx, v) })
	case v.patience == nil:
		v.patience = time.AfterFunc(helloTimeout, func() {
			vs.refuse(v, fmt.Errorf("%w: nothing came in %v", ErrHello, helloTimeout))
		})
	}
}

// makeRoom puts out the stranger that has waited longest, of those from where most are from, for another one. The
// lock is held.
func (vs *visitors) makeRoom(newcomer *visitor) {
	from := map[string]int{}
	var idle []*visitor
	for _, v := range vs.all {
		if v != newcomer && !v.admitted && !v.greeting && len(v.met) > 0 {
			idle = append(idle, v)
			from[v.site()]++
		}
	}
	if len(idle) == 0 {
		return
	}
	out := slices.MinFunc(idle, func(a, b *visitor) int {
		return cmp.Or(from[b.site()]-from[a.site()], a.came.Compare(b.came))
	})
	vs.drop(out, fmt.Errorf("%w: others are waiting", ErrBusy))
	vs.host.spawn(func(context.Context) { vs.host.inner.Network().ClosePeer(out.id) })
}

// site is where a visitor is from: its IP address, if that can be told.
func (v *visitor) site() string {
	ip, err := manet.ToIP(v.met[0].at)
	if err != nil {
		return ""
	}
	return ip.String()
}

func (vs *visitors) greet(ctx context.Context, v *visitor) {
	said, err := vs.host.greeter.greet(ctx, v.id)
	if err != nil {
		vs.fail(v, false, err)
		return
	}
	if vs.admit(v, said, nil) {
		vs.host.welcomed(v.id)
	}
}

// left is called when a connection has ended.
func (vs *visitors) left(c network.Conn) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v := vs.all[c.RemotePeer()]
	if v == nil || !v.conns[c] {
		return
	}
	if delete(v.conns, c); len(v.conns) == 0 {
		vs.drop(v, fmt.Errorf("%w: %w", ErrUnreachable, errHungUp))
	}
}

// drop takes a visitor off the list. The lock is held.
func (vs *visitors) drop(v *visitor, why error) {
	if vs.all[v.id] != v {
		return
	}
	delete(vs.all, v.id)
	if v.patience != nil {
		v.patience.Stop()
	}
	if !v.admitted {
		vs.outside--
		v.err = why
		if len(vs.gone) >= maxDepartures {
			clear(vs.gone)
		}
		vs.gone[v.id] = departure{why, time.Now(), v.met}
		close(v.done)
		return
	}
	vs.host.news.tell(v.id)
	vs.host.seeker.poke()
}

// fail ends the visit after a handshake that failed; unless another one that went on at the same time has let
// the visitor in. was says whether it was in when the failed one began.
func (vs *visitors) fail(v *visitor, was bool, why error) {
	vs.mu.Lock()
	meanwhile := v.admitted && !was
	vs.mu.Unlock()
	if !meanwhile {
		vs.refuse(v, why)
	}
}

// refuse ends all connections with a visitor.
func (vs *visitors) refuse(v *visitor, why error) {
	vs.mu.Lock()
	current := vs.all[v.id] == v
	vs.drop(v, why)
	vs.mu.Unlock()
	if current {
		vs.host.inner.Network().ClosePeer(v.id)
	}
}

// admit lets a visitor in, or notes what one said that is in already. A newer incarnation means that the
// process on the other side is another one: what was connected to the old one is closed. It returns false if
// the visitor has gone, or was put out while its handshake went on: who hears of that looks at what visitors have said.
func (vs *visitors) admit(v *visitor, said *hello, on network.Conn) bool {
	vs.host.roll.note(v.id, said.Chain)
	vs.host.book.meet(v.id, vs.reached(v), time.Now()) // before anybody learns of it, who might close the host at once
	vs.mu.Lock()
	if vs.all[v.id] != v {
		vs.mu.Unlock()
		return false
	}
	var dead []network.Conn
	if v.said != nil && said.Incarnation > v.said.Incarnation && on != nil {
		for c := range v.conns {
			if c != on {
				dead = append(dead, c)
			}
		}
	}
	v.said = said
	if !v.admitted {
		v.admitted = true
		delete(vs.gone, v.id)
		vs.outside--
		if v.patience != nil {
			v.patience.Stop()
		}
		close(v.done)
	}
	vs.mu.Unlock()
	for _, c := range dead {
		c.Close()
	}
	if err := vs.host.roll.standingOf(v.id, said); err != nil {
		vs.refuse(v, err)
		return false
	}
	vs.host.news.tell(v.id)
	return true
}

// reached is where a visitor was dialed with success, nil if it was not.
func (vs *visitors) reached(v *visitor) (at ma.Multiaddr) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for c := range v.conns {
		if c.Stat().Direction == network.DirOutbound && !c.Stat().Limited {
			at = c.RemoteMultiaddr()
		}
	}
	return at
}

// answering notes that a handshake from the other side begins, and says whether the visitor is in already. It
// returns nil if there is one already, or no such visitor.
func (vs *visitors) answering(id peer.ID) (v *visitor, in bool) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v = vs.all[id]
	if v == nil || v.answers {
		return nil, false
	}
	v.answers = true
	return v, v.admitted
}

func (vs *visitors) answered(v *visitor) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v.answers = false
}

// get returns what an admitted peer said, nil if it is not admitted.
func (vs *visitors) get(id peer.ID) *hello {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if v := vs.all[id]; v != nil && v.admitted {
		return v.said
	}
	return nil
}

// mayTell says whether a member may tell whom it knows: reading that costs many checks of signatures.
func (vs *visitors) mayTell(id peer.ID, now time.Time) bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	v := vs.all[id]
	if v == nil || now.Sub(v.listed) < exchangeFloor {
		return false
	}
	v.listed = now
	return true
}

func (vs *visitors) find(id peer.ID) *visitor {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.all[id]
}

func (vs *visitors) admitted() (ids []peer.ID) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for id, v := range vs.all {
		if v.admitted {
			ids = append(ids, id)
		}
	}
	return ids
}

// crowded says whether too many strangers are waiting.
func (vs *visitors) crowded() bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return vs.outside >= maxOutside
}

// await waits until a peer that was connected at a time is admitted, or says why it is not.
func (vs *visitors) await(ctx context.Context, id peer.ID, since time.Time) error {
	_, err := vs.awaitMet(ctx, id, since)
	return err
}

// awaitMet is await that also says where the peer was met.
func (vs *visitors) awaitMet(ctx context.Context, id peer.ID, since time.Time) (met []meeting, err error) {
	v := vs.find(id)
	if v == nil { // the network lists a connection a moment before it tells of it
		for _, c := range vs.host.inner.Network().ConnsToPeer(id) {
			if vs.opened(c); c.IsClosed() {
				vs.left(c)
			}
		}
		v = vs.find(id)
	}
	if v == nil {
		vs.mu.Lock()
		defer vs.mu.Unlock()
		if d, ok := vs.gone[id]; ok && !d.at.Before(since) {
			return d.met, d.why
		}
		return nil, fmt.Errorf("%w: the connection with %s ended at once", ErrUnreachable, id)
	}
	select {
	case <-v.done:
		err = v.err
	case <-ctx.Done():
		err = fmt.Errorf("%w: no handshake before the deadline: %w", ErrUnreachable, context.Cause(ctx))
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return slices.Clone(v.met), err
}

// review looks at those who are here again and puts out whom ok refuses.
func (vs *visitors) review(ok func(id peer.ID, said *hello) error) {
	here := map[*visitor]*hello{}
	vs.mu.Lock()
	for _, v := range vs.all {
		here[v] = v.said
	}
	vs.mu.Unlock()
	for v, said := range here { // without the lock: it takes a while
		if err := ok(v.id, said); err != nil {
			vs.refuse(v, err)
		}
	}
}

var (
	errShutDown = errors.New("shut down")
	errHungUp   = errors.New(
		"it hung up before the handshake was over: it may have revoked this peer's membership, or have no room")
)

// close lets nobody in any more.
func (vs *visitors) close() {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.closed = true
	for _, v := range vs.all {
		if v.patience != nil {
			v.patience.Stop()
		}
		if !v.admitted {
			v.err = fmt.Errorf("%w: %w", ErrClosed, errShutDown)
			close(v.done)
		}
	}
	clear(vs.all)
	vs.outside = 0
}
