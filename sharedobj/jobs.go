package sharedobj

import (
	"slices"
	"time"
)

// waiting are the jobs from elsewhere: those that wait for what they name, in the order in which they came, and those
// that run, whose versions are pinned.
type waiting struct {
	*base
	list      []*job
	byID      map[JobID]*job
	placeless bool // a job waits for a place among the fetches,
	freed     bool // and one has ended since
}

// job is one of them. It goes from stage to stage; Withdrawn ends it at any of them.
//
//	fetching --> joining    all that it names is here
//	joining  --> guarding   its parent's values of lattices are joined here
//	guarding --> running    its guard is true, or it has none
//	any but running --> back   its patience is over and nothing comes any more, or something it names cannot be had
type job struct {
	Job
	stage    stage
	since    time.Duration
	got      uint64 // pieces of its values, when that was asked last
	until    time.Duration
	joins    int // of floors, under way
	guard    guard
	lent     bool   // by a guest
	fetching []bool // by need: its digest is being fetched for this job
}

type stage uint8

// guard is how far a job's guard is.
type guard uint8

const (
	unasked guard = iota
	evaluating
	outdated // evaluating, and a lattice has changed since
	refused  // it was false: asked again when a lattice changes
)

const (
	fetching stage = iota
	joining
	guarding
	running
)

// JobCame says that a job from elsewhere is here. It is ordered Ready or Back in time.
func (c *Core) JobCame(now time.Duration, j Job) Output {
	c.begin(now)
	switch {
	case c.jobs.byID[j.ID] != nil:
		c.stats.Malformed++
	case len(c.jobs.byID) >= c.cfg.MaxJobs || len(j.Needs) > c.cfg.MaxNeeds:
		c.stats.Refused++
		c.stats.JobsBack++
		c.order(Order{Kind: OrderBack, Job: j.ID, Err: errRefused})
	default:
		w := &job{Job: j, since: c.now, until: c.now + c.cfg.Patience, fetching: make([]bool, len(j.Needs))}
		c.jobs.byID[j.ID] = w
		c.jobs.list = append(c.jobs.list, w)
		for i := range j.Needs {
			c.claim(j.Needs[i].Digest)
			c.store.pin(j.Needs[i].Digest)
		}
		c.jobs.begins(w)
	}
	return c.end()
}

// begins fetches what is missing.
func (c *waiting) begins(w *job) {
	holders := append([]PeerID{w.Victim}, w.Holders...)
	w.lent = c.place.guests[w.Victim]
	c.progress(w) // what is here has not come
	var missing []*fetch
	for i := range w.Needs {
		if d := w.Needs[i].Digest; !w.fetching[i] && c.store.state(d) == nil {
			if w.lent && c.fetches.byDigest[d] == nil && (!c.fetches.foreign("") || !c.guestRoom(1)) {
				c.back(w, errRefused)
				return
			}
			if c.fetches.byDigest[d] == nil && !w.lent && !c.fetches.placeFor(w.Victim) {
				c.placeless = true
				continue
			}
			if f := c.fetches.fetch(d, holders...); f != nil {
				if f.victim == "" && w.Victim != "" {
					f.victim = w.Victim
					c.fetches.ofVictim[f.victim]++
				}
				f.wait(w, 1)
				w.fetching[i] = true
				missing = append(missing, f)
			}
		}
	}
	for _, f := range missing {
		c.fetches.advance(f)
	}
	if c.byID[w.ID] == w {
		c.proceed(w)
	}
}

// findPlaces begins the fetches of jobs for which there was no place, once for each input.
func (c *waiting) findPlaces() {
	if !c.placeless || !c.freed {
		return
	}
	c.placeless, c.freed = false, false
	for _, j := range slices.Clone(c.list) {
		if j.stage != fetching || c.byID[j.ID] != j {
			continue
		}
		if c.fetches.placeFor(j.Victim) {
			c.begins(j)
		} else {
			c.placeless = true
		}
	}
}

// JobDone says that a job which was Ready has ended, and Withdrawn that nobody wants one any more, ready or not.
func (c *Core) JobDone(now time.Duration, id JobID) Output { return c.Withdrawn(now, id) }

// Withdrawn says that nobody wants a job any more.
func (c *Core) Withdrawn(now time.Duration, id JobID) Output {
	c.begin(now)
	if w := c.jobs.byID[id]; w != nil {
		c.jobs.leave(w)
	}
	return c.end()
}

// leave forgets a job, and what was fetched for it alone.
func (c *waiting) leave(w *job) {
	delete(c.byID, w.ID)
	c.list = slices.DeleteFunc(c.list, func(o *job) bool { return o == w })
	for i := range w.Needs {
		d := w.Needs[i].Digest
		c.store.done(d)
		if f := c.fetches.byDigest[d]; w.fetching[i] && f != nil {
			f.wait(w, -1)
			c.fetches.advance(f)
		}
	}
}

// back gives a job back to its victim.
func (c *waiting) back(w *job, why error) {
	c.leave(w)
	c.stats.JobsBack++
	c.order(Order{Kind: OrderBack, Job: w.ID, Err: why})
}

// proceed takes a job as far as it can go.
func (c *waiting) proceed(w *job) {
	if w.stage == fetching {
		for i := range w.Needs {
			if e := c.store.find(w.Needs[i].Digest); e == nil || e.state == nil {
				return
			}
		}
		w.stage = joining
		c.floors(w)
	}
	if w.stage == joining {
		if w.joins > 0 {
			return
		}
		w.stage = guarding
	}
	if w.stage != guarding || w.guard != unasked {
		return
	}
	if w.Guarded {
		w.guard = evaluating
		c.order(Order{Kind: OrderGuard, Job: w.ID})
		return
	}
	c.ready(w)
}

func (c *waiting) ready(w *job) {
	w.stage, w.guard = running, unasked
	c.order(Order{Kind: OrderReady, Job: w.ID})
}

// floors has the parent's values joined before the job begins: it must see at least what its parent saw.
func (c *waiting) floors(w *job) {
	for i := range w.Needs {
		switch n := &w.Needs[i]; {
		case len(n.Floor) > 0:
			w.joins++
			c.lattices.join(pendingJoin{digest: n.Digest, from: w.Victim, job: w.ID}, n.Floor)
		case n.FloorBlob != Blob{}:
			w.joins++
			c.errands.run(&errand{lattice: n.Digest, from: w.Victim, job: w.ID}, n.FloorBlob)
		}
	}
}

// floored is called when a floor was joined, or could not be.
func (c *waiting) floored(id JobID, ok bool) {
	w := c.byID[id]
	switch {
	case w == nil || w.stage != joining:
	case !ok:
		c.back(w, errFloor)
	default:
		w.joins--
		c.proceed(w)
	}
}

// Guarded answers a Guard order. While a guard is false its lattices are compared with the victim's, where it
// was true (Satin paper, section 4.2), and it is asked again when one of them has changed.
func (c *Core) Guarded(now time.Duration, id JobID, ok bool) Output {
	c.begin(now)
	if w := c.jobs.byID[id]; w != nil && (w.guard == evaluating || w.guard == outdated) {
		switch {
		case ok:
			c.jobs.ready(w)
		case w.guard == outdated:
			w.guard = unasked
			c.jobs.proceed(w)
		default:
			w.guard = refused
			c.lattices.compare(w.Victim)
		}
	}
	return c.end()
}

// changed has guards asked again that may see a lattice which has changed.
func (c *waiting) changed(d Digest) {
	for _, j := range slices.Clone(c.list) {
		if !slices.ContainsFunc(j.Needs, func(n Need) bool { return n.Digest == d }) {
			continue
		}
		switch j.guard {
		case evaluating:
			j.guard = outdated
		case refused:
			j.guard = unasked
			c.proceed(j)
		}
	}
}

// arrived is called when a version has come.
func (c *waiting) arrived(d Digest) {
	for _, j := range slices.Clone(c.list) {
		if j.stage != fetching {
			continue
		}
		for i := range j.Needs {
			if j.Needs[i].Digest == d {
				j.fetching[i] = false
			}
		}
		c.proceed(j)
	}
}

// failed is called when a version cannot be held here.
func (c *waiting) failed(d Digest, err error) {
	for _, j := range slices.Clone(c.list) {
		if j.stage == fetching && slices.ContainsFunc(j.Needs, func(n Need) bool { return n.Digest == d }) {
			c.back(j, err)
		}
	}
}

// expire gives back what has waited long enough.
func (c *waiting) expire() {
	for _, j := range slices.Clone(c.list) {
		if j.stage == running || j.until > c.now || c.byID[j.ID] != j {
			continue
		}
		if j.Stays {
			j.until = c.now + c.cfg.Patience
			c.begins(j) // what there was no room to fetch
			continue
		}
		if most := j.since + c.cfg.ReadPatience; j.stage == fetching && c.now < most && c.progress(j) {
			j.until = min(c.now+c.cfg.Patience, most)
			continue
		}
		c.back(j, errPatience)
	}
}

// progress says whether anything of what is missing has come since it was asked last.
func (c *waiting) progress(j *job) bool {
	pieces, _ := c.got(j)
	more := pieces > j.got
	j.got = pieces
	return more
}

// got counts the pieces of what a job names that are here, and who brings more.
func (c *waiting) got(j *job) (pieces uint64, from []PeerID) {
	for i := range j.Needs {
		d := j.Needs[i].Digest
		if e := c.store.find(d); e != nil && e.state != nil {
			pieces += piecesOf(e.state.Size)
		} else if f := c.fetches.byDigest[d]; f != nil && f.pull != nil {
			pieces += piecesOf(f.pull.parts.blob.Size) - f.pull.parts.left
			for _, s := range f.pull.sources {
				if s.misses < maxMisses && !slices.Contains(from, s.peer) {
					from = append(from, s.peer)
				}
			}
		}
	}
	return pieces, from
}

// Got says about how many bytes of what a job names are here, and who is bringing the rest.
func (c *Core) Got(id JobID) (bytes uint64, from []PeerID) {
	if j := c.jobs.byID[id]; j != nil {
		bytes, from = c.jobs.got(j)
	}
	return bytes * pieceSize, from
}

func (c *waiting) next() (at time.Duration) {
	for _, j := range c.list {
		if j.stage != running {
			at = sooner(at, j.until)
		}
	}
	return at
}

// Read says that a job in the middle of its work waits for a version: Here, or Failed, follows.
func (c *Core) Read(now time.Duration, d Digest, holders ...PeerID) Output {
	c.begin(now)
	c.claim(d)
	e := c.store.find(d)
	switch {
	case e != nil && e.recipe.Kind.private():
		c.order(Order{Kind: OrderFailed, Digest: d, Err: &NotFound{d}})
	case e != nil && e.state != nil:
		c.has(e, 0, true)
	default:
		f := c.fetches.fetch(d, holders...)
		if f == nil {
			c.order(Order{Kind: OrderFailed, Digest: d, Err: errRefused})
			break
		}
		f.reading = c.now + c.cfg.ReadPatience
		c.fetches.advance(f)
	}
	return c.end()
}
