package peer_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Jobs of a module come to the same to the bit in two processes: whatever the way to compare them nobody is blamed, and
// where nodes are run again the outcomes of those below are supplied.
func TestModulesAreCompared(t *testing.T) {
	t.Parallel()
	queens := readModule(t, "examples/queens-c/queens.wasm")
	for _, mode := range []string{"quorum=2", "doubt=1e-3", "spot=1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a, b := open(t, inProcesses(t)), open(t, inProcesses(t))
			if _, err := b.Join(deadline(t), address(t, a)); err != nil {
				t.Fatal(err)
			}
			// A run may be over before the other has its module, and jobs below a few ms are one node: the boards grow.
			ctx := deadline(t)
			for n, compared := 13, false; !compared; n = min(n+1, 16) {
				sub := queens.submission(t, a, strconv.Itoa(n))
				sub.Verify = mode
				info, err := a.Submit(ctx, sub)
				if err != nil {
					t.Fatal(err)
				}
				want := fmt.Sprintf(": %d solutions", []int{13: 73_712, 14: 365_596, 15: 2_279_184, 16: 14_772_512}[n])
				if got := queens.answer(t, a, info.Run, strconv.Itoa(n)); !strings.Contains(got, want) {
					t.Fatalf("the answer is %q", got)
				}
				out, err := a.Wait(ctx, info.Run, nil)
				if err != nil || out.Trust == nil || len(out.Trust.Caught) > 0 {
					t.Fatalf("it rests on %+v, %v", out.Trust, err)
				}
				compared = out.Trust.Here > 0
				if mode == "spot=1" {
					compared = out.Trust.Nodes > out.Trust.Proved && out.Trust.Reran > out.Trust.Here
				}
			}
		})
	}
}

// A run of a module that asks for a lattice is refused in a line where it is to be verified, before it has begun: its
// results may honestly differ. (internal/module tests that whoever computes refuses it, too.)
func TestLatticesAreNotCompared(t *testing.T) {
	t.Parallel()
	golomb := readModule(t, "examples/golomb-c/golomb.wasm")
	a := open(t, inProcesses(t))
	sub := golomb.submission(t, a, "8")
	sub.Verify = "quorum=2"
	if info, err := a.Submit(deadline(t), sub); err == nil ||
		!strings.Contains(err.Error(), "cannot be compared: run it without --verify") {
		t.Errorf("%+v, %v", info, err)
	}
	sub.Verify = ""
	if _, err := a.Submit(deadline(t), sub); err != nil {
		t.Errorf("without being verified: %v", err)
	}
}
