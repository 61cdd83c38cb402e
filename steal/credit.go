package steal

import "time"

// credit is what a victim lets a thief have of its jobs, by what came of those that it had: no thief may have all of
// them at once and return none. It says nothing of results, which are compared with nothing here.
//
// A thief begins with some. Each result that is used adds two, so a busy peer soon has as many as it can use, and what
// one withholds in the end is no more than it began with and twice what it has done. Whenever this peer had to help
// itself, because jobs were missing from inventories, their thief fell silent or began a new life, or idle workers have
// waited for too long (overdue), half of it is lost. Whoever may have one job only is made to wait instead, twice as
// long each time.
type credit struct {
	most  int32         // jobs at a time
	back  int32         // returns in a row
	rest  time.Duration // the last one that it was made to wait for
	until time.Duration // it gets nothing before
}

// firstCredit is enough for the cores of any desktop.
const firstCredit = 64

// left is how many jobs the thief may have in all.
func (c *credit) left(now time.Duration) int {
	if now < c.until {
		return 0
	}
	return int(c.most)
}

// good says whether what the thief says that it has is worth waiting for.
func (c *credit) good() bool { return c.most > 1 }

// paid is called when a result was used.
func (c *credit) paid(cfg *Config) {
	c.most = int32(min(int(c.most)+2, max(firstCredit, cfg.MaxSegments)))
	c.rest, c.until, c.back = 0, 0, 0
}

// failed is called when this peer had to help itself.
func (c *credit) failed(now time.Duration, cfg *Config) {
	if c.most > 1 {
		c.most /= 2
		return
	}
	c.rest = min(max(2*c.rest, cfg.HeartbeatEvery), maxRest)
	c.until = max(c.until, now+c.rest)
}

// maxRest is the longest that a thief is made to wait after one loss.
const maxRest = time.Hour

// returned is called when jobs came back unbegun. There may have been no room, once; but a job that goes to and fro is
// with nobody.
func (c *credit) returned(now time.Duration) {
	if c.back > 0 {
		c.until = max(c.until, now+min(time.Millisecond<<min(c.back, 20), maxReturnRest))
	}
	c.back++
}
