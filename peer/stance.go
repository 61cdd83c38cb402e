package peer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/satin-peer/satin/runs"
)

// A stance is how this peer stands to a run in progress: what there is to know when one asks for whom it computes, and
// why it does not.
type stance struct {
	name    string // for people
	refused string // why this peer takes no part; "": it does
	workers int    // that the engine has at the moment
	busy    int    // of them
	held    int    // jobs of others that are here
	given   int    // jobs of this peer that others hold
	master  bool   // the root job is here
	others  int    // peers that were heard to take part lately
}

// workingFor says in a line for what the workers run jobs.
func workingFor(runs []stance) string {
	var names []string
	for _, r := range runs {
		if r.busy > 0 {
			names = append(names, r.name)
		}
	}
	if len(names) > 2 {
		names = append(names[:1], fmt.Sprintf("%d other runs", len(names)-1))
	}
	return strings.Join(names, " and ")
}

// whyIdle says in a line why no worker runs a job. Rest is the percentage of their time in which the cores are to be
// left alone, if that is now; peers is how many others are connected. Of several runs the one that is nearest to having
// work counts.
func whyIdle(rest, peers int, runs []stance) string {
	best, why := -1, ""
	for _, r := range runs {
		if n, text := r.whyIdle(peers); n > best {
			best, why = n, text
		}
	}
	switch {
	case best > 0 && rest > 0:
		return fmt.Sprintf("the cores are left alone for a moment, as cpu_share is %d", 100-rest)
	case best >= 0:
		return why
	case peers == 0:
		return "no other member is connected, and there is no run here"
	}
	return "there is no run in the swarm"
}

// whyIdle says of one run why nothing of it is computed here, and how near it is to that: 0, this peer takes no part.
func (r *stance) whyIdle(peers int) (near int, why string) {
	switch {
	case r.refused != "":
		return 0, "this peer takes no part in " + r.name + ": " + r.refused
	case r.workers == 0:
		return 1, "the process that runs the jobs of " + r.name + " has no core yet: it begins"
	case r.held > 0 && r.given == 0:
		return 3, "the jobs of " + r.name + " here wait for what they read, or for their results to be taken"
	case r.given > 0:
		return 3, "what is left of " + r.name + " is with other peers, and its results are waited for"
	case r.master:
		return 2, r.name + " has no job that could be begun: it is at its beginning, or at its end"
	case peers == 0:
		return 2, "no member is connected from which a job of " + r.name + " could be stolen"
	case r.others == 0:
		return 2, "no peer that takes part in " + r.name + " is heard"
	}
	return 2, "no peer that was asked had a job of " + r.name + " to spare"
}

// stances lists how this peer stands to the runs in progress, and to those that it refuses. The conductor's mutex is
// held.
func (t *conductor) stances(now time.Time) (list []stance) {
	for _, i := range t.core.Runs() {
		s := stance{name: forPeople(cmp.Or(i.Manifest.Title, i.Manifest.App))}
		switch r := t.parts[i.Manifest.Run]; {
		case i.State == runs.StateRefused:
			s.refused = i.Why
		case i.State.Ended():
			continue
		case r != nil && r.final == nil:
			st := r.session.Stats()
			s.workers, s.busy = st.Load.Workers, max(st.Load.Workers-st.Load.Idle, 0)
			s.held, s.given, s.master = st.Held, st.Given, st.Master
			peers, _, _ := r.taking(now)
			s.others = peers - 1
		}
		list = append(list, s)
	}
	return list
}
