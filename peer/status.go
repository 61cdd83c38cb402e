package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// Status is the peer at one glance: see control.Daemon.
func (p *Peer) Status(context.Context) (control.Status, error) {
	now := p.now()
	here := p.places.mine()
	s := control.Status{
		Peer: p.host.ID().String(), Version: p.cfg.Software, PID: os.Getpid(), Started: p.started.UTC(),
		Incarnation: p.host.Incarnation(),
		StateDir:    p.cfg.Host.StateDir, Swarm: p.host.SwarmName(), Trust: p.cfg.Host.Trust.String(),
		Workers: p.cfg.Workers, Addresses: byUse(p.host.Addrs()), Reachability: p.reach(), Cluster: here.Name,
		Clusters: p.clusters(),
		Peers:    p.connectedMembers(), Goroutines: runtime.NumGoroutine(), Trouble: p.files.gone(),
	}
	p.runs.mu.Lock()
	for _, i := range p.runs.core.Runs() {
		if i.State.Ended() {
			continue
		}
		r := p.runs.parts[i.Manifest.Run]
		s.Runs = append(s.Runs, p.describeRun(&i, r, now))
		if r != nil && r.final == nil {
			st := r.session.Stats()
			s.Busy += max(st.Load.Workers-st.Load.Idle, 0)
		}
	}
	p.runs.mu.Unlock()
	sortRuns(s.Runs)
	s.State = control.PeerWorking
	switch {
	case p.leaving.Load():
		s.State = control.PeerLeaving
	case p.pausing.on():
		s.State = control.PeerPaused
		p.pausing.mu.Lock()
		if u := p.pausing.until; !u.IsZero() {
			u = u.UTC()
			s.PausedUntil = &u
		}
		p.pausing.mu.Unlock()
	case s.Busy == 0:
		s.State, s.WhyIdle = control.PeerIdle, p.whyIdle(&s)
	}
	s.Work = p.past.work(p)
	return s, nil
}

// whyIdle says in a line why nothing is computed.
func (p *Peer) whyIdle(s *control.Status) string {
	switch {
	case len(s.Runs) > 0 && s.Peers == 0 && !slices.ContainsFunc(s.Runs,
		func(r control.RunInfo) bool { return r.Mine }):
		return "no member is connected to steal from"
	case len(s.Runs) > 0:
		return "there is no job to steal at the moment"
	case s.Peers == 0:
		return "no other member is connected, and there is no run here"
	}
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	for _, i := range p.runs.core.Runs() {
		if i.State == runs.StateRefused {
			return "the run in progress was refused: " + i.Why
		}
	}
	return "there is no run in the swarm"
}

// Runs lists the runs: see control.Daemon.
func (p *Peer) Runs(context.Context) ([]control.RunInfo, error) {
	now := p.now()
	p.runs.mu.Lock()
	list := []control.RunInfo{}
	for _, i := range p.runs.core.Runs() {
		list = append(list, p.describeRun(&i, p.runs.parts[i.Manifest.Run], now))
	}
	p.runs.mu.Unlock()
	sortRuns(list)
	return list, nil
}

func sortRuns(list []control.RunInfo) {
	slices.SortFunc(list, func(a, b control.RunInfo) int {
		return cmp.Or(b.Submitted.Compare(a.Submitted), cmp.Compare(a.Run, b.Run))
	})
}

// describeRun is a run for people; r is nil if this peer has had no part in it in this life. The conductor's mutex
// is held.
func (p *Peer) describeRun(i *runs.Info, r *part, now time.Time) control.RunInfo {
	m := i.Manifest
	stats := r.stats()
	peers, _, _ := r.taking(now)
	d := control.RunInfo{
		Run: m.Run.Hex(), App: m.App, Args: i.Args, Title: m.Title, Owner: string(m.Owner), Mine: i.Mine,
		Master: p.masterOf(i, r, now),
		State:  control.RunState(i.State), Why: i.Why, Submitted: time.Unix(m.Created, 0).UTC(),
		Elapsed: elapsed(i, now).Seconds(), Peers: peers, Executed: stats.Executed, Stats: &stats,
		Recovery: cmp.Or(m.Recovery, "salvage"), Disputed: i.Disputed != "", MaxCores: m.MaxCores,
	}
	if m.Entry == module.Func {
		d.Module = fmt.Sprintf("%x", m.Version)
	}
	for _, id := range m.Deputies {
		d.Deputies = append(d.Deputies, string(id))
	}
	switch {
	case i.Mine && i.State == runs.StateSuspended:
		d.Checkpoint = p.checkpoints.dirOf(m.Run)
	case i.State.Ended() || r == nil || r.keeper == nil:
	default:
		d.Checkpoint = r.keeper.dir
		if err := r.keeper.Trouble(); err != nil && !errors.Is(err, errOpening) {
			d.NotStoring = oneLine(err)
		}
	}
	if i.Answered != nil {
		d.AnsweredBy = string(i.Answered.Author)
	}
	if i.Disputed != "" {
		d.Why = "disputed: " + string(i.Disputed) + " came to another answer"
	}
	if i.Mine {
		d.Share = shareDone(i, r)
	}
	if i.State.Ended() && r != nil {
		d.Peers = r.most
	}
	return d
}

// shareDone is how much of an own run's tree is done: known where the root runs, else what was known last. The
// conductor's mutex is held.
func shareDone(i *runs.Info, r *part) float64 {
	switch {
	case i.State == runs.StateDone:
		return 1
	case r == nil:
		return 0
	case r.final == nil:
		r.look()
	}
	return r.reached
}

func (p *Peer) progress(i *runs.Info, r *part) control.Progress {
	now := p.now()
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	peers, workers, busy := r.taking(now)
	return control.Progress{
		Run: i.Manifest.Run.Hex(), State: control.RunState(i.State), Elapsed: elapsed(i, now).Seconds(),
		Share: shareDone(i, r), Executed: r.total().Executed, Peers: peers, Workers: workers, Busy: busy,
	}
}

// Peers lists the other members: see control.Daemon.
func (p *Peer) Peers(context.Context) ([]control.PeerInfo, error) {
	list := []control.PeerInfo{}
	for _, c := range p.members.list() {
		list = append(list, p.describePeer(c))
	}
	slices.SortFunc(list, func(a, b control.PeerInfo) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Peer, b.Peer))
	})
	return list, nil
}

func (p *Peer) describePeer(c *memberCard) control.PeerInfo {
	now := p.now()
	where := p.places.of(c.Peer)
	i := control.PeerInfo{
		Peer: c.Peer.String(), Version: c.Software, Heard: c.heard.UTC(), Joined: c.joined.UTC(),
		Cluster: where.Name, Reason: where.Why, RTT: where.RTT.Seconds(), Workers: c.Cores, State: control.PeerIdle,
	}
	i.Connected = p.net.Network().Connectedness(c.Peer) == network.Connected
	i.Alive = !p.places.silent(c.Peer) && (i.Connected || now.Sub(c.heard) < 2*cardEvery)
	if conns := p.net.Network().ConnsToPeer(c.Peer); len(conns) > 0 {
		i.Address, i.Relayed = conns[0].RemoteMultiaddr().String(), conns[0].Stat().Limited
	}
	if c.Cores == 0 {
		i.State = control.PeerPaused
	}
	t := p.tradeWith(steal.PeerID(i.Peer))
	i.Given, i.Taken = t.given.Load(), t.taken.Load()
	p.runs.mu.Lock()
	for _, r := range p.runs.parts {
		if l := r.loads[c.Peer]; l != nil && r.final == nil && now.Sub(l.heard) < loadLife {
			i.Runs++
			if l.Busy > 0 && i.State == control.PeerIdle {
				i.State = control.PeerWorking
			}
		}
	}
	p.runs.mu.Unlock()
	return i
}

func (p *Peer) connectedMembers() (n int) {
	for _, c := range p.members.list() {
		if p.net.Network().Connectedness(c.Peer) == network.Connected {
			n++
		}
	}
	return n
}

// clusters lists all clusters, this peer's first.
func (p *Peer) clusters() []report.Cluster {
	here := p.places.mine()
	index := map[string]*report.Cluster{here.Name: {Name: here.Name, Mine: true, Reason: here.Why, Peers: 1,
		Workers: p.cfg.Workers}}
	rtts := map[string][]float64{}
	for _, c := range p.members.list() {
		where := p.places.of(c.Peer)
		info := index[where.Name]
		if info == nil {
			info = &report.Cluster{Name: where.Name, Reason: where.Why}
			index[where.Name] = info
		}
		info.Peers++
		info.Workers += c.Cores
		if where.RTT > 0 {
			rtts[where.Name] = append(rtts[where.Name], where.RTT.Seconds())
		}
	}
	list := make([]report.Cluster, 0, len(index))
	for name, info := range index {
		if r := rtts[name]; len(r) > 0 {
			slices.Sort(r)
			info.RTT = r[len(r)/2]
		}
		list = append(list, *info)
	}
	slices.SortFunc(list, func(a, b report.Cluster) int {
		if a.Mine != b.Mine {
			if a.Mine {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return list
}

// pastWork is what this peer has done in all its runs since its start.
type pastWork struct {
	mu      sync.Mutex
	ended   report.RunStats // of runs that have ended
	samples [6]sample       // of the last seconds
	next    int
}

type sample struct {
	at       time.Time
	executed uint64
}

func (w *pastWork) add(s *report.RunStats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended.Add(s)
}

// sum is everything so far.
func (w *pastWork) sum(p *Peer) report.RunStats {
	w.mu.Lock()
	sum := w.ended
	w.mu.Unlock()
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	for _, r := range p.runs.parts {
		if r.final == nil {
			part := r.stats()
			sum.Add(&part)
		}
	}
	return sum
}

// sample is taken every second.
func (w *pastWork) sample(p *Peer, now time.Time) {
	f := w.sum(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples[w.next%len(w.samples)] = sample{now, f.Executed}
	w.next++
}

func (w *pastWork) work(p *Peer) report.Work {
	f := w.sum(p)
	st := p.stream.Stats()
	work := report.Work{
		Executed: f.Executed, Given: f.Given, Taken: f.Taken, Busy: f.UsefulTime.Seconds(), Sent: st.BytesSent,
		Received: st.BytesReceived,
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next > 1 {
		newest := w.samples[(w.next-1)%len(w.samples)]
		oldest := w.samples[max(0, w.next-len(w.samples))%len(w.samples)]
		if d := newest.at.Sub(oldest.at).Seconds(); d > 0 && newest.executed >= oldest.executed {
			work.Rate = float64(newest.executed-oldest.executed) / d
		}
	}
	return work
}

var _ control.Daemon = (*Peer)(nil)

// peerID reads a peer ID that a user gave.
func peerID(s string) (peer.ID, error) {
	id, err := peer.Decode(s)
	if err != nil {
		return "", control.Errorf(control.ErrBadInput,
			"%q is no peer ID: want what 'satin-peer status' shows, as 12D3KooW…", clip(s))
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
	slices.SortStableFunc(addrs, func(a, b string) int { return rank(a) - rank(b) })
	return addrs
}
