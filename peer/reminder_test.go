package peer

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
		first := []time.Duration{tellAgain, outSoon}[rng.IntN(2)]
		loss, away := rng.Float64()*0.9, time.Duration(rng.Int64N(int64(longest)))
		var r reminder
		begun := time.Unix(0, 0)
		r.set(begun, first)
		heard, said, after := map[int]bool{}, 0, 0
		for at := time.Duration(0); at < longest+24*time.Hour && len(heard) < members; at += time.Second {
			if at > 0 && !r.due(begun.Add(at)) {
				continue
			}
			said++
			if at < away {
				continue
			}
			if after++; after == 1 && at > away+min(away+first, outEvery)+time.Second {
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
		// It doubles up to outEvery, and is said as often as that afterwards.
		if most := 9 + int(away/outEvery) + after; said > most {
			t.Fatalf("seed %d: said %d times, %d are enough", seed, said, most)
		}
	}
}

// A peer repeats what it has said of who is out: soon after it has said it, and seldom what it had said in an earlier
// life.
func TestRevocationsAreSaidAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	var e exclusion
	if e.due(now) || e.due(now.Add(outEvery-1)) || !e.due(now.Add(outEvery)) {
		t.Error("what was said in an earlier life is not said every ten minutes")
	}
	e.again.set(now, outSoon)
	if e.due(now.Add(outSoon-1)) || !e.due(now.Add(outSoon)) || e.due(now.Add(3*outSoon-1)) ||
		!e.due(now.Add(3*outSoon)) {
		t.Error("what was just said is not said again after 10 s, and after 20 s more")
	}
}
