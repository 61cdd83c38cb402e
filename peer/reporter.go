package peer

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/courtesy"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/presence"
	"github.com/satin-peer/satin/steal"
)

// A reporter says to people what this peer, the others and the runs are at the moment.
type reporter struct {
	*base.Base
	cfg         *Config
	started     time.Time
	host        *host.Host
	swarm       *swarm
	traffic     *traffic
	runs        *conductor
	crew        *crew
	files       *archive
	checkpoints *ledger.Store
	work        *work
	presence    *presence.Presence
	courtesy    *courtesy.Courtesy
	modules     *modules
	apps        *catalog
}

// status is the peer at one glance.
func (x *reporter) status() control.Status {
	now := x.Now()
	here := x.swarm.places.Mine()
	s := control.Status{
		Modules: x.modules.status(), Executables: x.apps.executables(),
		Peer: x.host.ID().String(), Name: shown(x.cfg.Name), Version: x.cfg.Software, PID: os.Getpid(),
		Started:     x.started.UTC(),
		Incarnation: x.host.Incarnation(),
		StateDir:    x.cfg.Host.StateDir, Swarm: x.host.SwarmName(), Trust: x.cfg.Host.Trust.String(),
		Workers: x.cfg.Workers, Addresses: byUse(x.host.Addrs()), Reachability: reach(x.host), Cluster: here.Name,
		Clusters: x.swarm.clusters(x.cfg.Workers),
		Peers:    x.swarm.connected(), Goroutines: runtime.NumGoroutine(), Trouble: x.files.gone(),
	}
	x.runs.mu.Lock()
	for _, i := range x.runs.core.Runs() {
		if i.State.Ended() {
			continue
		}
		s.Runs = append(s.Runs, x.describeRun(&i, x.runs.parts[i.Manifest.Run], now))
	}
	stand := x.runs.stances(now)
	s.Refused = notWanted(x.runs.core)
	x.runs.mu.Unlock()
	sortRuns(s.Runs)
	for _, r := range stand {
		s.Busy += r.busy
	}
	s.Limit = x.courtesy.InForce().Limit
	paused, until := x.presence.Paused()
	switch {
	case x.presence.Leaving():
		s.State = control.PeerLeaving
	case paused:
		s.State, s.Limit = control.PeerPaused, ""
		if !until.IsZero() {
			until = until.UTC()
			s.PausedUntil = &until
		}
	case x.courtesy.InForce().Cores == 0:
		s.State = control.PeerPaused
	case x.presence.Finishing():
		s.State, s.Left = control.PeerFinishing, jobsHeld(x.runs.inProgress())
	case s.Busy == 0:
		s.State, s.WhyIdle = control.PeerIdle, whyIdle(x.crew.arbiter.Resting(), s.Peers, stand)
	default:
		s.State, s.Works = control.PeerWorking, workingFor(stand)
	}
	net := x.traffic.stream.Stats()
	s.Work = x.work.report(now)
	spent := x.runs.hours.spent()
	s.Work.CPUGiven, s.Work.CPUUsed = spent.Given.Seconds(), spent.Used.Seconds()
	s.Work.Vouching = time.Duration(x.crew.vouch.Spent.Load()).Seconds()
	s.Work.Verified = x.runs.jury.receipts.verified(x.nameOf)
	s.Work.Sent, s.Work.Received = net.BytesSent, net.BytesReceived
	return s
}

// others lists the other members.
func (x *reporter) others() []control.PeerInfo {
	list := []control.PeerInfo{}
	for _, c := range x.swarm.members.List() {
		list = append(list, x.describePeer(c))
	}
	slices.SortFunc(list, func(a, b control.PeerInfo) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Peer, b.Peer))
	})
	return list
}

func (x *reporter) describePeer(c *members.Card) control.PeerInfo {
	now := x.Now()
	where := x.swarm.places.Of(c.Peer)
	i := control.PeerInfo{
		Peer: c.Peer.String(), Name: c.Name, Version: c.Software, Heard: c.Heard.UTC(), Joined: c.Joined.UTC(),
		Cluster: where.Name, Reason: where.Why, RTT: where.RTT.Seconds(), Workers: c.Cores, State: control.PeerIdle,
	}
	i.Connected = x.swarm.board.Connected(c.Peer)
	i.Alive = !x.swarm.places.Silent(c.Peer) && (i.Connected || now.Sub(c.Heard) < 2*x.swarm.members.Every())
	for _, conn := range x.swarm.board.Net.Network().ConnsToPeer(c.Peer) {
		if limited := conn.Stat().Limited; i.Address == "" || i.Relayed && !limited {
			i.Address, i.Relayed = host.RemoteAddr(conn).String(), limited
		}
	}
	if c.Cores == 0 {
		i.State = control.PeerYielding
	}
	t := x.traffic.tradeWith(steal.PeerID(i.Peer))
	i.Given, i.Taken = t.given.Load(), t.taken.Load()
	x.runs.mu.Lock()
	for _, r := range x.runs.parts {
		if l := r.loads[c.Peer]; l != nil && r.final == nil && now.Before(l.until) {
			i.Runs++
			if l.Busy > 0 && i.State == control.PeerIdle {
				i.State = control.PeerWorking
			}
		}
	}
	x.runs.mu.Unlock()
	return i
}

// peerID reads a peer ID that a user gave.
func peerID(s string) (peer.ID, error) {
	id, err := peer.Decode(s)
	if err != nil {
		return "", control.Errorf(control.ErrBadInput,
			"%q is no peer ID: want what 'satin-peer status' shows, as 12D3KooW…", plain.Clip(s))
	}
	return id, nil
}

// byUse sorts addresses by how far away they are of use: public ones first, those of this machine alone last.
func byUse(addrs []string) []string {
	rank := func(text string) int {
		a, err := multiaddr.NewMultiaddr(text)
		switch {
		case err != nil, manet.IsIPLoopback(a):
			return 2
		case manet.IsPublicAddr(a):
			return 0
		}
		return 1
	}
	slices.SortStableFunc(addrs, func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Count(a, "/tcp/")-strings.Count(b, "/tcp/"))
	})
	return addrs
}
