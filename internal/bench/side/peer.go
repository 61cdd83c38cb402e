package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// A peerSide steals and is stolen from over our protocol, between two libp2p hosts.
type peerSide struct {
	host      host.Host
	transport *stream.Transport
	self      steal.Address
	replies   chan *steal.Message
	results   chan *steal.Message
	failed    chan error
	steals    steals
}

// steals is a series of steals that follow each other without a pause: the next request leaves where the
// reply came in, as the protocol core does it.
type steals struct {
	victim steal.PeerID
	trips  []time.Duration // with room for all of them; nil: no series
	sent   time.Time
	done   chan struct{}
}

var listen = map[string]string{"tcp": "/ip4/127.0.0.1/tcp/0", "quic": "/ip4/127.0.0.1/udp/0/quic-v1",
	"slow": "/ip4/127.0.0.1/tcp/0"}

func newPeerSide(kind string, delay stream.Delay) (*peerSide, error) {
	address, ok := listen[kind]
	if !ok {
		return nil, fmt.Errorf("KIND is %q", kind)
	}
	h, err := libp2p.New(libp2p.ListenAddrStrings(address), libp2p.DisableRelay())
	if err != nil {
		return nil, err
	}
	p := &peerSide{host: h, self: steal.Address{Peer: steal.PeerID(h.ID().String()), Inc: 1},
		replies: make(chan *steal.Message, 1), results: make(chan *steal.Message, 1), failed: make(chan error, 1)}
	p.transport = stream.New(h, stream.Config{Delay: delay}, stream.Handler{Received: p.received, Failed: p.lost})
	h.SetStreamHandler(plainProtocol, answerPlain)
	return p, nil
}

func (p *peerSide) address() string {
	return fmt.Sprintf("%s/p2p/%s", p.host.Addrs()[0], p.host.ID())
}

var small = steal.Job{Path: job.Path{1, 2, 1}, Function: "bench.fib", Arg: make([]byte, replySize-250)}

func (p *peerSide) received(m *steal.Message) {
	switch {
	case m.Request != nil:
		p.transport.Send(&steal.Message{Run: m.Run, From: p.self, To: m.From,
			Reply: &steal.StealReply{ID: m.Request.ID, Jobs: []steal.Grant{{Handle: 1, Job: small}}}})
	case m.Hunger != nil: // wants a long result
		p.transport.Send(&steal.Message{Run: m.Run, From: p.self, To: m.From,
			Result: &steal.Result{Handle: steal.Handle(m.Hunger.Seq), Outcome: make([]byte, m.Hunger.Queued)}})
	case m.Result != nil:
		p.results <- m
	case m.Reply != nil && p.steals.trips != nil:
		p.next()
	case m.Reply != nil:
		p.replies <- m
	}
}

func (p *peerSide) lost(m *steal.Message, err error) { p.failed <- fmt.Errorf("%v: %w", m.Kind(), err) }

func (p *peerSide) request(victim steal.PeerID, id int) {
	p.transport.Send(&steal.Message{From: p.self, To: steal.Address{Peer: victim, Inc: 1},
		Request: &steal.StealRequest{ID: steal.RequestID(id), Max: 4}})
}

// next ends one steal of a series and begins another.
func (p *peerSide) next() {
	s := &p.steals
	now := time.Now()
	s.trips = append(s.trips, now.Sub(s.sent))
	if len(s.trips) == cap(s.trips) {
		close(s.done)
		return
	}
	s.sent = now
	p.request(s.victim, len(s.trips)+1)
}

// victim connects to whoever is at the address.
func (p *peerSide) victim(address string) (steal.PeerID, error) {
	info, err := peer.AddrInfoFromString(address)
	if err != nil {
		return "", err
	}
	return steal.PeerID(info.ID.String()), p.host.Connect(context.Background(), *info)
}

// trips measures the time from Send of a request to the call of Received with its reply.
func (p *peerSide) trips(address string, count int, pause time.Duration) ([]time.Duration, error) {
	victim, err := p.victim(address)
	if err != nil {
		return nil, err
	}
	if pause > 0 {
		return p.spacedTrips(victim, count, pause)
	}
	if _, err := p.spacedTrips(victim, 1, time.Microsecond); err != nil { // opens the streams
		return nil, err
	}
	p.steals = steals{victim: victim, trips: make([]time.Duration, 0, count), sent: time.Now(),
		done: make(chan struct{})}
	p.request(victim, 1)
	select {
	case <-p.steals.done:
		trips := p.steals.trips
		p.steals = steals{}
		return trips, nil
	case err := <-p.failed:
		return nil, err
	case <-time.After(time.Minute):
		return nil, errors.New("a steal was not answered")
	}
}

func (p *peerSide) spacedTrips(victim steal.PeerID, count int, pause time.Duration) ([]time.Duration, error) {
	var trips []time.Duration
	for i := range count {
		rest(pause)
		sent := time.Now()
		p.request(victim, i+1)
		select {
		case <-p.replies:
			trips = append(trips, time.Since(sent))
		case err := <-p.failed:
			return nil, err
		case <-time.After(time.Minute):
			return nil, errors.New("a steal was not answered")
		}
	}
	return trips, nil
}
