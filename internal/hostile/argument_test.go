package hostile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

func init() {
	satin.Register("hostile.small", small, satin.Checked(func(n int) error {
		if n > 10 {
			return errors.New("more than\n10")
		}
		return nil
	}))
}

func small(_ *satin.Frame, n int) int {
	spinning.Add(1) // for ever: nobody may come here
	return n
}

// A run whose argument the application refuses is refused with a line, and nothing of it is computed.
func TestArgumentsThatApplicationsRefuse(t *testing.T) {
	v := computing(t)
	r := invited(t, v)
	arg, err := wire.Value().Encode(11)
	if err != nil {
		t.Fatal(err)
	}
	m := &statement.Manifest{Swarm: swarmName, App: "hostile", Entry: "hostile.small", Arg: arg,
		Nonce: statement.NewNonce(), Created: time.Now().Unix(), Expires: time.Now().Unix() + 3600}
	signed, err := m.Sign(r.Network().Peerstore().PrivKey(r.ID()))
	if err != nil {
		t.Fatal(err)
	}
	r.Network().SetStreamHandler("/satin/run/1", func(s network.Stream) {
		defer s.Close()
		if _, err := wire.ReadFrame(s, nil, 1<<10); err != nil {
			return
		}
		b, err := wire.Value().Encode(&runTold{signed.Bytes})
		if err == nil {
			_ = wire.WriteFrame(s, b, wire.MaxValue)
		}
	})
	if err := r.say(t, "/satin/meet/1", &meeting{Runs: [][16]byte{signed.Run}}, &meeting{}); err != nil {
		t.Fatal(err)
	}
	until(t, "it is refused", func() bool { return stateAt(t, v) == control.RunRefused })
	list, err := v.Runs(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	if why := list[0].Why; !strings.Contains(why, "the argument of hostile.small is refused") ||
		strings.Contains(why, "\n") {
		t.Errorf("it says %q", why)
	}
	if spinning.Load() != 0 {
		t.Error("it was computed")
	}
}

// runTold is what somebody knows of a run, as package peer encodes it.
type runTold struct {
	Manifest []byte `cbor:"1,keyasint,omitempty"`
}
