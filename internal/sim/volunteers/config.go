package volunteers

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// A Config is a campaign and who takes part in it.
type Config struct {
	Seed     uint64
	Hosts    int
	Up, Down Weibull
	Abrupt   float64 // the share of leavers who say nothing

	Parts  []float64 // the conflicts of each
	AtOnce int       // parts that are begun and not yet proved
	// Solving and Checking are processor time for a conflict, in seconds.
	Solving, Checking float64
	// Bytes are those of a piece, for a conflict, as it travels.
	Bytes float64
	// Grain is the least processor time that is worth to be halved, in seconds, and Steal what asking for work takes.
	Grain, Steal float64

	Link, OwnerLink float64 // bytes a second, each way
	OwnerCores      int
	// Verdicts is how many hosts check each piece; 0: the owner does. Direct says that they have it from the host where
	// it is whole, and the owner the verdicts alone.
	Verdicts int
	Direct   bool

	Most time.Duration // when the simulation is given up
}

// A Weibull is a distribution of times.
type Weibull struct {
	Shape float64
	Scale float64 // hours
}

// Mean is in hours.
func (w Weibull) Mean() float64 { return w.Scale * math.Gamma(1+1/w.Shape) }

// WithMean is the distribution of that shape and mean, in hours.
func WithMean(shape, mean float64) Weibull { return Weibull{shape, mean / math.Gamma(1+1/shape)} }

func (w Weibull) draw(chance *rand.Rand) time.Duration {
	const longest = 1000 * 24 // hours
	return span(3600 * min(longest, w.Scale*math.Pow(-math.Log(1-chance.Float64()), 1/w.Shape)))
}

// span makes a Duration of seconds.
func span(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

//go:embed recorded.txt
var recorded string

// Recorded are the conflicts of the 2,000 parts of w(2;3,13), as `satin-peer campaign new w13 --parts 2000 -- sat
// --waerden 3,13,160` cuts it, in the order of the plan.
func Recorded() (conflicts []float64) {
	for _, word := range strings.Fields(recorded) {
		c, _ := strconv.ParseFloat(word, 64) // a test reads it
		conflicts = append(conflicts, c)
	}
	return conflicts
}

// Spread draws the parts of a campaign of so many conflicts from the sizes of those of another one.
func Spread(recorded []float64, parts int, conflicts float64, seed uint64) []float64 {
	chance := rand.New(rand.NewPCG(seed, 0x5ead))
	all, sum := make([]float64, parts), 0.0
	for i := range all {
		all[i] = recorded[chance.IntN(len(recorded))]
		sum += all[i]
	}
	for i := range all {
		all[i] *= conflicts / sum
	}
	return all
}

// A Report is how it went. Sums of work are in seconds of processor time, and may be more than the parts are worth.
type Report struct {
	Took  time.Duration
	Ended bool // all is proved

	Proved           float64 // conflicts of the pieces that were checked
	There            float64 // what hosts could have given, in seconds
	Solved, Checked  float64 // what they gave, in seconds
	Lost, LostChecks float64 // of that, what was done in vain
	Goodbyes, Deaths int

	Between, Home, Out float64 // bytes between hosts; to the owner; from it
	Estimates          []Estimate
}

// An Estimate is what the campaign's page said was left, in conflicts, when so much of all work was done.
type Estimate struct {
	Done, Left, Said, Error float64
}
