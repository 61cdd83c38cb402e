package host

import (
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/quic-go/quic-go"
)

// RemoteAddr is where a connection leads now. One over QUIC goes along when a peer comes to another network (RFC 9000,
// section 9), while its RemoteMultiaddr remains what it was at first.
func RemoteAddr(c network.Conn) multiaddr.Multiaddr {
	first := c.RemoteMultiaddr()
	var q *quic.Conn
	if !c.As(&q) {
		return first
	}
	now, err := manet.FromNetAddr(q.RemoteAddr())
	if err != nil {
		return first
	}
	_, rest := multiaddr.SplitFunc(first, func(c multiaddr.Component) bool {
		return c.Protocol().Code == multiaddr.P_QUIC_V1
	})
	return now.Encapsulate(rest)
}
