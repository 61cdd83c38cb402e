//go:build swarm && linux

package swarm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/satin-peer/satin/internal/swarm"
)

// killComputing ends the processes that compute for a daemon, as the system does when memory is short.
func killComputing(t *testing.T, p *swarm.Process) (n int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				n++
			}
		}
	}
	return n
}

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
			if n := killComputing(t, p); n == 0 {
				t.Errorf("there was no process to kill at peer %d", p.Number)
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
		killComputing(t, late) // if it has begun
	}, queens, "16")
	for _, p := range s.Peers[3:6] {
		if list, err := p.Client().Modules(ctx); err != nil || len(list) != 1 || !list[0].Here {
			t.Errorf("peer %d has %+v, %v", p.Number, list, err)
		}
	}
}
