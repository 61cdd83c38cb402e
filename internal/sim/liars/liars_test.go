package liars

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/verify"
)

// Many schedules: nobody honest is blamed, every proof holds, everything comes to an end, and one party that lies gets
// nothing wrong through a quorum.
func TestSchedules(t *testing.T) {
	const n = uint64(50)
	sum, failures := Check(ConfigOf, 0, n)
	one, more := Check(OneLiarOf, 0, n)
	for _, f := range append(failures, more...) {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if one.Misled > 0 || one.Lied < int(n)/2 || one.Caught < one.Lied/2 {
		t.Errorf("a quorum of two and one liar: %+v", one)
	}
	if sum.Caught == 0 || sum.Openings == 0 || sum.Misled == 0 {
		t.Errorf("the schedules are too tame: %+v", sum)
	}
}

// The same seed gives the same run.
func TestReplay(t *testing.T) {
	for seed := range uint64(20) {
		a, errA := Run(ConfigOf(seed))
		b, errB := Run(ConfigOf(seed))
		if a != b || (errA == nil) != (errB == nil) {
			t.Errorf("seed %d: %+v, then %+v", seed, a, b)
		}
	}
}

// What each way lets through and costs, in orders of magnitude.
func TestModes(t *testing.T) {
	result := func(c verify.Config, liars int, is Character) (sum Result) {
		for seed := range uint64(3) {
			r, err := Run(Config{Seed: seed, Verify: c, Peers: 12, Liars: liars, Is: is, Jobs: 60, Deepest: 9})
			if err != nil {
				t.Fatal(err)
			}
			sum.add(&r)
		}
		return sum
	}
	base := verify.Config{Quorum: 1, Own: true, Wait: time.Minute, MaxOpen: 1000}
	quorum, spot := base, base
	quorum.Quorum, spot.Spot = 2, 0.1
	if r := result(base, 3, Lazy); r.Wrong == 0 || r.Ran > r.Needed {
		t.Errorf("members: %+v", r)
	}
	if r := result(spot, 3, Lazy); r.Wrong != 0 || r.Caught != r.Lied {
		t.Errorf("spot checks do not find who does not compute: %+v", r)
	}
	if r := result(spot, 3, Once); r.Wrong == 0 {
		t.Errorf("spot checks are said to miss single false leaves: %+v", r)
	}
	if r := result(spot, 0, Honest); float64(r.Ran) > 1.2*float64(r.Needed) {
		t.Errorf("spot checks cost %d nodes for %d", r.Ran, r.Needed)
	}
	for _, is := range Characters() {
		if r := result(quorum, 1, is); r.Wrong != 0 || r.Caught != r.Lied {
			t.Errorf("a quorum and one that is %s: %+v", is, r)
		}
	}
	if r := result(quorum, 0, Honest); r.Ran > 2*r.Needed || r.Owner > 0 {
		t.Errorf("a quorum costs %d nodes for %d, %d by the owner", r.Ran, r.Needed, r.Owner)
	}
	if r := result(quorum, 9, Colluding); r.Misled == 0 || r.Wrong > 0 {
		t.Errorf("a quorum is said to believe a gang with several introducers, until one of it is caught: %+v", r)
	}
}

// What records cost and spare: at most 2.5 times the work with one liar in twenty, and 1.3 times when each peer has
// passed 1,000 comparisons. Nothing wrong passes but for whoever was honest until then.
func TestDoubtCosts(t *testing.T) {
	base := doubt(verify.Config{Own: true, Wait: time.Minute, MaxOpen: 1000})
	for _, c := range []struct {
		record uint64
		most   float64
	}{{0, 2.5}, {1000, 1.3}} {
		for _, is := range Characters() {
			r, err := Run(Config{Seed: 1, Verify: base, Peers: 20, Liars: 1, Is: is, Jobs: 300, Deepest: 8, Used: true,
				Record: c.record, Fresh: is != Patient})
			cost := float64(r.Ran) / float64(r.Needed)
			if err != nil || cost > c.most || r.Wrong > 0 && (is != Patient || c.record == 0) {
				t.Errorf("%s, %d before: %.2f times the work, at most %.1f are wanted: %+v, %v", is, c.record, cost,
					c.most, r, err)
			}
		}
	}
}

// Without own copies a node waits for peers with other introducers, and says how many.
func TestMissing(t *testing.T) {
	c := Config{Seed: 1, Peers: 5, Liars: 5, Is: Honest, OneGang: true, Jobs: 4, Deepest: 8,
		Verify: verify.Config{Quorum: 2, Wait: time.Minute, MaxOpen: 100}}
	if r, err := Run(c); err != nil || r.Missing != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Liars of different introducers that agree decide what two are asked about: that is what a quorum of two says, and no
// more. By records they get through no more than is said beside the answer, if they are as few as is assumed; alone, or
// of one introducer, they get nothing through a quorum.
func TestColludersOfTwoHands(t *testing.T) {
	result := func(c verify.Config, liars int, oneGang bool) (sum Result) {
		for seed := range uint64(20) {
			r, err := Run(Config{Seed: seed, Verify: c, Peers: 10, Liars: liars, Is: Colluding, OneGang: oneGang,
				Jobs: 40, Deepest: 8, Used: true, Fresh: true})
			if err != nil {
				t.Fatal(err)
			}
			sum.add(&r)
		}
		return sum
	}
	quorum := verify.Config{Quorum: 2, Own: true, Wait: time.Minute, MaxOpen: 1000}
	if r := result(quorum, 2, false); r.Misled == 0 || r.Caught == 0 {
		t.Errorf("two that agree decide nothing: %+v", r)
	}
	if r := result(quorum, 5, true); r.Misled != 0 {
		t.Errorf("voices of one introducer are several: %+v", r)
	}
	three := quorum
	if three.Quorum = 3; result(three, 2, false).Misled != 0 {
		t.Error("two decide where three are asked")
	}
	r := result(doubt(quorum), 2, false)
	if float64(r.Misled) > r.Doubt+float64(r.OnLiars) || r.Doubt > 1e-4*float64(r.Jobs) {
		t.Errorf("one in five: %d of %d got through, %g are said", r.Misled, r.Jobs, r.Doubt)
	}
}

// When one of a gang is caught that was honest until it was believed alone, nobody of it is believed any more, also by
// an owner that was started again and has met none of them since.
func TestFriendsOfLiars(t *testing.T) {
	caught := 0
	for seed := range uint64(10) {
		r, err := Run(Config{Seed: seed, Verify: doubt(verify.Config{Own: true, Wait: time.Minute, MaxOpen: 1000}),
			Peers: 10, Liars: 3, Is: Patient, OneGang: true, Jobs: 40, Deepest: 8, Used: true, Record: 1000})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		caught += r.Caught
	}
	if caught == 0 {
		t.Error("nobody is caught")
	}
}
