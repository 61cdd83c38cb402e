package alarm

import (
	"math/rand/v2"
	"strconv"
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

// Statements that a peer has made are told everybody again, one at a time: the newest first, and each within some 80
// minutes, however many there are, up to a bound.
func TestToldAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	if _, due := new(Repeats).Due(now); due {
		t.Error("there is one before any was made")
	}
	for _, n := range []int{1, MaxRepeated, 20, MaxRepeats + 1} {
		var r Repeats
		for i := range n {
			r.Add(now, strconv.Itoa(i))
		}
		most := Seldom * MaxRepeated / time.Duration(max(MaxRepeated, min(n, MaxRepeats)))
		at, wait := now, ProofsAgain
		for i := range 8 {
			if _, due := r.Due(at.Add(wait - 1)); due {
				t.Fatalf("of %d one is told more often than every %v", n, wait)
			}
			at = at.Add(wait)
			if name, due := r.Due(at); !due || i == 0 && name != strconv.Itoa(n-1) {
				t.Fatalf("of %d after %v is told %q", n, wait, name)
			}
			wait = min(2*wait, most)
		}
		seen := map[string]bool{}
		for end := at.Add(Seldom*MaxRepeated + 2*time.Minute); at.Before(end); at = at.Add(time.Second) {
			if name, due := r.Due(at); due {
				seen[name] = true
			}
		}
		if len(seen) != min(n, MaxRepeats) || seen["0"] != (n <= MaxRepeats) {
			t.Errorf("of %d %d are told again in 80 minutes", n, len(seen))
		}
	}
}
