//go:build swarm && linux

package swarm_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/emulate"
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

// A module that only the owner has crosses each link from its cluster to another about once, though two peers in each
// want it, and no other link: each cluster gets it once and passes it on. What jobs and heartbeats need is counted too.
func TestModuleCrossesEachLinkOnce(t *testing.T) {
	const clusters, each, size, most = 4, 2, 2 << 20, 1.1
	module := padded(t, "../../examples/queens-c/queens.wasm", size)
	network := filepath.Join(t.TempDir(), "network")
	scenario := fstest.MapFS{"wide": {Data: []byte("clusters 2 2 2 2\nset_sym all 2e6 0.02\n")}}
	if err := emulate.Create(network, scenario, "wide", nil, 1); err != nil {
		t.Fatal(err)
	}
	s, ctx := empty(t)
	for i := range clusters * each {
		if _, err := s.Start(ctx, fmt.Sprintf("SATIN_CLUSTER=%d", 1+i%clusters), "SATIN_EMULATE="+network); err != nil {
			t.Fatal(err)
		}
	}
	run, err := s.Run(ctx, s.Peers[0], module, "20", "--detach")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Peers {
		for {
			list, err := p.Client().Modules(ctx)
			if err == nil && len(list) == 1 && list[0].Here {
				break
			}
			select {
			case <-ctx.Done():
				t.Fatalf("peer %d has %+v, %v", p.Number, list, err)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	if err := s.Peers[0].Client().Cancel(ctx, strings.TrimSpace(run)); err != nil {
		t.Error(err)
	}
	links, err := emulate.Open(network, "1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer links.Close()
	for from := range clusters {
		for to := range clusters {
			bytes, _ := links.Carried(fmt.Sprint(1+from), fmt.Sprint(1+to))
			copies := float64(bytes) / size
			t.Logf("%d to %d: %.3f copies", 1+from, 1+to, copies)
			if copies > most || from == 0 && to != 0 && copies < 1 {
				t.Errorf("%.3f copies went from cluster %d to %d", copies, 1+from, 1+to)
			}
		}
	}
}

// padded is a module with so many bytes that mean nothing, in a section that everybody skips.
func padded(t *testing.T, name string, bytes int) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, bytes)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	b = append(b, 0) // a custom section: its size, the length of its name, its name, anything
	for n := len(noise) + 2; n > 0; n >>= 7 {
		b = append(b, byte(n&0x7f)|0x80)
	}
	b[len(b)-1] &= 0x7f
	b = append(append(b, 1, 'x'), noise...)
	padded := filepath.Join(t.TempDir(), "padded.wasm")
	if err := os.WriteFile(padded, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return padded
}
