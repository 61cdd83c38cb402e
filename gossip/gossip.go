package gossip

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
)

// Protocol is what peers negotiate: gossipsub under a name of ours, so that it never joins another network's.
const Protocol = protocol.ID("/satin/gossip/1")

// A Gossip is one peer's ear and mouth. Its methods may be called from any goroutine.
type Gossip struct {
	cfg         Config
	host        host.Host
	gate        *gate
	self        peer.ID
	key         crypto.PrivKey
	codec       *wire.Codec
	maxEnvelope int
	names       names
	ps          *pubsub.PubSub
	opened      chan struct{} // closed when ps is there
	count       counters

	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	authors  *authors
	nextSeq  atomic.Uint64
	beaconed atomic.Pointer[time.Time] // nil: never; not by the clock on the wall, which may go back
	queue    chan item                 // to sendLoop
	bridge   chan crossing
	arrivals chan *received // to deliverLoop
	changed  chan struct{}  // wakes keepLoop

	neighbourMu sync.Mutex
	neighbours  *recent[peer.ID, neighbour]
	heeded      map[peer.ID]bool

	handlerMu sync.RWMutex
	handlers  map[Kind]*handler

	mu       sync.Mutex
	rooms    map[string]*topicRoom
	members  Members
	flat     bool
	election *election
	epoch    int64 // as the election knows it
	unranked bool  // it does not know these members yet
	standing standing
}

// A handler takes messages of one kind.
type handler struct {
	validate func(author peer.ID, payload []byte) error
	deliver  func(author peer.ID, payload []byte)
}

// Open starts gossiping on a host, whose key must be an Ed25519 key. Until SetMembers is called the swarm is
// flat. The context bounds the whole life of the Gossip; Close ends it too. Handle should be called before
// others can connect: what comes for a kind without handler is passed on and not kept.
func Open(ctx context.Context, n host.Host, cfg Config) (*Gossip, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.Connect == nil {
		cfg.Connect = func(ctx context.Context, id peer.ID) error { return n.Connect(ctx, peer.AddrInfo{ID: id}) }
	}
	key := n.Peerstore().PrivKey(n.ID())
	if key == nil {
		return nil, fmt.Errorf("gossip: the host does not have the key of %s", n.ID())
	}
	g := &Gossip{
		cfg: cfg, host: n, self: n.ID(), key: key, codec: wire.Control(), names: namesOf(cfg.Swarm),
		maxEnvelope: envelopeHead + envelopeSpare + itemSpare + max(cfg.MaxPayload,
			cfg.CombineBytes+itemSpare*maxItems),
		queue: make(chan item, cfg.Queue), bridge: make(chan crossing, cfg.Queue),
		arrivals: make(chan *received, cfg.Queue), changed: make(chan struct{}, 1),
		opened:     make(chan struct{}),
		neighbours: newRecent[peer.ID, neighbour](maxNeighbours), heeded: make(map[peer.ID]bool),
		handlers: make(map[Kind]*handler), rooms: make(map[string]*topicRoom), flat: true,
		election: newElection(n.ID(), silentBeacons*cfg.BeaconEvery),
	}
	firstSeq := cfg.Incarnation << 32
	g.nextSeq.Store(firstSeq)
	g.authors = newAuthors(&g.cfg, g.self, firstSeq)
	g.ctx, g.cancel = context.WithCancel(ctx)
	g.gate = &gate{Host: n, ctx: g.ctx, admitted: cfg.Admitted, inbound: map[network.Stream]bool{},
		outbound: map[peer.ID]*mouth{}, refused: func() { g.count.notAdmitted.Add(1) }, meter: g.meter,
		topics: g.topics, heard: make(chan any, maxHeard)}
	if g.ps, err = pubsub.NewGossipSub(g.ctx, g.gate, g.options()...); err != nil {
		g.cancel()
		return nil, fmt.Errorf("gossip: %w", err)
	}
	if err := g.reconcile(time.Now()); err != nil {
		g.cancel()
		return nil, err
	}
	close(g.opened)
	g.start(g.sendLoop, g.bridgeLoop, g.deliverLoop, g.keepLoop, g.connectLoop)
	return g, nil
}

func (g *Gossip) start(loops ...func()) {
	for _, loop := range loops {
		g.done.Go(loop)
	}
}

const (
	seenFor = time.Minute // how long pubsub suppresses copies: longer than they may come late, windows do the rest
	// to how many neighbours a message is passed on: less than usual, each copy may be wide-area
	meshDegree = 4
	maxSubOpts = 8 // changes of topics in one call of a neighbour
	maxTopics  = 8 // of one neighbour; a correct one is in two, and in those that it leaves
	// maxUnwanted is by how many calls, of ten messages each, a neighbour may say in a second, between two heartbeats,
	// that it wants no copies.
	maxUnwanted = 16
)

// options is how pubsub is used. Envelopes carry their own signatures, which must survive being repeated in another
// topic by somebody else, so pubsub does not sign.
func (g *Gossip) options() []pubsub.Option {
	all := func(f pubsub.GossipSubFeature, _ protocol.ID) bool { return f != pubsub.GossipSubFeatureExtensions }
	params := pubsub.DefaultGossipSubParams()
	params.D, params.Dlo, params.Dhi, params.Dscore, params.Dout = meshDegree, meshDegree-1, meshDegree+2,
		meshDegree-2, 1
	params.MaxIDontWantMessages = maxUnwanted
	// A neighbour names what it had in the last heartbeats. Of more pubsub names some by chance, and whoever is not in
	// the mesh gets the others late or never: so many as it may pass on in that time.
	params.MaxIHaveLength = max(1, params.HistoryGossip*int(g.cfg.NeighbourRate.PerSecond))
	return []pubsub.Option{
		pubsub.WithGossipSubParams(params),
		pubsub.WithGossipSubProtocols([]protocol.ID{Protocol}, all),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign),
		pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(identity),
		pubsub.WithSeenMessagesTTL(seenFor),
		pubsub.WithMaxMessageSize(2 * g.maxEnvelope),
		pubsub.WithPeerOutboundQueueSize(g.cfg.Queue),
		pubsub.WithValidateQueueSize(g.cfg.Queue),
		pubsub.WithFloodPublish(true),
		pubsub.WithPeerExchange(false),
		pubsub.WithPeerFilter(func(id peer.ID, _ string) bool { return g.cfg.Admitted(id) }),
		pubsub.WithAppSpecificRpcInspector(g.inspect),
		pubsub.WithDefaultValidator(g.judge, pubsub.WithValidatorInline(true)),
		pubsub.WithSubscriptionFilter(pubsub.WrapLimitSubscriptionFilter(filter{g.names, g}, maxSubOpts)),
		pubsub.WithRawTracer(tracer{&g.count}),
		pubsub.WithLogger(slog.New(slog.DiscardHandler)), // what is dropped is counted
	}
}

// Close stops gossiping and waits until no handler is called any more, so it must not be called from a
// handler. What was published and not sent is lost. The host stays open.
func (g *Gossip) Close() error {
	g.cancel()
	g.host.RemoveStreamHandler(Protocol)
	g.gate.close()
	g.done.Wait()
	return nil
}

// Handle sets the functions that take messages of a kind. Both functions get the author, whose signature was
// checked, and the payload, which they must not change.
//
// validate says whether a message is what it should be, before it is passed on; an error drops it and all
// messages it was combined with. It should judge the message by itself (signatures inside, size, form) and
// not by what this peer happens to know, else some parts of the swarm never see it. It is called from several
// goroutines at a time and must not block. It may be nil.
//
// deliver is called for every message that came, one at a time over all kinds, in no order. While it blocks, messages
// wait in a bounded queue.
func (g *Gossip) Handle(kind Kind, validate func(author peer.ID, payload []byte) error,
	deliver func(author peer.ID, payload []byte)) {
	g.handlerMu.Lock()
	defer g.handlerMu.Unlock()
	g.handlers[kind] = &handler{validate, deliver}
}

func (g *Gossip) handler(k Kind) *handler {
	g.handlerMu.RLock()
	defer g.handlerMu.RUnlock()
	return g.handlers[k]
}

// deliverLoop gives messages to their handlers.
func (g *Gossip) deliverLoop() {
	for {
		select {
		case <-g.ctx.Done():
			return
		case r := <-g.arrivals:
			for _, it := range r.Items {
				h := g.handler(it.Kind)
				if it.Kind != kindBeacon && h != nil && h.deliver != nil {
					g.count.delivered.Add(1)
					h.deliver(r.author, it.Payload)
				}
			}
		}
	}
}
