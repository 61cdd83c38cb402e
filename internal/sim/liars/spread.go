package liars

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim/agenda"
)

// What becomes of a proof once it exists: members tell it each other and try it, and say who is out, by the rules of
// package alarm, on lines that lose some of it and among partitions. A member is a peer, with a place in the tree of
// those who have let each other in.

// Spread is what came of a schedule in which liars are found out.
type Spread struct {
	Proofs  int
	False   int // accusations of honest members
	Lost    int // messages
	Refused int // tellings for which somebody had no room
	Tried   int
	// Took are the times from when a member was to be told until it had the liar out, by how it was told and whether
	// something failed on the way.
	Took [ways][2][]time.Duration
}

// How somebody is told: of a proof when it was found, by the word of one above the liar that is told of it then, of
// either when it is connected again.
const (
	byProof = iota
	byWord
	atMeeting
	ways
)

func (r *Spread) kept(how int, took time.Duration, delayed bool) {
	list := &r.Took[how][0]
	if delayed {
		list = &r.Took[how][1]
	}
	*list = append(*list, took)
}

// Errors of a schedule.
var (
	errStays  = errors.New("a liar is not out in time")
	errNever  = errors.New("a liar is never out")
	errOut    = errors.New("an honest member is out")
	errTrials = errors.New("an accuser takes too much time")
)

const (
	// soon is when a liar is out for whoever tries its proof, and told when for whoever hears that it is: neither
	// counts what lines lose, nor trials of accusations that show nothing.
	soon = 3 * time.Second
	told = time.Second
	// slowTrials is what the trials of all proofs of a schedule take one member at most.
	slowTrials = 2 * time.Second

	mostMembers  = 12
	latest       = 250 * time.Millisecond // of messages
	exchangeTime = 5 * time.Second        // for which an answer is waited for
	keepUpEvery  = time.Second
	longestCut   = 10 * time.Minute
	longest      = 24 * time.Hour
	proofsTold   = 2 // at a meeting
	hopeless     = 6 // tries that have failed: nothing is promised any more
)

// A statement is what is told: that somebody has lied, with the proof, or that somebody is out.
type statement struct {
	by, of   *member
	proof    bool
	lied     bool // it is true
	nothing  bool // its trial shows nothing
	inPieces int  // number, where one accuser makes many
}

type spreading struct {
	rng     *rand.Rand
	now     time.Duration
	queue   agenda.Agenda
	open    bool // everybody's word counts for itself alone
	members []*member
	found   []*statement
	said    []*statement  // by the number under which they are repeated
	calm    time.Duration // when nobody is cut off any more, and all is found out
	over    bool
	res     Spread
	err     error
}

func (s *spreading) after(d time.Duration, do func()) { s.queue.Post(s.now+d, do) }

func (s *spreading) clock() time.Time { return time.Unix(1e9, 0).Add(s.now) }

func (s *spreading) some(d time.Duration) time.Duration {
	return time.Duration(s.rng.Int64N(int64(d) + 1))
}

func (s *spreading) fail(err error, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: at %v, "+format, append([]any{err, s.now}, args...)...)
	}
}

// RunSpread runs a schedule drawn from a seed.
func RunSpread(seed uint64) (Spread, error) {
	s := &spreading{rng: rand.New(rand.NewPCG(seed, 43))}
	s.populate()
	s.disturb()
	s.findOut()
	for _, m := range s.members {
		s.after(s.some(keepUpEvery), m.keepUp)
	}
	s.watch()
	for !s.over && s.err == nil {
		var do func()
		s.now, do = s.queue.Next()
		do()
	}
	return s.res, s.err
}

// populate makes members: the founder, and others each of whom an earlier one has let in, in a swarm with invitations.
// Liars have let in nobody: those by whom they are members would go with them.
func (s *spreading) populate() {
	s.open = s.rng.IntN(4) == 0
	many := 1 + s.rng.IntN(2)
	for i := range 4 + s.rng.IntN(mostMembers-3) {
		m := &member{w: s, i: i, tries: s.rng.IntN(4) > 0, busy: s.rng.IntN(8) == 0, loss: s.loss(),
			of: make([]link, mostMembers), out: map[*member]bool{}, since: map[*member]time.Duration{},
			evidence: map[*member]bool{}, spent: map[*member]time.Duration{}}
		if i > 0 {
			for m.by = s.members[s.rng.IntN(i)]; m.by.lies; m.by = m.by.by {
			}
			m.by.invites = true
			m.lies = i > 2 && s.rng.IntN(3) < many
		}
		s.members = append(s.members, m)
	}
}

// loss is how much of what goes to or from a member is lost.
func (s *spreading) loss() float64 {
	return []float64{0, 0, s.rng.Float64() / 2}[s.rng.IntN(3)]
}

// disturb has partitions come and go.
func (s *spreading) disturb() {
	for range s.rng.IntN(4) {
		begin := s.some(time.Minute)
		end := begin + s.some(longestCut)
		s.calm = max(s.calm, end)
		side, of := 1+s.rng.IntN(3), s.rng.Perm(len(s.members))
		for _, i := range of[:s.rng.IntN(len(of))] {
			m := s.members[i]
			s.after(begin, func() { m.move(side) })
			s.after(end, func() { m.move(0) })
		}
	}
}

// findOut has honest members prove lies, several at once perhaps, and liars accuse others.
func (s *spreading) findOut() {
	at, one := s.some(10*time.Second), s.rng.IntN(2) == 0 // one finds them all at once
	by := s.honest()
	for _, of := range s.members {
		if !of.lies {
			continue
		}
		if !one {
			by = s.honest()
			at += time.Duration(s.rng.IntN(2)) * s.some(5*time.Second)
		}
		s.found = append(s.found, &statement{by: by, of: of, proof: true, lied: true})
		x := s.found[len(s.found)-1]
		s.calm = max(s.calm, at+exchangeTime)
		s.after(at, func() { x.by.prove(x) })
		if s.rng.IntN(3) > 0 {
			continue
		}
		begin, victim, n := s.some(at+10*time.Second), s.honest(), 1+s.rng.IntN(20)
		nothing := s.rng.IntN(2) == 0
		for i := range n {
			x := &statement{by: of, of: victim, proof: true, nothing: nothing, inPieces: i}
			s.after(begin+s.some(5*time.Second), func() { of.accuse(x) })
		}
		s.res.False += n
	}
	for _, m := range s.members {
		m.slow = slowTrials / time.Duration(max(1, len(s.found)))
	}
	s.res.Proofs = len(s.found)
}

// honest draws a member that does not lie.
func (s *spreading) honest() *member {
	for {
		if m := s.members[s.rng.IntN(len(s.members))]; !m.lies {
			return m
		}
	}
}

// watch sees whether all is as it is to be in the end.
func (s *spreading) watch() {
	missing := s.missing()
	if s.over = s.now > s.calm && missing == ""; s.now > longest {
		s.fail(errNever, "%s", missing)
	}
	s.after(keepUpEvery, s.watch)
}

// missing says for whom a liar is not out that should be in the end: for whoever tries its proof, and for all by the
// word of one above it that does.
func (s *spreading) missing() string {
	for _, x := range s.found {
		for _, m := range s.members {
			if m.lies || m.isOut(x.of) {
				continue
			}
			if m.tries || m == x.by || s.outFor(x) {
				return fmt.Sprintf("%d is in for %d", x.of.i, m.i)
			}
		}
	}
	return ""
}

// outFor says whether somebody will say to all that a liar is out.
func (s *spreading) outFor(x *statement) bool {
	return slices.ContainsFunc(s.members, func(a *member) bool {
		return !s.open && !a.lies && a.above(x.of) && (a.tries || a == x.by)
	})
}

// CheckSpread runs n schedules from a seed on.
func CheckSpread(from, n uint64) (sum Spread, failures []Failure) {
	for seed := from; seed < from+n; seed++ {
		r, err := RunSpread(seed)
		if err != nil {
			failures = append(failures, Failure{seed, err})
		}
		sum.Proofs += r.Proofs
		sum.False += r.False
		sum.Lost += r.Lost
		sum.Refused += r.Refused
		sum.Tried += r.Tried
		for how := range r.Took {
			for i := range r.Took[how] {
				sum.Took[how][i] = append(sum.Took[how][i], r.Took[how][i]...)
			}
		}
	}
	return sum, failures
}

// Table prints how long it took until liars were out.
func (r *Spread) Table(w io.Writer) {
	fmt.Fprintln(w, "| a member | times | median, s | largest, s | times with delays | median, s | largest, s |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for how, name := range [ways]string{"tries the proof itself", "hears from one above the liar that it is out",
		"hears either when it is connected again"} {
		fmt.Fprintf(w, "| %s | %s | %s |\n", name, spanOf(r.Took[how][0]), spanOf(r.Took[how][1]))
	}
}

// spanOf says how many times there are, their median and the largest.
func spanOf(list []time.Duration) string {
	if len(list) == 0 {
		return "0 | - | -"
	}
	list = slices.Sorted(slices.Values(list))
	return fmt.Sprintf("%d | %.2f | %.2f", len(list), list[len(list)/2].Seconds(), list[len(list)-1].Seconds())
}
