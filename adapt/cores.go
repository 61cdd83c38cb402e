package adapt

import "time"

// A Contender is a run that wants cores of a machine.
type Contender struct {
	Owner string
	Most  int     // the run's own limit
	Dry   bool    // it has no work on the machine at the moment, and others are there
	Worth float64 // its efficiency, 0 to 1; 0: it is not known
}

// TurnEvery is how long it stays as [Divide] has it for a turn.
const TurnEvery = 200 * time.Millisecond

const (
	// unknownWorth is what a run counts for that nobody has measured: the efficiency that adaptation tries to reach.
	unknownWorth = 0.5
	// leastWorth is what any run counts for: one that has just lost most of its peers is not to be left without.
	leastWorth = 0.1
)

// Divide says how many of a machine's cores each run has in a turn.
//
// Owners whose runs have work get the same number of cores, as far as they can be divided. Of an owner's runs each gets
// one, and the rest go to where they are used well, in proportion to the runs' efficiency: so a run that has more
// processors than it can use gives some to one that has not, with nobody to decide it for all, and whoever submits
// many runs, or says that they are efficient, takes nothing from others. Where there are too few cores, owners take
// turns, and so do an owner's runs. A run that has no work here lends all of its cores, asks for jobs without one (see
// steal.Stance), and has its part as soon as it has got a job; of what nobody else wants it has one.
//
// So one core after the other goes to the owner who has the fewest, and there to the run that has the fewest for what
// it is worth. Among equals those come first whose turn it is.
func Divide(cores int, runs []Contender, turn int) []int {
	got := make([]int, len(runs))
	cores -= share(cores, runs, false, turn, got)
	share(cores, runs, true, turn, got)
	return got
}

// share gives cores to the runs that have work, or to those that have none, and says how many.
func share(cores int, runs []Contender, dry bool, turn int, got []int) (given int) {
	of, order := map[string]int{}, inTurn(runs, dry, turn)
	for ; given < cores; given++ {
		best, least := -1, 0.0
		for _, k := range order {
			r := &runs[k]
			if got[k] >= r.Most || dry && got[k] > 0 {
				continue
			}
			worth := max(r.Worth, leastWorth)
			if r.Worth == 0 {
				worth = unknownWorth
			}
			need := float64(got[k]) / worth
			if best < 0 || of[r.Owner] < of[runs[best].Owner] ||
				r.Owner == runs[best].Owner && need < least {
				best, least = k, need
			}
		}
		if best < 0 {
			break // all have enough
		}
		got[best]++
		of[runs[best].Owner]++
	}
	return given
}

// inTurn lists these runs in the order in which it is their turn: owner by owner, so that whoever has many runs has no
// more turns than others.
func inTurn(runs []Contender, dry bool, turn int) (order []int) {
	var owners []string
	of := map[string][]int{}
	for i := range runs {
		who := runs[i].Owner
		if runs[i].Dry != dry {
			continue
		}
		if of[who] == nil {
			owners = append(owners, who)
		}
		of[who] = append(of[who], i)
	}
	for i := range owners {
		list := of[owners[(i+turn)%len(owners)]]
		first := turn / len(owners) % len(list)
		order = append(append(order, list[first:]...), list[:first]...)
	}
	return order
}
