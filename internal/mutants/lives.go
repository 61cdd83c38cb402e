package main

// livesMutants are mistakes between the core of runs, the disk and the sessions of a peer: most of them show only when
// its process is killed, or its disk full, at a certain moment.
var livesMutants = []mutant{
	{name: "lives/outlives-its-peer", wrong: "a part that begins while its peer is closed is never ended",
		file: "peer/part.go", pkg: "peer", run: "^TestLives$",
		old: "	if t.ctx.Err() != nil {\n", new: "	if false {\n"},
	{name: "lives/resumed-in-vain", wrong: "a run whose resumption was refused can never be resumed",
		file: "peer/resume.go", pkg: "peer", run: "^TestLives$",
		old: "	if unused {\n", new: "	if false && unused {\n"},
	{name: "lives/ledger-of-the-dead", wrong: "after a process has died nothing of its run is kept any more",
		file: "peer/deaths.go", pkg: "peer", run: "^TestLives$",
		old: "ledger.close(false) })", new: "_ = ledger })"},
	{name: "lives/pardoned", wrong: "whoever suspends a run that kills may have it kill again",
		file: "peer/part.go", pkg: "peer", run: "^TestLives$",
		old: "	if info.State == runs.StateSuspended {\n", new: "	if _ = info; false {\n",
		args: []string{"-lives=1", "-lives.from=20083", "-test.count=6"}},
	{name: "lives/refused-and-begun", wrong: "a run that was refused begins in the next life",
		file: "runs/own_runs.go",
		pkg:  "runs", run: "^TestRefusedAndThereAllTheSame$", old: "Remove{OwnFile, r.m.Run}, Forget", new: "Forget"},
	{name: "lives/unread-for-ever", wrong: "a peer that is killed in its first write leaves something for ever",
		file: "peer/checkpoints.go", pkg: "peer", run: "^TestCutOffAtOnce$",
		old: "return !slices.ContainsFunc(snap.Problems(), func",
		new: "return len(snap.Problems()) == 0 &&\n		!slices.ContainsFunc(snap.Problems(), func"},
	{name: "lives/kills-without-end", wrong: "a run kills without end where the disk is full",
		file: "peer/deaths.go", pkg: "peer",
		run: "^TestDeathsBesideTheDisk$", old: "		x.unwritten.Store(id, d)\n", new: ""},
}
