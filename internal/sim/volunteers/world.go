package volunteers

import (
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/internal/sim/agenda"
)

// A link sends one thing after the other.
type link struct {
	rate float64 // bytes a second
	free time.Duration
}

func (l *link) send(now time.Duration, bytes float64) (at time.Duration) {
	l.free = max(now, l.free) + span(bytes/l.rate)
	return l.free
}

// A host is one core of a volunteer's machine.
type host struct {
	up    bool
	since time.Duration // when it came
	link  link
	work  *share   // what it does; nil: it is idle
	turn  int      // counts what it began, so that what was to happen to the one before does not
	held  []*share // what it has not got rid of, work among it
	todo  []*check // pieces that are here to be checked
	busy  int      // place in world.busy; -1: what it does cannot be divided
	idle  bool     // it is in world.idle
	// checking is what it checks, since checked, if it does that.
	checking *check
	checked  time.Duration
}

// A part is one of the campaign's that was begun.
type part struct {
	number   int     // in the plan
	verdicts int     // that were given
	tries    int     // counts how often its piece was whole, or lost again
	by       []*host // who checks it
}

// A share is the work of a part, or what was taken from another share.
type share struct {
	part  *part
	from  *share // nil: it is all of the part
	host  *host  // nil: nobody has it
	left  float64
	done  float64       // by the host, so that it is gone with it
	safe  float64       // what others have done of it
	out   int           // shares that were taken from it and are not back
	sent  int           // counts how often it was on its way to whom it came from
	since time.Duration // when the host went on with it
}

// A check is of a part's piece by one host.
type check struct {
	share *share // all of the part
	try   int
	cost  float64 // seconds
}

type world struct {
	Config
	chance *rand.Rand
	agenda agenda.Agenda
	now    time.Duration
	hosts  []*host
	busy   []*host  // those with work that can be divided
	idle   []*host  // those that wait, the first first; some are not any more
	queue  []*share // that nobody has
	state  campaign.State
	order  []int
	going  int
	proved float64 // conflicts
	all    float64
	owner  struct {
		in, out link
		cores   []time.Duration // when each is free
	}
	report Report
}

// Run simulates a campaign to its end, or until it is given up.
func Run(c Config) Report {
	w := &world{Config: c, chance: rand.New(rand.NewPCG(c.Seed, 1))}
	plan := &campaign.Plan{Cubes: make([][]int32, len(c.Parts))}
	for i := range plan.Cubes {
		plan.Cubes[i] = []int32{int32(i)}
		w.all += c.Parts[i]
	}
	w.state = campaign.State{Plan: plan, Pieces: make([]*campaign.Piece, len(c.Parts))}
	w.order = plan.Order()
	w.owner.in.rate, w.owner.out.rate = c.OwnerLink, c.OwnerLink
	w.owner.cores = make([]time.Duration, max(1, c.OwnerCores))
	for range c.Hosts {
		h := &host{link: link{rate: c.Link}, busy: -1}
		w.hosts = append(w.hosts, h)
		if w.chance.Float64() < c.Up.Mean()/(c.Up.Mean()+c.Down.Mean()) {
			w.after(0, func() { w.come(h) })
		} else {
			w.after(c.Down.draw(w.chance), func() { w.come(h) })
		}
	}
	for w.going+len(w.order) > 0 {
		at, do := w.agenda.Next() // there is always something: hosts come and go
		if at > c.Most {
			break
		}
		w.now = at
		do()
	}
	for _, h := range w.hosts {
		w.stop(h)
		w.leaves(h)
	}
	w.report.Took, w.report.Ended = w.now, w.going+len(w.order) == 0
	return w.report
}

func (w *world) after(d time.Duration, do func()) { w.agenda.Post(w.now+d, do) }

func (w *world) come(h *host) {
	h.up, h.since = true, w.now
	w.after(w.Up.draw(w.chance), func() { w.goes(h) })
	w.seek(h)
}

func (w *world) leaves(h *host) {
	if h.up {
		w.report.There += (w.now - h.since).Seconds()
	}
	h.up = false
}
