//go:build swarm && linux

package swarm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/swarm"
)

// Jobs have a program of the machine run, where the owners of run and machine have allowed the same file, and nowhere
// else; run, status and whoever lacks it say so.
func TestExecutables(t *testing.T) {
	factor, err := exec.LookPath("factor")
	if err != nil {
		t.Skip("there is no factor, of the GNU coreutils")
	}
	s, ctx := empty(t)
	s.Binary = filepath.Join(t.TempDir(), "foreign")
	if out, err := exec.Command("go", "build", "-o", s.Binary, "./testdata/foreign").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	other := filepath.Join(t.TempDir(), "factor") // the same name, other bytes
	text, err := os.ReadFile(factor)
	if err == nil {
		err = os.WriteFile(other, append(text, 0), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"factor=" + factor, "numbers=" + factor, "factor=" + other, ""} {
		if _, err := s.Start(ctx, "SATIN_EXECUTABLES="+setting, "SATIN_CLUSTER=site"); err != nil {
			t.Fatal(err)
		}
	}
	out, said, err := s.Peers[0].CommandSays(ctx, "run", "primes", "20000")
	if err != nil || !strings.HasPrefix(out, "2262\n") {
		t.Errorf("%q, %v", out, err)
	}
	const lack = "2 of 3 other peers cannot help: they have not allowed an executable that it needs: their setting " +
		"executables does"
	if !strings.Contains(said, lack) {
		t.Errorf("%q does not say %q", said, lack)
	}
	for i, p := range s.Peers {
		st, err := p.Client().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if i >= 2 && st.Work.Executed > 0 {
			t.Errorf("peer %d has executed %d jobs", i, st.Work.Executed)
		}
		if text, err := p.Command(ctx, "status"); err != nil || strings.Contains(text, factor) != (i < 2) {
			t.Errorf("peer %d: %s, %v", i, text, err)
		}
	}
	for setting, want := range map[string]string{"factor=" + factor: "2262\n", "": "primes needs the executable"} {
		env := []string{"HOME=" + t.TempDir(), "SATIN_EXECUTABLES=" + setting}
		out, said, err := swarm.CommandSays(ctx, s.Binary, env, "run", "primes", "20000", "--local")
		if !strings.Contains(fmt.Sprint(out, err), want) {
			t.Errorf("--local with %q: %q, %q, %v", setting, out, said, err)
		}
	}
	_, err = s.Run(ctx, s.Peers[3], "primes", "10")
	if err == nil || !strings.Contains(err.Error(), `primes needs the executable "factor": allow it by executables = `) {
		t.Errorf("the run of one that has not got it: %v", err)
	}
}
