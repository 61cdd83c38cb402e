package steal

import (
	"time"

	"github.com/satin-peer/satin/job"
)

// What is kept here is told to everybody once somebody needs it: when an owner is lost, when it was handed
// over, when it comes from a checkpoint. Tuples are combined (fault tolerance paper, 3.6): the first waits
// TellEvery for others, and no News has more than MaxTuplesPerNews of them or comes sooner after the last. As
// long as nobody is lost, nothing is told.

// maxNewsBytes bounds the tuples of one News or one reply: gossip takes 64 KiB.
const maxNewsBytes = 48 << 10

// tellAgain is the least time before the same outcome is told again because somebody else is lost.
const tellAgain = 10 * time.Second

// teller holds what is to be told.
type teller struct {
	jobs []jobName // in order
	at   time.Duration
}

type jobName struct {
	path     job.Path
	identity job.Identity
}

// announce has a job told that is here: whether it is done is looked up when it is told, or that it is here no more.
func (c *Core) announce(p job.Path, id job.Identity) {
	if len(p) == 0 || c.leaving != nil || len(c.telling.jobs) >= c.cfg.MaxKept+c.cfg.MaxSegments {
		return // what is missed costs time only
	}
	if len(c.telling.jobs) == 0 {
		c.telling.at = max(c.telling.at, c.now+c.cfg.TellEvery)
	}
	c.telling.jobs = append(c.telling.jobs, jobName{p, id})
}

// announceKept tells of what is kept when a peer is lost that was perhaps the only other one to have it.
func (c *Core) announceKept(lost PeerID) {
	if !c.salvaging() {
		return
	}
	for _, k := range c.store.index {
		if k.class != settled || k.owner == lost {
			c.announceOne(k)
		}
	}
}

// announceStrays is the same for peers that are not members any more, which were perhaps never partners.
func (c *Core) announceStrays() {
	for _, k := range c.store.index {
		if k.class == settled && k.owner != c.self.Peer && !k.told {
			if _, ok := c.members.Find(k.owner); !ok {
				c.announceOne(k)
			}
		}
	}
}

// announceRestored tells again of what came from a checkpoint, to a master that was not there the first time.
func (c *Core) announceRestored() {
	for _, k := range c.store.index {
		if k.restored {
			c.announce(k.Path, k.Identity)
		}
	}
}

func (c *Core) announceOne(k *kept) {
	if k.told && c.now < k.toldAt+tellAgain || k.inPart && c.spawnedUnder(k.Path) != nil {
		return
	}
	k.told, k.toldAt = true, c.now
	c.announce(k.Path, k.Identity)
}

// tellNews tells what is due.
func (c *Core) tellNews() {
	t := &c.telling
	if len(t.jobs) == 0 || c.now < t.at {
		return
	}
	var tuples []Tuple
	bytes, n := 0, 0
	for ; n < len(t.jobs) && len(tuples) < c.cfg.MaxTuplesPerNews; n++ {
		u, ok := c.ownTuple(t.jobs[n])
		if !ok {
			continue
		}
		if bytes += u.Size(); bytes > maxNewsBytes && len(tuples) > 0 {
			break
		}
		tuples = append(tuples, u)
	}
	t.jobs = t.jobs[n:]
	if len(t.jobs) == 0 {
		t.jobs = nil
	}
	t.at = c.now + c.cfg.TellEvery
	if len(tuples) > 0 {
		c.stats.TuplesSent += uint64(len(tuples))
		c.tellAll(&News{Tuples: tuples})
	}
}

// nextTell is when tellNews has something to do; 0 is never.
func (c *Core) nextTell() time.Duration {
	if len(c.telling.jobs) == 0 {
		return 0
	}
	return max(1, c.telling.at)
}

// tellAll addresses news and has them told.
func (c *Core) tellAll(n *News) {
	n.Run, n.From = c.run.ID, c.self
	c.stats.NewsSent++
	c.order(Order{Kind: Tell, News: n})
}

// ownTuple says what this peer has of a job.
func (c *Core) ownTuple(j jobName) (Tuple, bool) {
	u := Tuple{Path: j.path, Identity: j.identity, Holder: c.self}
	if c.store.find(j.path, j.identity) != nil {
		u.Done = true
		return u, true
	}
	return u, c.adoptable(j.path, j.identity) != nil
}
