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

// What a member has published another one finds in the list, with who signed for it, and runs by its name, its
// publisher's name and its hash; whoever runs published modules only helps with it, and not with others.
func TestPublishedModule(t *testing.T) {
	s, ctx := empty(t)
	for _, setting := range []string{"SATIN_MODULES=members", "SATIN_MODULES=published", "SATIN_MODULES=off"} {
		if _, err := s.Start(ctx, setting, "SATIN_CLUSTER=site"); err != nil {
			t.Fatal(err)
		}
	}
	eventually := func(what string, so func() bool) {
		t.Helper()
		for !so() {
			select {
			case <-ctx.Done():
				t.Fatalf("never: %s", what)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	for _, p := range s.Peers {
		eventually("all know all", func() bool {
			list, err := p.Command(ctx, "peers", "--json")
			return err == nil && strings.Count(list, `"peer"`) >= 2
		})
	}
	queens, err := filepath.Abs("../../examples/queens-c/queens.wasm")
	if err != nil {
		t.Fatal(err)
	}
	const off = "run no modules: the setting modules says so"
	if _, said, err := s.Peers[0].CommandSays(ctx, "run", queens, "8"); err != nil ||
		!strings.Contains(said, "2 of 2 other peers cannot help: ") || !strings.Contains(said, "published") {
		t.Errorf("before it is published: %q, %v", said, err)
	}
	said, err := s.Peers[0].Command(ctx, "publish", queens, "queens")
	me, bad := s.Peers[0].Client().Status(ctx)
	if err != nil || bad != nil || !strings.Contains(said, "signed by "+me.Peer) {
		t.Fatalf("%q, %v, %v", said, err, bad)
	}
	eventually("it is listed", func() bool {
		list, err := s.Peers[1].Command(ctx, "modules")
		return err == nil && strings.Contains(list, me.Peer)
	})
	info, err := s.Peers[1].Client().Modules(ctx)
	if err != nil || len(info) != 1 || info[0].Size == 0 {
		t.Fatalf("%+v, %v", info, err)
	}
	for _, name := range []string{"queens", me.Peer + "/queens", info[0].Module[:8]} {
		out, said, err := s.Peers[1].CommandSays(ctx, "run", name, "10")
		if err != nil || out != "10 queens: 724 solutions\n" {
			t.Errorf("%s: %q, %q, %v", name, out, said, err)
		}
		if !strings.Contains(said, "1 of 2 other peers cannot help: they "+off) {
			t.Errorf("%s: %q does not say who cannot help", name, said)
		}
	}
	st, err := s.Peers[1].Command(ctx, "status")
	if err != nil || !strings.Contains(st, "those that members have published") {
		t.Errorf("%q, %v", st, err)
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
