package main

// fileMutants are mistakes with files that others have made, and with what a full disk or a crash leaves.
var fileMutants = []mutant{
	{name: "files/plan-writes", wrong: "a plan of others writes any file", file: "cli/campaign_run.go", pkg: "cli",
		run: "^TestCampaignOfOthers$", old: "err == nil && t.problem.Writes() {", new: "false {"},
	{name: "files/links-are-given", wrong: "members get what a link in a campaign leads to",
		file: "cli/campaign_dir.go", pkg: "cli", run: "^TestCampaignOfOthers$", old: "os.Lstat(name)", new: "os.Stat(name)"},
	{name: "files/links-are-followed", wrong: "the name of a run is written where a link leads",
		file: "cli/batch.go", pkg: "cli", run: "^TestLinkInPlaceOfRun$",
		old: "apps.WriteFile(name, durable.Bytes([]byte(run.Run+\"\\n\")))",
		new: "errors.Join(durable.SyncDir(b.dir), os.WriteFile(name, []byte(run.Run+\"\\n\"), 0o644))"},
	{name: "files/resumed-unseen", wrong: "nobody hears of the file that a checkpoint's arguments name",
		file: "cli/suspend.go", pkg: "cli", run: "^TestResumeNamesFiles$", old: "err == nil && t.problem.Save != nil",
		new: "err == nil && t.problem.Save == nil"},
	{name: "files/wide-keys", wrong: "a long path takes five times the memory that it took on its way",
		file: "internal/checkpoint/record.go", run: "^TestLongPaths$", old: "if c < large {", new: "if c == 0 && false {"},
	{name: "files/index-unbounded", wrong: "results with long paths fill the memory", file: "peer/ledger.go",
		run: "^TestQuotaOutlivesRestarts$", old: "k.of.index.take(k.run, by, checkpoint.IndexBytes(path))",
		new: "\"\", false"},
	{name: "files/index-anew", wrong: "each life of a daemon has room for one's long paths", file: "peer/checkpoints.go",
		run: "^TestQuotaOutlivesRestarts$", old: "	c.index.found(run, s.memory)\n", new: ""},
	{name: "files/paths-weigh-nothing", wrong: "paths of restored results fill the memory", file: "peer/checkpoints.go",
		run: "^TestResultsAreTrimmed$", old: "return int(recordBytes(p.Path, p.Outcome, p.Voucher))",
		new: "return len(p.Outcome)"},
	{name: "files/never-read-again", wrong: "a file of the state directory gets longer than the next start reads",
		file: "peer/host/durable.go", pkg: "peer/host", run: "^TestTicketsCanBeReadAgain$",
		old: "if len(content) > maxStateFile {", new: "if content == nil {"},
}
