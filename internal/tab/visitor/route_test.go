package visitor

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whoever is lost at one gateway goes on at the next at once; one that has failed everywhere waits longer and longer;
// and who refuses is not asked again, whatever the others say.
func TestRoute(t *testing.T) {
	r := newRoute("a", []string{"b", "a", "c", "b"})
	step := func(at string, after time.Duration) {
		t.Helper()
		got, pause, ok := r.next()
		if got != at || pause != after || !ok {
			t.Fatalf("next is %q after %v, %v: want %q after %v", got, pause, ok, at, after)
		}
	}
	step("a", 0)
	r.ended(true) // it has worked, and is lost
	step("b", shortPause)
	r.ended(false)
	step("c", shortPause)
	r.refused()
	step("a", leastPause)
	r.ended(false)
	step("b", leastPause)
	r.ended(false)
	step("a", 2*leastPause)
	r.refused()
	for range 10 {
		r.ended(false)
	}
	step("b", mostPause)
	r.ended(true)
	step("b", leastPause) // it is the only one
	r.refused()
	if at, _, ok := r.next(); ok {
		t.Errorf("who was refused everywhere goes to %q", at)
	}
}

// Whatever gateways do, a tab visits none that has refused it, all others by turns, and bothers them all together less
// than so often.
func TestRouteAmongHostileGateways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching("[a-d]"), 1, 6).Draw(t, "list")
		r := newRoute(list[0], list[1:])
		var spent time.Duration
		refused := map[string]bool{}
		var visits []string
		fails := 0 // in a row
		for range 200 {
			at, pause, ok := r.next()
			if !ok {
				for _, x := range list {
					if !refused[x] {
						t.Fatalf("%s was given up", x)
					}
				}
				return
			}
			if refused[at] || !slices.Contains(list, at) {
				t.Fatalf("it goes to %s", at)
			}
			if spent += pause; fails >= len(list) && pause < leastPause {
				t.Fatalf("after %d visits in vain it pauses for %v", fails, pause)
			}
			fails++
			visits = append(visits, at)
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				refused[at] = true
				r.refused()
			case 1, 2, 3:
				fails = 1
				r.ended(true)
			default:
				r.ended(false)
			}
		}
		if most := len(list) + int(spent/shortPause); len(visits) > most {
			t.Errorf("%d visits within %v", len(visits), spent)
		}
		tail := visits[len(visits)-50:]
		for _, x := range list {
			if !refused[x] && !slices.Contains(tail, x) {
				t.Errorf("%s is not visited any more", x)
			}
		}
	})
}
