package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/wire"
)

const (
	exchangeProtocol = protocol.ID("/satin/peers/1")
	exchangeTimeout  = 10 * time.Second
	exchangeFloor    = time.Second // between two lists that a member sends
	maxExchanged     = 32          // records in one message
	maxRecord        = 4 << 10     // bytes
	maxExchangeFrame = 64 << 10    // bytes
)

// A peerList is what members tell each other of who else there is: addresses, each list signed by the peer
// whose they are, so that nobody can send a crowd to an address of his choice but his own.
type peerList struct {
	Records [][]byte `cbor:"1,keyasint,omitempty"` // envelopes of libp2p peer records
}

// A told is one record that was found good.
type told struct {
	id    peer.ID
	addrs []ma.Multiaddr
	raw   []byte
	seq   uint64
}

// decodePeerList reads a list. One bad record spoils it: nobody honest sends one.
func decodePeerList(b []byte) ([]told, error) {
	var list peerList
	if err := wire.Control().Decode(b, &list); err != nil {
		return nil, err
	}
	if len(list.Records) > maxExchanged {
		return nil, fmt.Errorf("%d records, at most %d", len(list.Records), maxExchanged)
	}
	var all []told
	for _, raw := range list.Records {
		t, err := decodeRecord(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func decodeRecord(raw []byte) (told, error) {
	if len(raw) > maxRecord {
		return told{}, fmt.Errorf("a record of %d bytes, at most %d", len(raw), maxRecord)
	}
	envelope, rec, err := record.ConsumeEnvelope(raw, peer.PeerRecordEnvelopeDomain)
	if err != nil {
		return told{}, err
	}
	r, ok := rec.(*peer.PeerRecord)
	if !ok || !r.PeerID.MatchesPublicKey(envelope.PublicKey) {
		return told{}, errors.New("a record signed by another")
	}
	if _, _, err := identity([]byte(r.PeerID)); err != nil {
		return told{}, err
	}
	return told{r.PeerID, r.Addrs[:min(len(r.Addrs), maxPeerAddrs)], raw, r.Seq}, nil
}

// An exchange has two members tell each other whom they know.
type exchange struct{ host *Host }

// with tells a member whom this peer knows, and asks the same.
func (x *exchange) with(ctx context.Context, id peer.ID) error {
	h := x.host
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	ctx = network.WithNoDial(network.WithAllowLimitedConn(ctx, "peer exchange"), "peer exchange")
	s, err := h.outer.NewStream(ctx, id, exchangeProtocol)
	if err != nil {
		return err
	}
	whole := false
	defer func() { finish(s, whole) }()
	deadline, _ := ctx.Deadline()
	s.SetDeadline(deadline)
	if err := x.tell(s); err != nil {
		return err
	}
	err = x.hear(s)
	whole = err == nil
	return err
}

// answer is the other side of with.
func (x *exchange) answer(s network.Stream) {
	h := x.host
	whole := false
	defer func() { finish(s, whole) }()
	if !h.visitors.mayTell(s.Conn().RemotePeer(), time.Now()) {
		return
	}
	s.SetDeadline(time.Now().Add(exchangeTimeout))
	if err := x.hear(s); err != nil {
		h.log.Debug("bad list of peers", "peer", s.Conn().RemotePeer(), "error", err)
		return
	}
	whole = x.tell(s) == nil
}

func (x *exchange) tell(s network.Stream) error {
	h := x.host
	to := s.Conn().RemotePeer()
	list := peerList{Records: h.book.records(maxExchanged-1,
		func(id peer.ID) bool { return id != to && h.Admitted(id) })}
	if own := x.ownRecord(); own != nil {
		list.Records = append(list.Records, own)
	}
	b, err := wire.Control().Encode(list)
	if err != nil {
		return err
	}
	return wire.WriteFrame(s, b, maxExchangeFrame)
}

// ownRecord is this peer's addresses, signed.
func (x *exchange) ownRecord() []byte {
	h := x.host
	certified, ok := peerstore.GetCertifiedAddrBook(h.inner.Peerstore())
	if !ok {
		return nil
	}
	envelope := certified.GetPeerRecord(h.id)
	if envelope == nil {
		return nil
	}
	b, err := envelope.Marshal()
	if err != nil || len(b) > maxRecord {
		return nil
	}
	return b
}

func (x *exchange) hear(s network.Stream) error {
	b, err := wire.ReadFrame(s, nil, maxExchangeFrame)
	if err != nil {
		return err
	}
	list, err := decodePeerList(b)
	if err != nil {
		return err
	}
	for _, t := range list {
		x.learn(t, s.Conn().RemotePeer(), RemoteAddr(s.Conn()))
	}
	return nil
}

// learn takes in a record that a member told over a link. libp2p's book, which has no bounds for one member, gets it
// when the peer is dialed.
func (x *exchange) learn(t told, by peer.ID, via ma.Multiaddr) {
	h := x.host
	if t.id == h.id || h.roll.out(t.id) {
		return
	}
	t.addrs = h.Dialable(t.addrs, via)
	if h.book.learn(t, by) {
		h.seeker.poke()
	}
}

// identified takes in the record that a member has signed for itself, for example because its addresses have
// changed. The first one it tells in the exchange that follows the handshake; what strangers say of
// themselves does not count.
func (x *exchange) identified(e event.EvtPeerIdentificationCompleted) {
	if e.SignedPeerRecord == nil || !x.host.Admitted(e.Peer) {
		return
	}
	raw, err := e.SignedPeerRecord.Marshal()
	if err != nil {
		return
	}
	t, err := decodeRecord(raw)
	if err != nil || t.id != e.Peer {
		return
	}
	x.learn(t, e.Peer, RemoteAddr(e.Conn))
}
