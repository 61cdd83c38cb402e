//go:build swarm

package swarm_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/report"
)

// In a run that believes nobody a part that came with its proof is believed by that, under each way to verify: nobody
// computes it a second time, here or elsewhere, and the whole proof is right.
func TestProofsInsteadOfCopies(t *testing.T) {
	s, ctx := start(t, 4)
	for _, mode := range []string{"quorum=2", "quorum=2,others", "doubt=0.001", "spot=0.5"} {
		dir := t.TempDir()
		formula, proof := filepath.Join(dir, "w.cnf"), filepath.Join(dir, "w.lrat.gz")
		out, err := s.Peers[0].Command(ctx, "run", "sat", "--json", "--verify", mode, "--waerden", "3,10,97",
			"--formula", formula, "--proof", proof)
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		var said struct{ Trust report.Trust }
		if err := json.Unmarshal([]byte(out), &said); err != nil {
			t.Fatal(err)
		}
		b := said.Trust
		if again := b.Copies + b.Here + b.Reran + b.Disputes; b.Mode != mode || b.Proved == 0 || again > 0 {
			t.Errorf("%s: it rests on %+v", mode, b)
		}
		t.Logf("%s: %d parts of others were believed by their proofs", mode, b.Proved)
		if text, err := s.Peers[0].Command(ctx, "check", formula, proof); err != nil ||
			!strings.HasPrefix(text, "s VERIFIED UNSAT") {
			t.Errorf("%s: %q, %v", mode, text, err)
		}
	}
}
