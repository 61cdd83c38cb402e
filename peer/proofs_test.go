package peer

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"
)

// Proofs of lies are told at meetings, some in turn and for a time; those that this peer has made are told everybody
// again, one at a time and the last ones only.
func TestProofsAreToldAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	j := &jury{base: newBase(slog.New(slog.DiscardHandler), func() time.Time { return now }, 0)}
	var err error
	if j.evidence, err = openCabinet(t.TempDir(), ".lie", maxLies, func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	if list := j.told(); len(list) > 0 {
		t.Errorf("told are %q", list)
	}
	for i, size := range []int{1, 2, 3, maxAccusation + 1, 4} {
		name := fmt.Sprint("liar", i)
		at := now
		if i == 4 {
			at = now.Add(-proofFor - time.Second)
		}
		if err := j.evidence.write(name, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(j.evidence.path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	sizes := map[int]int{}
	for range 3 {
		for _, b := range j.told() {
			sizes[len(b)]++
		}
	}
	if fmt.Sprint(sizes) != "map[1:2 2:2 3:2]" {
		t.Errorf("told are, by their size, %v", sizes)
	}

	var r repeats
	if r.due(now) != nil {
		t.Error("there is one before any was made")
	}
	for i := range byte(maxProofsRepeated + 1) {
		r.add(now, []byte{i})
	}
	if r.due(now.Add(tellAgain-1)) != nil {
		t.Error("it is told again at once")
	}
	at, wait := now, tellAgain
	for i := range 8 {
		at = at.Add(wait)
		if b := r.due(at); b == nil || i == 0 && b[0] != maxProofsRepeated {
			t.Fatalf("after %v is told %v", wait, b)
		}
		if wait = min(2*wait, outEvery); r.due(at.Add(wait-1)) != nil {
			t.Fatalf("it is told more often than every %v", wait)
		}
	}
	now = at
	seen := map[byte]bool{}
	for i := range 2 * maxProofsRepeated {
		at := now.Add(time.Duration(i+1) * outEvery)
		b := r.due(at)
		if b == nil || r.due(at) != nil {
			t.Fatal("none is told again, or several at once")
		}
		seen[b[0]] = true
	}
	if len(seen) != maxProofsRepeated || seen[0] {
		t.Errorf("told again are %v", seen)
	}
}
