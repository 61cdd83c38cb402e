package main

const (
	rivals  = "^TestRivalsAnswer$"
	giveWay = "^TestOrphansGiveWay$"
	passing = "^TestPassingFaults$"
)

// passingMutants are mistakes in what is done when those who were taken for lost are heard again.
var passingMutants = []mutant{
	{name: "passing/rivals-silent", wrong: "whoever is at work on an orphan's job says nothing", file: "steal/salvage.go",
		pkg: "internal/sim/paper", run: passing, old: "	c.losses.answerOrphans(n.From, n.Tuples)\n", new: ""},
	{name: "passing/rival-younger", wrong: "whoever began later has the orphan of before give way", file: "steal/rivals.go",
		pkg: "steal", run: rivals, old: "s == nil || s.begun >= lo.now-u.Age", new: "s == nil"},
	{name: "passing/rival-orphan", wrong: "an orphan has another orphan give way", file: "steal/rivals.go",
		pkg: "steal", run: rivals, old: "x.state == running && !x.adoptable() &&", new: "x.state == running &&"},
	{name: "passing/rival-restarted", wrong: "who looks for orphans has them give way", file: "steal/rivals.go",
		pkg: "steal", run: rivals, old: "case s.job.Restarted || s.again ||", new: "case s.again ||"},
	{name: "passing/rival-again", wrong: "who looks for the orphan of one job has it give way", file: "steal/rivals.go",
		pkg: "steal", run: rivals, old: "case s.job.Restarted || s.again ||", new: "case s.job.Restarted ||"},
	{name: "passing/rival-of-the-lent", wrong: "who has given the job away has its orphan give way", file: "steal/rivals.go",
		pkg: "steal", run: rivals, old: "s.job.Path.Above(p) && atOrAbove(p, u.Path)", new: "s == nil && atOrAbove(p, u.Path)"},
	{name: "passing/rival-hearsay", wrong: "what somebody tells of others is answered to it", file: "steal/rivals.go",
		pkg: "steal", run: rivals, old: "u.Done || u.Holder != from ||", new: "u.Done ||"},
	{name: "passing/rival-of-the-done", wrong: "an outcome is answered as if it were at work", file: "steal/rivals.go",
		pkg: "steal", run: rivals, old: "u.Done || u.Holder != from ||", new: "u.Holder != from ||"},
	{name: "passing/older-gives-way", wrong: "an orphan gives way to whoever began later", file: "steal/rivals.go",
		pkg: "steal", run: giveWay, old: "s.orphan && s.begun > lo.now-u.Age &&", new: "s.orphan &&"},
	{name: "passing/wanted-gives-way", wrong: "what is waited for is aborted by anybody's word", file: "steal/rivals.go",
		pkg: "steal", run: giveWay, old: "s.orphan && s.begun >", new: "s.begun >"},
	{name: "passing/below-stays", wrong: "an orphan goes on below what another is at work on", file: "steal/rivals.go",
		pkg: "steal", run: giveWay, old: " || u.Path.Above(s.job.Path)) {", new: ") {"},
	{name: "passing/told-once", wrong: "an orphan is told of once", file: "steal/core.go", pkg: "steal",
		run: "^TestOrphansTellAgain$", old: "	c.lost.announceAgain()\n", new: ""},
	{name: "passing/told-on-and-on", wrong: "an orphan is told of every ten seconds for ever", file: "steal/tell.go",
		pkg: "steal", run: "^TestOrphansTellAgain$", old: "s.quiet = 2 * max(s.quiet, tellAgain)", new: "s.quiet = tellAgain"},
	{name: "passing/heir-dies", wrong: "a thief that comes back ends what was adopted in its stead", file: "steal/leases.go",
		pkg: "steal", run: "^TestHeirGoesOn$", old: "	if l.copy.heir {\n		return true\n	}\n", new: ""},
	{name: "passing/heirs-share", wrong: "what a segment had adopted ends with it", file: "steal/disown.go",
		pkg: "steal", run: "^TestAdoptedIsLetGo$", old: "			lo.letGo(p.held[i])\n", new: ""},
	{name: "passing/children-let-go", wrong: "all that a segment had given away goes on for nobody", file: "steal/disown.go",
		pkg: "steal", run: "^TestAdoptedIsLetGo$", old: "return l.adopted }", new: "return l != nil }"},
	{name: "passing/sought-for-ever", wrong: "a liar has a job begin again and again", file: "steal/adopt.go",
		pkg: "steal", run: "^TestSoughtSoOften$", old: "s.state == running && s.sought < maxSought", new: "s.state == running"},
	{name: "passing/sought-once", wrong: "an orphan that was waited for when it was asked for is never asked for again",
		file: "steal/adopt.go", pkg: "internal/sim/paper", run: passing, old: "const maxSought = 3", new: "const maxSought = 1"},
	{name: "passing/work-shows-nothing", wrong: "idleness counts although work comes from the job that is waited for",
		file: "steal/book_segments.go", pkg: "steal", run: "^TestWorkFromBelow$", old: "	b.leases.gotBelow(g.Job.Path)\n", new: ""},
	{name: "passing/any-work-shows", wrong: "work from anywhere shows that each thief is at work", file: "steal/leases.go",
		pkg: "steal", run: "^TestWorkFromBelow$", old: "if l.job.Path.Above(p) {", new: "if len(p) > 0 {"},
	{name: "passing/young-copies-stay", wrong: "a thief behind a bad line competes with the fourth copy for ever",
		file: "steal/leases.go", pkg: "steal", run: "^TestBlinkingThief$", old: "l.blinks > mostBlinks || 10*(now-l.copy.since) > now-l.since",
		new: "now > 0"},
	{name: "passing/blinks-young-for-ever", wrong: "each sign of life ends a copy that has just begun", file: "steal/leases.go",
		pkg: "steal", run: "^TestBlinkingThief$", old: "l.blinks > mostBlinks || 10*", new: "10*"},
}
