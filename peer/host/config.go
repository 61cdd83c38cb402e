package host

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p"
)

// Config says how a peer takes part in the network. The zero value of each field but StateDir is usable.
type Config struct {
	// StateDir is the directory of everything that outlives the process: the key, the membership, addresses.
	// It is made if need be and belongs to one process at a time.
	StateDir string
	// Listen are the multiaddrs to listen on, such as "/ip4/0.0.0.0/udp/4001/quic-v1" and
	// "/ip4/0.0.0.0/tcp/4001"; port 0 means any. If there are none: QUIC and TCP on all addresses of both
	// families, with a port that stays the same from start to start if it can.
	Listen []string
	// Swarm is the name of the swarm. "" means the one that the state directory knows, or DefaultSwarm.
	Swarm string
	// Trust says who may be a member.
	Trust Trust
	// Bootstrap are full multiaddrs of members, or invitation lines. They are tried again and again, ever
	// more slowly, while this peer is connected to no member; but not an invitation that was refused because
	// it is used up, expired or unknown.
	Bootstrap []string
	// MDNS finds members on the local network by multicast.
	MDNS bool
	// DHT keeps a Kademlia table of the swarm, to find the addresses of members that are not known.
	DHT bool
	// NAT finds out whether this peer can be reached from outside, asks the router to forward a port, uses
	// relays, and punches holes. Without it none of that is done.
	NAT bool
	// Relay lets other members be reached through this peer, within limits: a connection has 4 MiB each way and ten
	// minutes.
	Relay bool
	// MaxConns is the number of connections above which unprotected ones are closed. 0 means 256. Twice as
	// many are never exceeded.
	MaxConns int
	// MaxConnsPerAddress bounds the connections with one IPv4 address or IPv6 /56. 0 means 128.
	MaxConnsPerAddress int
	// MinPeers is the number of members that this peer tries to stay connected to, if there are as many. 0 means 8.
	MinPeers int
	// Protocol is the version of the swarm's protocols that this peer speaks and OldestProtocol the oldest
	// that it understands. 0 means 1.
	Protocol, OldestProtocol uint32
	// Agent names the program and its version for people, at most 128 bytes.
	Agent string
	// Logger gets what happens that nobody asked for: refused peers, failed attempts. nil means none.
	Logger *slog.Logger
	// Options go to libp2p after ours. They are for tests: simulated networks.
	Options []libp2p.Option
}

const (
	defaultMaxConns           = 256
	defaultMaxConnsPerAddress = 128
	defaultMinPeers           = 8
	protocolVersion           = 1

	connectTimeout = 15 * time.Second // of a Connect or stream whose context has no deadline
)

// complete fills in the defaults and refuses what makes no sense.
func (cfg Config) complete() (Config, error) {
	set := func(v *int, normal, least int) {
		*v = max(cmp.Or(*v, normal), least)
	}
	if cfg.MaxConns < 0 || cfg.MaxConnsPerAddress < 0 || cfg.MinPeers < 0 {
		return cfg, fmt.Errorf(
			"%w: numbers of connections cannot be negative: MaxConns %d, MaxConnsPerAddress %d, MinPeers %d",
			ErrConfig, cfg.MaxConns, cfg.MaxConnsPerAddress, cfg.MinPeers)
	}
	set(&cfg.MaxConns, defaultMaxConns, 4)
	set(&cfg.MaxConnsPerAddress, defaultMaxConnsPerAddress, 1)
	set(&cfg.MinPeers, defaultMinPeers, 1)
	cfg.MinPeers = min(cfg.MinPeers, cfg.MaxConns/2)
	cfg.Protocol = cmp.Or(cfg.Protocol, protocolVersion)
	if cfg.OldestProtocol == 0 {
		cfg.OldestProtocol = min(protocolVersion, cfg.Protocol)
	}
	if cfg.OldestProtocol > cfg.Protocol {
		return cfg, fmt.Errorf("%w: the oldest protocol version understood, %d, is newer than the newest, %d",
			ErrConfig, cfg.OldestProtocol, cfg.Protocol)
	}
	if cfg.Trust != TrustInvite && cfg.Trust != TrustOpen {
		return cfg, fmt.Errorf("%w: unknown trust %s", ErrConfig, cfg.Trust)
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return cfg, nil
}
