package gossip

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
)

type bused struct {
	host.Host
	bus event.Bus
}

func (h bused) EventBus() event.Bus { return h.bus }

// pubsub is not told where peers say they are by the subscription from which it keeps that until they have gone, and
// for a quarter of an hour: strangers who come and go would fill the memory, with 450 addresses each.
func TestAddressesAreNotKept(t *testing.T) {
	inner := bused{bus: eventbus.NewBus()}
	g := &gate{Host: inner, ctx: t.Context(), heard: make(chan any, maxHeard)}
	sub, err := g.EventBus().Subscribe([]any{new(event.EvtPeerIdentificationCompleted),
		new(event.EvtPeerConnectednessChanged)})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for _, what := range []any{new(event.EvtPeerIdentificationCompleted), new(event.EvtPeerConnectednessChanged)} {
		emitter, err := inner.bus.Emitter(what)
		if err != nil {
			t.Fatal(err)
		}
		defer emitter.Close()
		switch what.(type) {
		case *event.EvtPeerIdentificationCompleted:
			err = emitter.Emit(event.EvtPeerIdentificationCompleted{})
		default:
			err = emitter.Emit(event.EvtPeerConnectednessChanged{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if first := <-sub.Out(); first != any(event.EvtPeerConnectednessChanged{}) {
		t.Errorf("it is told %T", first)
	}
}
