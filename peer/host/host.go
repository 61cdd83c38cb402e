package host

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

// A Host is this process's place in the network. Its methods may be called from several goroutines.
type Host struct {
	membership
	admission admission
	greeter   greeter
	exchange  exchange
	intents   intents
	state     *stateDir

	inner    host.Host
	listens  chan struct{} // closed when inner is set
	known    identified    // inner's
	outer    *outer
	gate     *gate
	visitors *visitors
	news     *news
	book     *addrBook
	seeker   *seeker
	reach    *reach
	search   search
	pacing   pacing
	closers  []io.Closer // what hangs on inner

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex // of closing, and of adding to wg
	ended  bool
}

// Open reads the state directory, or makes it, and starts to listen. It does not wait for the network: use
// Join or Connect to know whether a swarm was entered, or Config.Bootstrap to have it tried in the
// background. ctx bounds Open itself only.
//
// Errors wrap ErrState (and ErrInUse if another process has the directory), ErrListen, ErrWrongSwarm,
// ErrAddress, ErrInvitation or ErrConfig.
func Open(ctx context.Context, cfg Config) (*Host, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	state, err := openState(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	h := &Host{membership: membership{cfg: cfg, log: cfg.Logger, moved: make(chan struct{}, 1)}, state: state}
	h.admission = admission{&h.membership}
	h.greeter.host, h.exchange.host = h, h
	h.pacing = newPacing()
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.roll.host = h
	h.visitors = &visitors{host: h, all: map[peer.ID]*visitor{}, gone: map[peer.ID]departure{}}
	h.gate = &gate{host: h, attempts: map[peer.ID]bucket{}}
	h.intents.all = map[peer.ID][]*intent{}
	h.news = newNews(h)
	h.seeker = newSeeker(h)
	h.reach = &reach{}
	h.listens = make(chan struct{})
	if err := h.open(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) error {
	private, err := h.readState()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.inner, err = h.listen(private); err != nil {
		return err
	}
	close(h.listens)
	h.outer = &outer{Host: h.inner, own: h}
	h.inner.SetStreamHandler(helloProtocol, h.greeter.answer)
	h.inner.Network().Notify(&network.NotifyBundle{
		ConnectedF:    func(_ network.Network, c network.Conn) { h.visitors.opened(c) },
		DisconnectedF: func(_ network.Network, c network.Conn) { h.visitors.left(c) },
	})
	for _, c := range h.inner.Network().Conns() { // those who were faster
		if h.visitors.opened(c); c.IsClosed() {
			h.visitors.left(c)
		}
	}
	h.outer.SetStreamHandler(exchangeProtocol, h.exchange.answer)
	h.spawn(h.news.run)
	return h.seek()
}

// opened says whether there is an inner host: libp2p asks for addresses and relays before Open has one.
func (h *Host) opened() bool {
	select {
	case <-h.listens:
		return true
	default:
		return false
	}
}

// seek starts whatever finds other peers.
func (h *Host) seek() error {
	if err := h.watchReach(); err != nil {
		return err
	}
	if err := h.watchRecords(); err != nil {
		return err
	}
	if h.cfg.Relay {
		service, err := relayFor(h)
		if err != nil {
			return fmt.Errorf("relaying for others: %w", err)
		}
		h.closers = append(h.closers, service)
	}
	if h.cfg.DHT {
		if err := h.search.open(h); err != nil {
			return err
		}
		h.closers = append(h.closers, h.search.dht)
	}
	if h.cfg.MDNS {
		h.spawn(h.callOut)
	}
	h.spawn(h.seeker.run)
	return nil
}

// readState reads what the state directory knows and counts this start.
func (h *Host) readState() (ed25519.PrivateKey, error) {
	private, err := readOrMakeKey(h.state.path(keyFile))
	if err != nil {
		return nil, err
	}
	key, err := crypto.UnmarshalEd25519PrivateKey(private)
	if err != nil {
		return nil, err
	}
	if h.id, err = peer.IDFromPrivateKey(key); err != nil {
		return nil, err
	}
	if h.swarm, err = openSwarm(h.state, private, h.id, h.cfg.Swarm, h.cfg.Trust == TrustInvite); err != nil {
		return nil, err
	}
	if h.dates, err = openDatebook(h.state.path(datesFile), time.Now()); err != nil {
		return nil, err
	}
	if h.tickets, err = openTicketBook(h.state.path(ticketsFile), h.dates.reached); err != nil {
		return nil, err
	}
	if h.allowed, err = openIDList(h.state.path(allowedFile), "peers that are let in by their ID"); err != nil {
		return nil, err
	}
	if h.revoked, err = openIDList(h.state.path(revokedFile),
		"peers that are not let in, nor those whom they invited"); err != nil {
		return nil, err
	}
	if h.roll.banned, err = openRevocations(h.state.path(bannedFile), h.swarm.standing().public); err != nil {
		return nil, err
	}
	h.roll.banned.above = h.roll.lines.above
	if h.book, err = openAddrBook(h.state.path(rememberedFile), h.id, time.Now()); err != nil {
		return nil, err
	}
	h.book.branch = h.Branch
	if err := h.admission.checkBootstrap(time.Now()); err != nil {
		return nil, err
	}
	h.incarnation, err = h.state.nextIncarnation()
	return private, err
}

// listen makes the libp2p host.
func (h *Host) listen(private ed25519.PrivateKey) (host.Host, error) {
	key, err := crypto.UnmarshalEd25519PrivateKey(private)
	if err != nil {
		return nil, err
	}
	listen, err := listenAddrs(h.cfg.Listen, h.state)
	if err != nil {
		return nil, err
	}
	if err := untaken(listen); err != nil {
		return nil, err
	}
	resources, err := resourceManager(h.cfg.MaxConns, h.cfg.MaxConnsPerAddress, h.Admitted)
	if err != nil {
		return nil, err
	}
	conns, err := connectionManager(h.cfg.MaxConns)
	if err != nil {
		return nil, err
	}
	if h.known, err = newIdentified(h); err != nil {
		return nil, err
	}
	always, err := dateless()
	if err != nil {
		return nil, err
	}
	options := []libp2p.Option{
		libp2p.Identity(key),
		libp2p.Peerstore(h.known),
		libp2p.ListenAddrs(listen...),
		libp2p.Transport(quic.NewTransport, quic.WithTLSIdentityOption(libp2ptls.WithCertTemplate(always))),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(conns),
		libp2p.ConnectionGater(h.gate),
		libp2p.UserAgent(clip(h.cfg.Agent, maxAgent)),
		libp2p.DisableMetrics(),
	}
	options = append(options, reachOptions(h.cfg.NAT, h.relays, h.known)...)
	inner, err := libp2p.New(append(options, h.cfg.Options...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrListen, err)
	}
	if err := listening(inner, h.cfg.Listen); err != nil {
		inner.Close()
		return nil, err
	}
	return inner, nil
}

// spawn runs f until the host closes; f must heed its context.
func (h *Host) spawn(f func(ctx context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.wg.Go(func() { f(h.ctx) })
}

// ID names this peer. It stays the same as long as the state directory.
func (h *Host) ID() peer.ID { return h.id }

// Incarnation is the number of this start; it grows with each.
func (h *Host) Incarnation() uint64 { return h.incarnation }

// SwarmName is the name of the swarm that this peer is in.
func (h *Host) SwarmName() string { return h.swarm.standing().name }

// Network is the libp2p host, for other protocols. Their handlers are only called for admitted peers, and
// opening a stream to a peer connects to it and waits for its admission first.
func (h *Host) Network() host.Host { return h.outer }

// Addrs are full multiaddrs by which others may reach this peer.
func (h *Host) Addrs() (addrs []string) {
	for _, a := range h.inner.Addrs() {
		addrs = append(addrs, a.String()+"/p2p/"+h.id.String())
	}
	return addrs
}

// Admitted says whether a peer is connected and has passed the handshake.
func (h *Host) Admitted(id peer.ID) bool {
	return h.visitors.get(id) != nil
}

// OnPeer has f called when a peer was admitted (up) and when the last connection with it is gone; for a peer
// that was restarted, both. Of those who are there already it is told, too. It is a hint: a peer that is killed
// may be seen as connected for 40 seconds. Calls come one at a time; those who come and go while f is busy are
// not told of. f must not call Close, which waits for it.
func (h *Host) OnPeer(f func(id peer.ID, up bool)) { h.news.listen(f) }

// Protect keeps the connections with a partner from being closed because there are many; Unprotect ends that.
// The tag names who asks.
func (h *Host) Protect(id peer.ID, tag string)   { h.inner.ConnManager().Protect(id, tag) }
func (h *Host) Unprotect(id peer.ID, tag string) { h.inner.ConnManager().Unprotect(id, tag) }

// Disconnect closes all connections with a peer, for example because it has been silent for too long. It may
// come back.
func (h *Host) Disconnect(id peer.ID) error { return h.inner.Network().ClosePeer(id) }

// Close leaves the network and gives the state directory back. It says no goodbye to partners: do that before.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.ended {
		h.mu.Unlock()
		return nil
	}
	h.ended = true
	h.mu.Unlock()
	h.cancel()
	h.visitors.close()
	var errs []error
	for _, c := range slices.Backward(h.closers) {
		errs = append(errs, c.Close())
	}
	if h.inner != nil {
		errs = append(errs, h.inner.Close())
	}
	h.wg.Wait()
	if h.book != nil {
		errs = append(errs, h.book.save())
	}
	if h.dates != nil {
		errs = append(errs, h.dates.pass(time.Now(), true))
	}
	return errors.Join(append(errs, h.state.close())...)
}

// welcomed is called when a peer has been admitted: the dialer has the two tell each other whom they know.
func (h *Host) welcomed(id peer.ID) {
	h.inner.ConnManager().TagPeer(id, memberTag, memberWorth)
	h.seeker.poke()
	dialed := slices.ContainsFunc(h.inner.Network().ConnsToPeer(id),
		func(c network.Conn) bool { return c.Stat().Direction == network.DirOutbound })
	if dialed {
		h.spawn(func(ctx context.Context) {
			if err := h.exchange.with(ctx, id); err != nil {
				h.log.Debug("no exchange of peers", "peer", id, "error", err)
			}
		})
	}
}
