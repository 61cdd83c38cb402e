//go:build swarm

package swarm_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// A run whose input is larger than an argument may be, a database in a file: it is handed in beside it. The owner is
// killed when the others work, one of which begins the root again with the database that it has; the owner has it still
// when it is back, and the answer. Of 100 MB, with -v, it prints how long that takes and in how much memory.
func TestLargeInput(t *testing.T) {
	for _, megabytes := range []int{20, 100} {
		t.Run(fmt.Sprint(megabytes, " MB"), func(t *testing.T) {
			s, ctx := start(t, 3)
			dir := t.TempDir()
			queries, database := filepath.Join(dir, "queries.fasta"), filepath.Join(dir, "database.fasta")
			const letters = 500
			var b bytes.Buffer
			random := rand.New(rand.NewPCG(1, 2))
			for i := range megabytes * 1e6 / letters {
				fmt.Fprintf(&b, ">s%d\n", i)
				for range letters {
					b.WriteByte("ACGT"[random.IntN(4)])
				}
				b.WriteByte('\n')
			}
			if err := os.WriteFile(database, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			text := ">q\n" + string(bytes.Repeat([]byte("ACGGTACTTG"), 10)) + "\n>p\nACCAGTTTGACA\n"
			if err := os.WriteFile(queries, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			outlivesItsOwner(t, s, ctx, "gene", queries, database)
		})
	}
}

// began is when the tests did.
var began = time.Now()

var most = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory prints the most that each process has held so far, and the process in which its jobs run.
func memory(t *testing.T, s *swarm.Swarm, when string) {
	t.Helper()
	line := fmt.Sprintf("%6.1f s: %s; MiB at most, of daemon and jobs:", time.Since(began).Seconds(), when)
	of := func(pid int) string {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // gone, or no Linux
		if m := most.FindSubmatch(b); m != nil {
			var kB int
			_, _ = fmt.Sscan(string(m[1]), &kB)
			return fmt.Sprint(kB >> 10)
		}
		return "-"
	}
	for _, p := range s.Peers {
		line += " " + of(p.PID())
		children, _ := p.Computing()
		for _, pid := range children {
			line += "+" + of(pid)
		}
	}
	t.Log(line)
}
