package alarm

import "time"

const (
	// ProofsAgain and RevocationsAgain are when what was just made is said again, for gossip may lose it; then it waits
	// twice as long each time, up to Seldom.
	ProofsAgain      = 5 * time.Second
	RevocationsAgain = 10 * time.Second
	Seldom           = 10 * time.Minute

	// WarnEvery is how often one member may warn, in the long run: signatures are looked at. At once, WarnBurst, it may
	// tell of as many liars as wait to be tried, each with its word that they are out.
	WarnEvery = time.Second
	WarnBurst = 2 * MaxTrials

	// MaxRepeated is how many statements are told again within Seldom, and MaxRepeats how many at all: each of these is
	// told again once in so many times Seldom, 80 minutes.
	MaxRepeated = 8
	MaxRepeats  = 256
)

// A Reminder says when what gossip may lose is said again: some time after it was said, and then after twice as
// long each time, up to Seldom. So whoever was out of reach for a while hears of it at the latest after as long a
// time again, and what is old costs little. The zero Reminder is about what was said in an earlier life: whoever is met
// is told, so the others are told seldom.
type Reminder struct {
	next time.Time
	wait time.Duration
}

// Set says that something was said just now, and when it is due again.
func (r *Reminder) Set(now time.Time, wait time.Duration) { r.wait, r.next = wait, now.Add(wait) }

// Due says whether it is to be said again now.
func (r *Reminder) Due(now time.Time) bool {
	if r.wait == 0 {
		r.Set(now, Seldom)
	}
	if now.Before(r.next) {
		return false
	}
	r.Set(now, min(2*r.wait, Seldom))
	return true
}

// Repeats are the names of the last statements of a kind that a peer has made, which are told again in turn: the newest
// after ProofsAgain, for whoever has missed it or had no time to try it, then after twice as long each time, up to
// Seldom, or less where there are more than MaxRepeated.
type Repeats struct {
	list []string
	turn int
	Reminder
}

// Add takes in one that was just told.
func (r *Repeats) Add(now time.Time, name string) {
	r.list = append(r.list, name)
	r.list = r.list[max(0, len(r.list)-MaxRepeats):]
	r.turn = len(r.list) - 2
	r.Set(now, ProofsAgain)
}

// Due is the one to be told now; false if none is.
func (r *Repeats) Due(now time.Time) (name string, due bool) {
	n := len(r.list)
	if n == 0 || !r.Reminder.Due(now) {
		return "", false
	}
	r.Set(now, min(r.wait, Seldom*MaxRepeated/time.Duration(max(n, MaxRepeated))))
	r.turn++
	return r.list[r.turn%n], true
}

// Tries are those to tell one member something, or to meet it. The zero Tries are for none yet.
type Tries struct{ failed int }

// What has failed is tried again after TryAgain, twice as long each time. Whoever never answers costs MaxTries.
const (
	TryAgain = time.Second
	MaxTries = 6
)

// Failed says that one has failed, and after which time there is another; false if there is none.
func (t *Tries) Failed() (wait time.Duration, again bool) {
	t.failed++
	return TryAgain << (t.failed - 1), t.failed < MaxTries
}
