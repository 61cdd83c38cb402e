package liars

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/verify"
)

// A Failure is a schedule that broke what must hold.
type Failure struct {
	Seed uint64
	Err  error
}

var errWrong = errors.New("something wrong was accepted")

// ConfigOf draws a schedule: all characters, lost answers, with and without the owner's own copies.
func ConfigOf(seed uint64) Config {
	rng := rand.New(rand.NewPCG(seed, 41))
	is := Characters()[rng.IntN(len(Characters()))]
	c := Config{Seed: seed, Peers: 4 + rng.IntN(8), Is: is, Jobs: 3 + rng.IntN(12), Deepest: 6 + rng.IntN(4),
		Lossy: rng.IntN(2) == 0, OneGang: rng.IntN(2) == 0,
		Verify: verify.Config{Quorum: 2, Own: true, Wait: 20 * time.Second, MaxOpen: 100}}
	c.Liars, c.Used, c.Rough = rng.IntN(c.Peers), rng.IntN(2) == 0, seed%2 == 1
	switch rng.IntN(6) {
	case 0:
		c.Verify.Quorum = 3
	case 1:
		c.Verify.Quorum, c.Verify.Spot = 1, float64(1+rng.IntN(100))/100
	case 2, 3:
		c.doubts(rng)
	case 4:
		c.Liars = 1
	}
	c.Heavy, c.Says = rng.IntN(2) == 0, Says(rng.IntN(int(says)))
	return c
}

// doubts has a schedule go by the records of its peers. Whoever is patient has waited until there is one, and breaks
// what is assumed.
func (c *Config) doubts(rng *rand.Rand) {
	v := doubt(c.Verify)
	v.Again, v.AtOnce = float64(rng.IntN(100))/100, rng.IntN(4)
	c.Verify, c.Liars = v, min(c.Liars, int(v.Liars*float64(c.Peers)))
	if rng.IntN(2) == 0 || c.Is == Patient {
		c.Record = uint64(rng.IntN(2000))
	}
	if c.Is != Patient { // a liar whose share does not change has no record, or is out
		c.Fresh = true
	}
}

// doubt is one of the ways to verify.
func doubt(c verify.Config) verify.Config {
	c.Quorum, c.Doubt, c.Liars, c.Again, c.AtOnce = 1, 1e-4, 0.2, 0.2, 2
	return c
}

// sound says whether the quorum of a schedule lets nothing wrong pass for certain: its liars are one party, or do not
// agree with each other. By records what is wrong passes with some probability, and for certain where all is a liar's.
func (c *Config) sound() bool {
	if c.Verify.Doubt > 0 {
		return c.Liars == 0 || c.Fresh && c.OneGang
	}
	return c.Verify.Spot == 0 && (c.Liars <= 1 || c.OneGang || c.Is == Lazy || c.Is == Silent)
}

// OneLiarOf draws a schedule with a quorum of two and one liar: nothing wrong may ever be accepted.
func OneLiarOf(seed uint64) Config {
	c := ConfigOf(seed)
	c.Verify = verify.Config{Quorum: 2, Own: true, Wait: 20 * time.Second, MaxOpen: 100}
	c.Liars, c.Record, c.Fresh = 1, 0, false
	return c
}

// Check runs n schedules from a seed on, as draw draws them.
func Check(draw func(seed uint64) Config, from, n uint64) (sum Result, failures []Failure) {
	for seed := from; seed < from+n; seed++ {
		c := draw(seed)
		r, err := Run(c)
		if err == nil && r.Misled > 0 && c.sound() {
			err = fmt.Errorf("%w: %d of %d, by %d of %d that are %s, quorum %d", errWrong, r.Misled, r.Jobs, c.Liars,
				c.Peers, c.Is, c.Verify.Quorum)
		}
		if err != nil {
			failures = append(failures, Failure{seed, err})
		}
		sum.add(&r)
	}
	return sum, failures
}

func (r *Result) add(x *Result) {
	r.Wrong += x.Wrong
	r.Misled += x.Misled
	r.Jobs += x.Jobs
	r.Needed += x.Needed
	r.Ran += x.Ran
	r.Owner += x.Owner
	r.Time += x.Time
	r.OwnTime += x.OwnTime
	r.Openings += x.Openings
	r.Caught += x.Caught
	r.Lied += x.Lied
	r.Missing += x.Missing
	r.OnLiars += x.OnLiars
	r.Doubt += x.Doubt
}
