package sim

import (
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// What an engine does for recovery: it looks for jobs whose results somebody has before it begins them again,
// and offers the results of long ones to be kept.

// salvage looks a job that is about to begin up among the orphans: on a hit it is taken out of the engine,
// for the core to get its result. Only jobs below restarted ones that are watched are looked up, and those
// that came back themselves; each once.
func (g *engine) salvage(e *entry) (t steal.Taken, hit bool) {
	if !g.looks(e) || g.orphans == nil {
		return steal.Taken{}, false
	}
	path := g.path(e.place)
	hit, _ = g.orphans.Look(path)
	if !hit || e.parent == noFrame || e.found { // who runs a topmost job is for the core to say
		return steal.Taken{}, false
	}
	g.books.found++
	return g.out(givenJob{entry: *e, path: path, salvaged: true}), true
}

// looks says whether it can be that somebody has results of the job or of one below it.
func (g *engine) looks(e *entry) bool {
	return e.again && (e.back || e.parent == noFrame || g.frames[e.parent].watched)
}

// watch takes in a new table: frames of restarted jobs look again whether there is anything below them.
func (g *engine) watch(o *steal.Orphans) {
	g.orphans = o
	for i := range g.frames {
		if f := &g.frames[i]; f.used && f.again {
			f.watched = g.below(f.place)
		}
	}
}

// below says whether somebody has results of jobs below that place.
func (g *engine) below(at place) bool {
	if g.orphans == nil {
		return false
	}
	_, below := g.orphans.Look(g.path(at))
	return below
}

// offer keeps the result of a job that ran here for long, before its parent sees it.
func (g *engine) offer(c *child) (kept bool) {
	if g.keep == 0 || c.outside || c.took < g.keep {
		return false
	}
	p := g.path(c.place)
	k := port.KeptJob{Partial: g.partial(p, c), Segment: g.top(c.place).id, Own: time.Duration(c.own)}
	if g.keepJobs {
		k.Job = jobOf(g.tree, &entry{node: c.node}, p)
	}
	g.kept = append(g.kept, k)
	return true
}

// partial is what a job here has come to, by itself.
func (g *engine) partial(p job.Path, c *child) steal.Partial {
	id := identify(c.node.encode(g.tree.ArgBytes(c.node)))
	if g.nodes != nil {
		g.nodes[id] = c.node
	}
	o := outcome{claim: claimOf(g.run, p, c.node), result: c.result, by: g.owner, took: c.took,
		touched: c.touched || g.traced > 0 && g.owner == g.traced}
	if len(p) == 0 { // two masters' answers are compared, and nothing but the result is in them
		o.by, o.took, o.touched = 0, 0, false
	}
	b := g.sharing.naming(o.encode(g.tree.ResultBytes(c.node)), c.names)
	return steal.Partial{Path: p, Identity: id, Outcome: b}
}
