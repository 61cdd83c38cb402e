package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
)

// schedules is how many of the simulator's random schedules a mutant of simMutants has to get through.
const schedules = 2_000

// simMutants are mistakes in the protocol by which a result is lost, doubled or never comes. A random schedule of the simulator
// finds each of them; `satin-sim replay` runs its seed again. Those of stealMutants that are named in protocolRules are among them:
// of the others, the protocol makes good what they lose.
func simMutants() []mutant {
	all := slices.Clone(journeyMutants)
	for _, name := range protocolRules {
		m := mutant{name: "sim/" + name}
		for _, s := range stealMutants {
			if s.name == "steal/"+name {
				m.wrong, m.file, m.old, m.new = s.wrong, s.file, s.old, s.new
			}
		}
		all = append(all, m)
	}
	for i := range all {
		all[i].pkg, all[i].schedules = "cmd/satin-sim", schedules
	}
	return all
}

// journeyMutants lose their way with jobs that are passed on from thief to thief, and results that come back.
var journeyMutants = []mutant{
	{name: "sim/segment-number-reused", wrong: "two stolen jobs have the same number", file: "steal/segments.go",
		old: "	c.lastSeg++\n	s := &segment{id: c.lastSeg, owner", new: "	c.lastSeg = SegmentID(len(c.segments) + 1)\n	s := &segment{id: c.lastSeg, owner"},
	{name: "sim/passed-on-put-back", wrong: "a job that was passed on goes back to the engine, which never had it", file: "steal/leases.go",
		old: "	if l.parent == nil {\n		if restarted {", new: "	if true {\n		if restarted {"},
	{name: "sim/passed-on-kept", wrong: "the result of a job that was passed on is kept here", file: "steal/leases.go",
		old: "	if l.parent == nil {\n		c.order(Order{Kind: Deliver", new: "	if true {\n		c.order(Order{Kind: Deliver"},
	{name: "sim/result-of-another", wrong: "a result fills the slot of the thief's oldest job", file: "steal/leases.go",
		old: "c.settle(p.leases[i], r.Outcome)", new: "c.settle(p.leases[0], r.Outcome)"},
	{name: "sim/wrong-outcome", wrong: "a result passed home is an empty one", file: "steal/leases.go",
		old: "c.finish(l.parent, outcome)", new: "c.finish(l.parent, nil)"},
}

// protocolRules names them.
var protocolRules = []string{
	"no-inventory", "not-recorded-before-send", "handle-reused", "put-back-twice", "duplicate-result", "result-not-repeated", "silence",
}

var failedSeed = regexp.MustCompile(`(?m)^seed (\d+): (?:[^:]*: )?([a-z-]+): `)

// killBySchedule lets a mutated simulator run schedules and returns the first seed that breaks an invariant, and which, or "".
func (m *mutant) killBySchedule(ctx context.Context, binary string) (killer string, err error) {
	out, err := exec.CommandContext(ctx, binary, "exact", "--first", "--seeds", strconv.Itoa(m.schedules)).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "deadline", nil
	case !errors.As(err, &exit):
		return "", err
	}
	if f := failedSeed.FindSubmatch(out); f != nil {
		return fmt.Sprintf("satin-sim replay %s: %s", f[1], f[2]), nil
	}
	return "a panic", nil
}
