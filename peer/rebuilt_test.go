package peer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
)

// A command that was built again says so when the daemon is the program that it was before.
func TestRebuiltCommand(t *testing.T) {
	t.Parallel()
	built, err := peer.Built(map[string]string{"peertest": "before"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := peer.Open(context.Background(), peer.Config{Host: host.Config{
		StateDir: t.TempDir(), Swarm: "test", Trust: host.TrustOpen, Listen: []string{"/ip4/127.0.0.1/tcp/0"},
	}, Workers: 1}, built)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	small, err := wire.Value().Encode(5)
	if err != nil {
		t.Fatal(err)
	}
	for sources, want := range map[string]string{"before": "", "": "", "after": "the daemon has peertest in version"} {
		_, err := p.Submit(context.Background(), control.Submission{App: "peertest", Sources: sources,
			Function: "peertest.fib", Argument: small})
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", sources, err)
		case want != "" && (!errors.Is(err, control.ErrBadInput) || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", sources, err, want)
		}
	}
}
