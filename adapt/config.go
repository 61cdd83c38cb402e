package adapt

import (
	"errors"
	"fmt"
	"time"
)

// Mode says what a run does with what it has measured.
type Mode uint8

// The modes.
const (
	// Off changes nothing.
	Off Mode = iota
	// Paper adds and releases peers by efficiency, as published: for machines that somebody pays for.
	Paper
	// Volunteers keeps everybody who does no harm: an idle volunteer costs nothing. Only clusters behind bad links
	// and peers that are far too slow go.
	Volunteers
)

var modeNames = []string{"off", "paper", "volunteers"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// ParseMode finds a mode by its name.
func ParseMode(name string) (Mode, error) {
	for i, n := range modeNames {
		if n == name {
			return Mode(i), nil
		}
	}
	return Off, fmt.Errorf("%w: %q is no way to adapt; there are off, paper and volunteers", ErrConfig, name)
}

// ErrConfig is what errors about a Config wrap.
var ErrConfig = errors.New("invalid configuration of adaptation")

// Config has the constants. Shares are parts of 1.
type Config struct {
	Mode Mode
	// Min and Max bound the number of peers of the run, the master among them; Max 0 is no bound.
	Min, Max int
	// Period is the time between two decisions, 1 s at least. The paper names 10 minutes as long; ours.
	Period time.Duration
	// FullShare is the part of a period that a sample must be of to count; ours.
	FullShare float64

	// EMax and EMin are between what the weighted average efficiency is kept: 0.5 "because we know that adding
	// processors when the efficiency is lower does not make sense", and 0.3 (programming-model paper, 4.5).
	EMax, EMin float64
	// MostGrowth is how many times as many peers may be asked for at once; ours.
	MostGrowth float64
	// MostRelease is the part of them that may be released at once; ours.
	MostRelease float64

	// A cluster's inter-cluster overhead is the median of its members', and its bandwidth the second best that they
	// have seen, as anybody may say that it is one of them. The overhead is bad when it is above BadLink and above
	// LinkFactor times the median of the others', and the bandwidth, where it is known, LinkFactor times below the
	// median of theirs; the cluster goes when that is so in two periods in a row, or the overhead is above WorstLink
	// once; ours, as the paper gives none.
	// BadLink can be low because waiting alone sends nobody away whose bandwidth is known to be as good as the others',
	// and has to be, as the median is below the mean in a cluster of which a few wait long. It was chosen on a model of
	// the paper's scenarios with large results; in those of docs/results/sim-adaptive.md 0.24 does the same.
	BadLink, LinkFactor, WorstLink float64
	// ReadmitFactor is how many times the bandwidth with which a cluster went it must have to come back, at
	// first; it doubles each time that it had to go again; ours.
	ReadmitFactor float64

	// Badness of a peer is SlowWeight times how many times the fastest peer (of three, the second) is as fast,
	// LinkWeight times its inter-cluster overhead, and WorstWeight if it is in the cluster with the most of that; ours.
	SlowWeight, LinkWeight, WorstWeight float64
	// SlowFactor is how many times slower than the median a volunteer has to be to do harm; ours.
	SlowFactor float64
	// MostLoss is the part of the run's work that may be missing after a volunteer has gone; ours.
	MostLoss float64
	// Patience is for how many periods after a release nothing is asked for, at first, and PatienceMost the most
	// that it doubles to; ours. After as many periods without a release it begins anew.
	Patience, PatienceMost int
	// Absence is for how many periods a peer stays away that was released, or a cluster whose bandwidth nobody can
	// measure any more, at first; it doubles each time; ours.
	Absence int
	// SlowerBack is how many times longer than others a cluster stays away whose bandwidth is known to be too little:
	// not for ever, since its members may have told of too much when it went; ours.
	SlowerBack int
}

// Default has the constants as published, and ours.
func Default(m Mode) Config {
	return Config{
		Mode: m, Min: 1, Period: 30 * time.Second, FullShare: 0.8,
		EMax: 0.5, EMin: 0.3, MostGrowth: 2, MostRelease: 0.5,
		BadLink: 0.06, LinkFactor: 2, WorstLink: 0.5, ReadmitFactor: 2,
		SlowWeight: 1, LinkWeight: 10, WorstWeight: 10, SlowFactor: 4, MostLoss: 0.1,
		Patience: 2, PatienceMost: 32, Absence: 10, SlowerBack: 8,
	}
}

// Validate says what is out of range.
func (c *Config) Validate() error {
	bad := func(what string, is any, want string) error {
		return fmt.Errorf("%w: %s is %v; %s", ErrConfig, what, is, want)
	}
	switch {
	case int(c.Mode) >= len(modeNames):
		return bad("the mode", c.Mode, "off, paper and volunteers are possible")
	case c.Min < 1 || c.Min > maxPeers:
		return bad("the least number of peers", c.Min, fmt.Sprintf("1 to %d are possible", maxPeers))
	case c.Max != 0 && (c.Max < c.Min || c.Max > maxPeers):
		return bad("the greatest number of peers", c.Max,
			fmt.Sprintf("%d, the least number, to %d are possible, or 0 for any", c.Min, maxPeers))
	case c.Period < time.Second:
		return bad("the period", c.Period, "1 s at least")
	case !(c.FullShare > 0 && c.FullShare <= 1):
		return bad("the part of a period", c.FullShare, "0 to 1 are possible")
	case !(c.EMin > 0 && c.EMin < c.EMax && c.EMax <= 1):
		return bad("the efficiency", fmt.Sprintf("%v to %v", c.EMin, c.EMax), "0 < EMin < EMax <= 1")
	case !(c.MostGrowth > 1) || !(c.MostRelease > 0 && c.MostRelease <= 0.5):
		return bad("the step", fmt.Sprintf("%v, %v", c.MostGrowth, c.MostRelease),
			"growth above 1 and release up to 0.5 are possible")
	case !(c.BadLink > 0 && c.BadLink <= c.WorstLink && c.WorstLink <= 1 && c.LinkFactor >= 1 && c.ReadmitFactor > 1):
		return bad("the bad link", fmt.Sprintf("%v, %v, %v, %v", c.BadLink, c.LinkFactor, c.WorstLink, c.ReadmitFactor),
			"0 < BadLink <= WorstLink <= 1, factors above 1")
	case !(c.SlowWeight >= 0 && c.LinkWeight >= 0 && c.WorstWeight >= 0 && c.SlowFactor >= 1):
		return bad("a weight", fmt.Sprintf("%v, %v, %v, %v", c.SlowWeight, c.LinkWeight, c.WorstWeight, c.SlowFactor),
			"0 and more, SlowFactor 1 and more")
	case !(c.MostLoss >= 0 && c.MostLoss < 1):
		return bad("the loss", c.MostLoss, "0 to below 1 are possible")
	case c.Patience < 1 || c.PatienceMost < c.Patience || c.Absence < 1 || c.SlowerBack < 1:
		return bad("the patience", fmt.Sprintf("%d, %d, %d, %d", c.Patience, c.PatienceMost, c.Absence, c.SlowerBack),
			"1 and more, the most no less than the first")
	}
	return nil
}

const maxPeers = 1 << 20
