package main

// Tests of masters in package steal: the election alone, in its world, and in a core.
const (
	electionUnits = "^Test(Fresh|Who|OneBegins|Beacons|Repeated|Heralds|Answers|Worse|Returning|Stalled|Master|Answer|NoDep|Silent|Bad|RootThat)"
	electionWorld = "^TestMastersConverge$"
)

// masterMutants are mistakes in who restarts the root, and who gives it up.
var masterMutants = []mutant{
	{name: "masters/no-re-election", wrong: "nobody takes a silent master's place", file: "steal/masters_election.go", pkg: "steal", run: electionWorld, args: unshrunk,
		old: "return m.silence >= m.patience", new: "return false"},
	{name: "masters/no-step-down", wrong: "two masters that hear each other stay both", file: "steal/masters_election.go", pkg: "steal", run: electionWorld, args: unshrunk,
		old: "d.StepDown = m.master && m.ranks.before(its, m.claim())", new: "d.StepDown = false"},
	{name: "masters/rank-the-wrong-way-round", wrong: "the better master steps down", file: "steal/masters_rank.go", pkg: "steal", run: electionWorld, args: unshrunk,
		old: "return r.compare(a.id, b.id) < 0", new: "return r.compare(a.id, b.id) > 0"},
	{name: "masters/old-beacon", wrong: "a dead master's beacons, repeated, keep it alive", file: "steal/masters_election.go", pkg: "steal", run: electionWorld, args: unshrunk,
		old: "from.Inc == h.inc && seq <= h.seq", new: "false"},
	{name: "masters/earlier-life", wrong: "beacons of a master's earlier life count", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "from.Inc < h.inc || ", new: ""},
	{name: "masters/returning-owner-takes-over", wrong: "who is better than the sitting master does not listen to it", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "	m.silence, m.forgiven = 0, false\n", new: "	if m.ranks.compare(from.Peer, m.self) < 0 {\n		m.silence, m.forgiven = 0, false\n	}\n"},
	{name: "masters/returning-owner-is-fresh", wrong: "an owner that comes back starts the root at once", file: "steal/masters_election.go", pkg: "steal", run: transcripts,
		old: "fresh: run.Fresh,", new: "fresh: run.Deputies[0] == self,"},
	{name: "masters/answered-twice", wrong: "a master that has the answer computes it again", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "d.Start = m.answered == nil //", new: "d.Start = true //"},
	{name: "masters/answer-not-told", wrong: "the others do not learn of the answer", file: "steal/masters_election.go", pkg: "steal", run: transcripts,
		old: "Answered: m.answered, Waiting", new: "Waiting"},
	{name: "masters/answer-comes-last", wrong: "a master with the answer steps down for one without", file: "steal/masters_rank.go", pkg: "steal", run: electionUnits,
		old: "case a.answered != b.answered:", new: "case false:"},
	{name: "masters/root-waits", wrong: "a master whose workers are busy for long keeps the root from idle ones", file: "steal/masters_election.go", pkg: "steal", run: electionWorld, args: unshrunk,
		old: "if m.fresh || m.mayTake(alive) {", new: "if m.fresh {"},
	{name: "masters/root-taken-from-new-owner", wrong: "a new owner loses its root before its engine is ready", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "m.grace = m.seen + m.cfg.MasterLease", new: "m.grace = m.seen"},
	{name: "masters/root-not-given", wrong: "a master without a worker does not step down for one that has", file: "steal/masters_rank.go", pkg: "steal", run: electionUnits,
		old: "		return b.waiting\n", new: "		return a.waiting\n"},
	{name: "masters/stall-unnoticed", wrong: "a peer that did not run believes the master dead", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "case gap <= late:", new: "case gap <= 1000*time.Hour+late:"},
	{name: "masters/always-late", wrong: "a peer whose every tick is late never acts", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "case gap >= m.cfg.MasterLease || !m.forgiven:", new: "case true:"},
	{name: "masters/rank-not-checked", wrong: "any peer may claim any rank", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: " || b.Rank != m.ranks.of(from.Peer)", new: ""},
	{name: "masters/all-at-once", wrong: "everybody begins when the lease is over", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "	m.patience += stagger(m.ahead(alive), m.cfg.RankStagger)\n", new: ""},
	{name: "masters/waits-for-the-dead", wrong: "better peers that are known to be lost are waited for", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "id != m.leader.Peer && alive(id)", new: "id != m.leader.Peer"},
	{name: "masters/unbounded-heralds", wrong: "everybody who ever sent a beacon is remembered", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "if i < maxHeralds {", new: "if true {"},
	{name: "masters/beacon-for-beacon", wrong: "a flood of beacons is answered with another", file: "steal/masters_election.go", pkg: "steal", run: electionUnits,
		old: "case m.master && m.seen-m.sentAt >= m.cfg.BeaconEvery/4:", new: "case m.master:"},
	{name: "masters/goodbye-unheard", wrong: "a master that has said goodbye is waited for", file: "steal/liveness.go", pkg: "steal", run: electionUnits,
		old: "	c.masters.over(p.id, p.floor)\n", new: ""},
	{name: "masters/leaver-counts", wrong: "a late beacon of a master that has said goodbye counts", file: "steal/masters.go", pkg: "steal", run: electionUnits,
		old: "from.Inc < max(p.inc, p.floor)", new: "false"},
	{name: "masters/not-restarted", wrong: "the root is run again as though for the first time", file: "steal/masters.go", pkg: "steal", run: transcripts,
		old: "c.startRoot(true)", new: "c.startRoot(false)"},
	{name: "masters/children-aborted", wrong: "what a master that steps down has given away is lost", file: "steal/root.go", pkg: "steal", run: transcripts,
		old: "	c.disownChildren(s)\n", new: ""},
}
