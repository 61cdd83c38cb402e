//go:build swarm && linux

package swarm_test

import (
	"path/filepath"
	"testing"

	"github.com/satin-peer/satin/internal/swarm"
)

// A module that only the owner has is run by peers in three clusters, and its answer is that of the program though the
// processes that compute are killed at the owner, at a thief and while a newcomer begins, and a daemon with its own.
func TestModuleOutlivesItsProcesses(t *testing.T) {
	queens, err := filepath.Abs("../../examples/queens-c/queens.wasm")
	if err != nil {
		t.Fatal(err)
	}
	s, ctx := start(t, 6)
	beside(t, s, ctx, 1, func(thief *swarm.Process) {
		for _, p := range []*swarm.Process{thief, s.Peers[0]} {
			if n, err := p.KillComputing(); n == 0 || err != nil {
				t.Errorf("there was no process to kill at peer %d: %v", p.Number, err)
			}
		}
		stolen(t, ctx, s.Peers[2])
		if err := s.Peers[2].Kill(); err != nil {
			t.Fatal(err)
		}
		late, err := s.Start(ctx, "SATIN_CLUSTER=site1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := late.KillComputing(); err != nil { // if it has begun
			t.Error(err)
		}
	}, queens, "16")
	for _, p := range s.Peers[3:6] {
		if list, err := p.Client().Modules(ctx); err != nil || len(list) != 1 || !list[0].Here {
			t.Errorf("peer %d has %+v, %v", p.Number, list, err)
		}
	}
}
