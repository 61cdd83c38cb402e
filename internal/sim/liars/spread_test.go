package liars

import "testing"

// A liar is out within 3 s of its proof for every member that is connected to whoever has found it out, or to one above
// the liar who is, however many are found out at once and whatever is said of honest members.
// What lines lose delays that by the tries that fail and the pauses after them, and other trials by their own time.
// Whoever was cut off has the liar out within 3 s after it is connected again to a member that has, if that one has no
// more proofs than are told at a meeting. In the end all have it out, and nobody honest is out for anybody.
func TestLiarsAreOutSoon(t *testing.T) {
	sum, failures := CheckSpread(0, 300)
	for _, f := range failures {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	for how, took := range sum.Took {
		if len(took[0]) == 0 || len(took[1]) == 0 {
			t.Errorf("in the way %d so many are told: %d, with delays %d", how, len(took[0]), len(took[1]))
		}
	}
	if sum.False == 0 || sum.Refused == 0 {
		t.Errorf("%d false accusations, %d tellings refused", sum.False, sum.Refused)
	}
}
