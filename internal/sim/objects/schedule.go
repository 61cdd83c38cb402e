package objects

import (
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/sharedobj"
)

// Config describes a world.
type Config struct {
	Seed    uint64
	Network func() *wan.Model // a fresh one
	Core    sharedobj.Config

	Constants, Objects, Lattices int
	Steps                        int // things that the program does
	Offers                       int // most numbers offered at once
	Largest, LargestWrite        int // bytes
	Search                       int // portions of a branch-and-bound run

	Calm, End    time.Duration // until Calm things go wrong
	Faults       int
	Loss, Repeat float64
	Shuffle      time.Duration // most by which messages are late
	Late, Slow   time.Duration // most by which ticks and engines are
	Liar, Skewed bool
	Crowded      bool // each peer has other runs, which leave little memory at times
	Guests       int  // whom one peer each knows; of every second seed the liar is one of them

	OneCopy uint64 // bytes announced: what may come into each cluster, and a tenth more; 0: not looked at
}

// Schedule draws a world from a seed.
func Schedule(seed uint64) Config {
	r := rand.New(rand.NewPCG(seed, 0x7363686564))
	sizes := make([]int, 1+r.IntN(3))
	for i := range sizes {
		sizes[i] = 1 + r.IntN(4)
	}
	sizes[0]++
	between := wan.Conditions{Bandwidth: []float64{1e5, 1e6, 1e7}[r.IntN(3)],
		Latency: time.Duration(1+r.IntN(100)) * time.Millisecond}
	core := sharedobj.Default()
	core.MaxBytes = uint64(1+r.IntN(8)) << 18
	core.Patience = time.Duration(2+r.IntN(20)) * time.Second
	core.ReadPatience = time.Minute
	core.AskTimeout = time.Duration(200+r.IntN(2000)) * time.Millisecond
	core.PieceTimeout = time.Duration(300+r.IntN(2000)) * time.Millisecond
	core.RetryAfter = time.Duration(100+r.IntN(1000)) * time.Millisecond
	core.SumsEvery = time.Duration(200+r.IntN(1000)) * time.Millisecond
	core.SmallWrite = 1 << (4 + r.IntN(9))
	if r.IntN(4) == 0 {
		core.MaxEntries, core.MaxFetches, core.MaxAdopted, core.MaxJobs = 20+r.IntN(30), 4+r.IntN(8), 1+r.IntN(3),
			4+r.IntN(20)
	}
	c := Config{Seed: seed, Core: core,
		Network: func() *wan.Model {
			return wan.Uniform(sizes, wan.Conditions{Bandwidth: 1e8, Latency: time.Millisecond}, between)
		},
		Constants: r.IntN(4), Objects: 1 + r.IntN(3), Lattices: 1 + r.IntN(3), Steps: 20 + r.IntN(150),
		Offers: []int{1, 3, 40}[r.IntN(3)], Largest: 1 + r.IntN(100_000), LargestWrite: 1 + r.IntN(8000),
		Calm: time.Duration(5+r.IntN(20)) * time.Second,
		Late: time.Duration(r.IntN(20)) * time.Millisecond, Slow: time.Duration(1+r.IntN(50)) * time.Millisecond,
		Skewed: r.IntN(4) == 0,
	}
	if r.IntN(3) > 0 {
		c.Loss, c.Repeat, c.Shuffle = 0.3*r.Float64(), 0.2*r.Float64(), time.Duration(r.IntN(500))*time.Millisecond
		c.Faults = r.IntN(8)
		c.Liar = r.IntN(4) == 0 && sizes[len(sizes)-1] > 1
	}
	if r.IntN(2) == 0 {
		c.Search = 1 + r.IntN(8)
	}
	if r.IntN(3) == 0 {
		c.Guests = 1 + r.IntN(3)
	}
	c.Crowded = seed%5 == 2
	c.Core.FlushEvery <<= r.IntN(6)
	c.End = c.Calm + 20*(core.Patience+15*time.Second)
	return c
}
