package gateway

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// A turnstile counts who is inside, by network address, and keeps out who would be too many, or has misbehaved.
type turnstile struct {
	each, all int

	mu       sync.Mutex
	inside   map[netip.Prefix]int
	n        int
	offences map[netip.Prefix]offence
}

type offence struct {
	n    int
	last time.Time
}

const (
	// maxOffences is how often an address may misbehave within offenceLife of each other before it is refused for
	// that long.
	maxOffences = 3
	offenceLife = time.Minute
	// maxRemembered bounds the addresses whose offences are known; beyond, the oldest is forgotten.
	maxRemembered = 4096
)

func newTurnstile(each, all int) *turnstile {
	return &turnstile{each: each, all: all, inside: map[netip.Prefix]int{}, offences: map[netip.Prefix]offence{}}
}

// network is what counts as one address: of IPv6 the half that one household gets. What is none counts only in all.
func network(remote string) netip.Prefix {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		remote = host
	}
	a, err := netip.ParseAddr(remote)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

// enter counts somebody in; false if that is one too many, or not welcome.
func (t *turnstile) enter(who netip.Prefix, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.offences[who]; o.n >= maxOffences && now.Sub(o.last) < offenceLife {
		return false
	}
	if t.inside[who] >= t.each && who.IsValid() || t.n >= t.all {
		return false
	}
	t.inside[who]++
	t.n++
	return true
}

func (t *turnstile) leave(who netip.Prefix) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.inside[who]--; t.inside[who] <= 0 {
		delete(t.inside, who)
	}
}

// offended notes that somebody has misbehaved.
func (t *turnstile) offended(who netip.Prefix, now time.Time) {
	if !who.IsValid() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.offences[who]
	if now.Sub(o.last) >= offenceLife {
		o.n = 0
	}
	if o.n == 0 && len(t.offences) >= maxRemembered {
		oldest := who
		for p, other := range t.offences {
			if was, ok := t.offences[oldest]; !ok || other.last.Before(was.last) {
				oldest = p
			}
		}
		delete(t.offences, oldest)
	}
	t.offences[who] = offence{o.n + 1, now}
}

// a turned listener is one whose connections pass a turnstile.
type turned struct {
	net.Listener
	at *turnstile
}

// Accept closes connections that are too many at once, and waits for the next.
func (l turned) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who := network(c.RemoteAddr().String())
		if l.at.enter(who, time.Now()) {
			return &passed{Conn: c, out: sync.OnceFunc(func() { l.at.leave(who) })}, nil
		}
		_ = c.Close()
	}
}

// passed is a connection that is counted until it is closed.
type passed struct {
	net.Conn
	out func()
}

func (p *passed) Close() error {
	defer p.out()
	return p.Conn.Close()
}
