package host

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	manet "github.com/multiformats/go-multiaddr/net"
)

// maxSilent is how many TCP connections may be here that have not proved yet whose they are. It is half of the places
// that there are for them, since one that is put out leaves its place a moment later.
const maxSilent = maxHalfOpen / 2

// silentFor is how long one may take for that at most; libp2p closes it then.
const silentFor = 15 * time.Second

// silents are these connections, the oldest first. When there are too many the one is closed that has waited longest,
// of those from where most are: so whoever comes gets a place, and has it for as long as it takes to say something.
// Its callers are the listeners' goroutines.
type silents struct {
	mu   sync.Mutex
	list []silent
}

type silent struct {
	conn net.Conn
	from netip.Prefix
	at   time.Time
}

// opened is called for each connection that is accepted, before there is a place for it.
func (s *silents) opened(c network.ConnMultiaddrs, now time.Time) {
	conn, from, ok := tcpOf(c)
	if !ok {
		return
	}
	if out := s.add(silent{conn, from, now}); out != nil {
		_ = out.Close()
	}
}

// add gives the connection that has to go for a new one, nil if none has.
func (s *silents) add(x silent) (out net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.list) > 0 && x.at.Sub(s.list[0].at) >= silentFor {
		s.list = s.list[1:]
	}
	if len(s.list) >= maxSilent {
		i := s.first()
		out = s.list[i].conn
		s.list = append(s.list[:i:i], s.list[i+1:]...)
	}
	s.list = append(s.list, x)
	return out
}

// first finds the one that has waited longest where most are from. The lock is held.
func (s *silents) first() (at int) {
	n := map[netip.Prefix]int{}
	for _, x := range s.list {
		n[x.from]++
	}
	for i, x := range s.list {
		if n[x.from] > n[s.list[at].from] {
			at = i
		}
	}
	return at
}

// spoke is called when a connection has proved whose it is.
func (s *silents) spoke(c network.ConnMultiaddrs) {
	conn, _, ok := tcpOf(c)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.list {
		if x.conn.RemoteAddr().String() == conn.RemoteAddr().String() &&
			x.conn.LocalAddr().String() == conn.LocalAddr().String() {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			return
		}
	}
}

// tcpOf tells a TCP connection and its address, or an IPv6 network, from what else comes in.
func tcpOf(c network.ConnMultiaddrs) (conn net.Conn, from netip.Prefix, ok bool) {
	m, is := c.(manet.Conn)
	if !is {
		return nil, from, false
	}
	at, is := m.RemoteAddr().(*net.TCPAddr)
	if !is {
		return nil, from, false
	}
	ip := at.AddrPort().Addr().Unmap()
	bits := 32
	if ip.Is6() {
		bits = 56
	}
	from, err := ip.WithZone("").Prefix(bits)
	return m, from, err == nil
}
