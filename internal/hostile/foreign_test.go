//go:build foreign

package hostile

import (
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
)

// hello and welcome are package host's, as they travel.
type hello struct {
	Protocol    uint32 `cbor:"1,keyasint"`
	Oldest      uint32 `cbor:"2,keyasint"`
	Swarm       string `cbor:"3,keyasint"`
	Incarnation uint64 `cbor:"8,keyasint"`
}

// A client of another implementation of libp2p (js/garbage.mjs) that says hello as it should and then nonsense, on
// every protocol and in answer to whatever it is asked, loses its streams, and nothing else comes of it: others compute
// together as before.
func TestForeignClient(t *testing.T) {
	openly := func() *peer.Peer {
		cfg := hostConfig(t)
		cfg.Trust = host.TrustOpen
		p, err := peer.Open(t.Context(), peer.Config{Host: cfg, Workers: 1, Cluster: "here", Every: briefly},
			[]peer.Application{{Name: "hostile"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	v := openly()
	st, err := v.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	said, err := wire.Value().Encode(&hello{Protocol: 1, Oldest: 1, Swarm: swarmName, Incarnation: 1})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(patience(t), "node", append([]string{"garbage.mjs", st.Addresses[0],
		hex.EncodeToString(said), "30"}, allProtocols...)...)
	cmd.Dir = "js"
	var trouble strings.Builder
	cmd.Stderr = &trouble
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, trouble.String())
	}
	var became struct {
		Welcome         string
		Opened, Refused int
		Open            []string
	}
	if err := json.Unmarshal(b, &became); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	t.Logf("%d streams were opened, %d were refused", became.Opened, became.Refused)
	if !strings.HasPrefix(became.Welcome, "a20100") { // a map of two, code 0
		t.Errorf("it was not let in: %s", became.Welcome)
	}
	if became.Opened < len(allProtocols) || len(became.Open) > 0 {
		t.Errorf("%d streams were opened; of these go on: %q", became.Opened, became.Open)
	}
	other := openly()
	if _, err := other.Join(patience(t), st.Addresses[0]); err != nil {
		t.Fatal(err)
	}
	_, end := pairs(t, v, 12, control.Submission{})
	until(t, "both compute", func() bool { return leavesOf(t).begun.Load() == 2 })
	if got := answer(t, end()); got != 650 {
		t.Errorf("the answer is %d", got)
	}
}
