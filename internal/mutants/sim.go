package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// schedules is how many of the simulator's random schedules a mutant of simMutants has to get through.
const schedules = 2_000

// simMutants are mistakes in the protocol by which a result is lost, doubled or never comes, a master is
// missing, or work is done again that somebody has. A random schedule of the simulator finds each of them;
// `satin-sim replay` runs its seed again. Those of the other tables that are named in protocolRules are among
// them: of the rest, the protocol makes good what they lose.
func simMutants() []mutant {
	all := filled(journeyMutants, lossMutants)
	tables := filled(stealMutants, recoveryMutants, masterMutants)
	for _, name := range protocolRules {
		_, short, _ := strings.Cut(name, "/")
		m := mutant{name: "sim/" + short}
		if k := slices.IndexFunc(tables, func(t mutant) bool { return t.name == name }); k >= 0 {
			m.wrong, m.file, m.old, m.new = tables[k].wrong, tables[k].file, tables[k].old, tables[k].new
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
		old: "ss.last++", new: "ss.last = SegmentID(len(ss.byID) + 1)"},
	{name: "sim/passed-on-put-back",
		wrong: "a job that was passed on goes back to the engine, which never had it", file: "steal/book.go",
		old: "	if l.parent == nil {\n		b.order(Order{Kind: PutBack", new: "	if true {\n		b.order(Order{Kind: PutBack"},
	{name: "sim/passed-on-kept", wrong: "the result of a job that was passed on is kept here",
		old: "	if l.parent == nil {\n		b.order(Order{Kind: Deliver",
		new: "	if true {\n		b.order(Order{Kind: Deliver"},
	{name: "sim/result-of-another", wrong: "a result fills the slot of the thief's oldest job",
		old: "if l := p.leases[i]; b.run.Proving {", new: "if l := p.leases[0]; b.run.Proving {"},
	{name: "sim/wrong-outcome", wrong: "a result passed home is an empty one",
		old: "b.finish(l.parent, outcome, voucher)", new: "b.finish(l.parent, nil, voucher)"},
}

// lossMutants lose work when peers go.
var lossMutants = []mutant{
	{name: "sim/orphans-aborted", wrong: "what a lost peer's thieves work on is aborted",
		file: "steal/losses.go", old: "	if !lo.salvaging() {\n		lo.stats.OrphansAborted++",
		new: "	if true {\n		lo.stats.OrphansAborted++"},
	{name: "sim/ack-before-store", wrong: "what is handed over is acknowledged and not kept",
		file: "steal/leave.go", old: "if k := dp.lost.keep(h.Parts[i], handed, p.id); k != nil {",
		new: "if k := dp.lost.store.find(nil, h.Parts[i].Identity); k != nil {"},
	{name: "sim/cancel-runs-on", wrong: "a cancelled run's jobs are not aborted",
		old: "		if s.state == running {\n			c.order(Order{Kind: AbortSegment, Segment: s.id})\n		}\n	}\n	c.left, c.leaving = true",
		new: "		_ = s\n	}\n	c.left, c.leaving = true"},
	{name: "sim/checkpoint-ignored", wrong: "what a checkpoint gives back is not taken in",
		file: "steal/lost_work.go",
		old:  "		if k := lw.keep(p, restored, \"\"); k != nil {\n			lw.stats.PartialsRestored++",
		new:  "		if k := lw.store.find(p.Path, p.Identity); k != nil {\n			lw.stats.PartialsRestored++"},
	{name: "sim/nothing-told", wrong: "nobody is told who has what", file: "steal/tell.go",
		old: "	if len(p) == 0 || lw.leaving ||", new: "	if len(p) >= 0 || lw.leaving ||"},
	{name: "sim/in-place-not-kept", wrong: "the engine's long jobs are not kept", file: "steal/salvage.go",
		old: "		if k := c.lost.keep(p, own, \"\"); k != nil {\n			k.inPart = true",
		new: "		if k := c.lost.store.find(nil, p.Identity); k != nil {\n			k.inPart = true"},
	{name: "sim/found-and-dropped", wrong: "a job that was found is forgotten if it is not there any more",
		old: "			c.adoption.putBackRestarted(jobs[i].Ref)", new: "			_ = i"},
}

// protocolRules names them.
var protocolRules = []string{
	"steal/no-inventory",
	"steal/not-recorded-before-send",
	"steal/handle-reused",
	"steal/put-back-twice",
	"steal/duplicate-result",
	"steal/silence",
	"steal/copy-not-marked",
	"recovery/tuple-without-identity",
	"recovery/outcome-without-identity",
	"recovery/orphan-untold",
	"masters/no-re-election",
	"masters/no-step-down",
	"masters/not-restarted",
}

var failedSeed = regexp.MustCompile(`(?m)^seed (\d+): (?:[^:]*: )?([a-z-]+): `)

// killBySchedule lets a mutated simulator run schedules and returns the first seed that breaks an invariant,
// and which, or "".
func (m *mutant) killBySchedule(ctx context.Context, binary string) (killer string, err error) {
	out, err := exec.CommandContext(ctx, binary, "exact", "--first", "--seeds",
		strconv.Itoa(m.schedules)).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return byDeadline, nil
	case !errors.As(err, &exit):
		return "", err
	}
	if f := failedSeed.FindSubmatch(out); f != nil {
		return fmt.Sprintf("satin-sim replay %s: %s", f[1], f[2]), nil
	}
	return "a panic", nil
}
