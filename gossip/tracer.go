package gossip

import (
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// tracer counts what pubsub does with messages.
type tracer struct{ count *counters }

var _ pubsub.RawTracer = tracer{}

func (t tracer) OnNewOutboundStream(peer.ID, protocol.ID) { t.count.streams.Add(1) }
func (t tracer) OnClosedOutboundStream(peer.ID)           { t.count.streams.Add(-1) }
func (t tracer) Join(string)                              {}
func (t tracer) Leave(string)                             {}
func (t tracer) Graft(peer.ID, string)                    {}
func (t tracer) Prune(peer.ID, string)                    {}
func (t tracer) ValidateMessage(*pubsub.Message)          {}
func (t tracer) DeliverMessage(*pubsub.Message)           {}
func (t tracer) DuplicateMessage(*pubsub.Message)         {}
func (t tracer) ThrottlePeer(peer.ID)                     {}
func (t tracer) RecvRPC(*pubsub.RPC)                      {}
func (t tracer) SendRPC(*pubsub.RPC, peer.ID)             {}
func (t tracer) DropRPC(*pubsub.RPC, peer.ID)             {}

func (t tracer) RejectMessage(_ *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectValidationQueueFull, pubsub.RejectValidationThrottled:
		t.count.flooded.Add(1)
	case pubsub.RejectUnexpectedSignature, pubsub.RejectUnexpectedAuthInfo:
		t.count.malformed.Add(1)
	}
}

func (t tracer) UndeliverableMessage(*pubsub.Message) { t.count.undelivered.Add(1) }
