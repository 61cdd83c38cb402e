package sim

// deque is a peer's job queue: a ring that grows. The newest job is run next here, the oldest is given away.
type deque struct {
	ring  []entry // length a power of two
	first int     // the oldest
	count int
}

func (d *deque) len() int { return d.count }

func (d *deque) at(i int) *entry { return &d.ring[(d.first+i)&(len(d.ring)-1)] }

func (d *deque) grow() {
	if d.count < len(d.ring) {
		return
	}
	ring := make([]entry, max(16, 2*len(d.ring)))
	for i := range d.count {
		ring[i] = *d.at(i)
	}
	d.ring, d.first = ring, 0
}

func (d *deque) pushNewest(e entry) {
	d.grow()
	d.count++
	*d.at(d.count - 1) = e
}

func (d *deque) pushOldest(e entry) {
	d.grow()
	d.first = (d.first - 1) & (len(d.ring) - 1)
	d.count++
	*d.at(0) = e
}

func (d *deque) popNewest() entry {
	e := *d.at(d.count - 1)
	d.count--
	return e
}

func (d *deque) popOldest() entry {
	e := *d.at(0)
	d.first = (d.first + 1) & (len(d.ring) - 1)
	d.count--
	return e
}

// largestFirst has the job with the most work below it be the oldest; the others keep their order.
func (d *deque) largestFirst() {
	best := 0
	for i := range d.count {
		if d.at(i).node.Work > d.at(best).node.Work {
			best = i
		}
	}
	e := *d.at(best)
	for ; best > 0; best-- {
		*d.at(best) = *d.at(best - 1)
	}
	*d.at(0) = e
}

// filter keeps what keep says, in order, and returns how many it dropped.
func (d *deque) filter(keep func(*entry) bool) (dropped int) {
	kept := 0
	for i := range d.count {
		if e := d.at(i); keep(e) {
			*d.at(kept) = *e
			kept++
		}
	}
	dropped = d.count - kept
	d.count = kept
	return dropped
}
