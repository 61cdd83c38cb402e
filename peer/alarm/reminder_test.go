package alarm

import (
	"math/rand/v2"
	"testing"
	"time"
)

// What is said again reaches everybody: each time it is lost for each member with some probability, and for a while
// nobody can be reached. Whoever was out of reach hears of it when as much time again has gone by, unless chance
// loses it then, too; and it is not said more often than it must be. The rule is the one of proofs and of
// revocations.
func TestRemindersThroughLoss(t *testing.T) {
	const members, longest = 8, 2 * time.Hour
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 14))
		first := []time.Duration{ProofsAgain, RevocationsAgain}[rng.IntN(2)]
		loss, away := rng.Float64()*0.9, time.Duration(rng.Int64N(int64(longest)))
		var r Reminder
		begun := time.Unix(0, 0)
		r.Set(begun, first)
		heard, said, after := map[int]bool{}, 0, 0
		for at := time.Duration(0); at < longest+24*time.Hour && len(heard) < members; at += time.Second {
			if at > 0 && !r.Due(begun.Add(at)) {
				continue
			}
			said++
			if at < away {
				continue
			}
			if after++; after == 1 && at > away+min(away+first, Seldom)+time.Second {
				t.Fatalf("seed %d: away for %v, and first reached after %v", seed, away, at)
			}
			for i := range members {
				if rng.Float64() >= loss {
					heard[i] = true
				}
			}
		}
		if len(heard) < members {
			t.Fatalf("seed %d: %d of %d have heard of it, which was said %d times", seed, len(heard), members, said)
		}
		// It doubles up to Seldom, and is said as often as that afterwards.
		if most := 9 + int(away/Seldom) + after; said > most {
			t.Fatalf("seed %d: said %d times, %d are enough", seed, said, most)
		}
	}
}

// What was said in an earlier life is said seldom, and what was just said soon after, and then later.
func TestSaidInAnEarlierLife(t *testing.T) {
	now := time.Unix(1000, 0)
	var r Reminder
	if r.Due(now) || r.Due(now.Add(Seldom-1)) || !r.Due(now.Add(Seldom)) {
		t.Error("what was said in an earlier life is not said every ten minutes")
	}
	const soon = RevocationsAgain
	r.Set(now, soon)
	if r.Due(now.Add(soon-1)) || !r.Due(now.Add(soon)) || r.Due(now.Add(3*soon-1)) || !r.Due(now.Add(3*soon)) {
		t.Error("what was just said is not said again after 10 s, and after 20 s more")
	}
}

// Statements that a peer has made are told everybody again, one at a time and the last ones only.
func TestToldAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	var r Repeats
	if r.Due(now) != nil {
		t.Error("there is one before any was made")
	}
	for i := range byte(MaxRepeated + 1) {
		r.Add(now, []byte{i})
	}
	if r.Due(now.Add(ProofsAgain-1)) != nil {
		t.Error("it is told again at once")
	}
	at, wait := now, ProofsAgain
	for i := range 8 {
		at = at.Add(wait)
		if b := r.Due(at); b == nil || i == 0 && b[0] != MaxRepeated {
			t.Fatalf("after %v is told %v", wait, b)
		}
		if wait = min(2*wait, Seldom); r.Due(at.Add(wait-1)) != nil {
			t.Fatalf("it is told more often than every %v", wait)
		}
	}
	now = at
	seen := map[byte]bool{}
	for i := range 2 * MaxRepeated {
		at := now.Add(time.Duration(i+1) * Seldom)
		b := r.Due(at)
		if b == nil || r.Due(at) != nil {
			t.Fatal("none is told again, or several at once")
		}
		seen[b[0]] = true
	}
	if len(seen) != MaxRepeated || seen[0] {
		t.Errorf("told again are %v", seen)
	}
}
