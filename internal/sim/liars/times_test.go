package liars

import "testing"

// One node in a hundred costs at most 3 % of the time, whether nodes take as long or have a heavy tail of times; and
// wrong nodes that take long are found more often than by draws that are alike.
func TestTimes(t *testing.T) {
	const rate = 0.01
	for _, heavy := range []bool{false, true} {
		if mean, deviation, err := cost(rate, heavy, false, 3); err != nil || mean > 0.03 || mean < 0.02 {
			t.Errorf("heavy tail %v: %.4f of the time, ±%.4f, %v", heavy, mean, deviation, err)
		}
	}
	for _, is := range []Character{Missing, Sparing} {
		_, alike, err := found(is, 4*rate, true, 50)
		if err != nil {
			t.Fatal(err)
		}
		of, both, err := found(is, 4*rate, false, 50)
		if err != nil || of != 50 || 2*both < 3*alike {
			t.Errorf("%s: %d of %d are found, %d if nobody says times; %v", is, both, of, alike, err)
		}
	}
}

// Whatever liars say of times, they are found as often as the draws that are alike find them.
func TestLiarsSayTimes(t *testing.T) {
	result := func(says Says, quiet bool) (sum Result) {
		for seed := range uint64(25) {
			r, err := Run(Config{Seed: seed, Verify: spotted(0.05), Peers: 6, Liars: 6, Is: Careless, Jobs: 6,
				Deepest: 9, Heavy: true, Says: says, Quiet: quiet, Used: true})
			if err != nil {
				t.Fatal(err)
			}
			sum.add(&r)
		}
		return sum
	}
	alike := result(TimesTaken, true)
	for says := range says {
		if r := result(says, false); float64(r.Caught) < 0.9*float64(alike.Caught) {
			t.Errorf("%d: %d of %d are caught, %d if nobody says times", says, r.Caught, r.Lied, alike.Caught)
		}
	}
}
