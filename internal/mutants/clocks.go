package main

// clockMutants are mistakes about clocks that are wrong for a while.
var clockMutants = []mutant{
	{name: "clocks/ahead-is-believed", wrong: "a clock that is ahead for a moment ends what cannot be brought back",
		file: "internal/calendar/calendar.go", pkg: "runs", run: "^TestClockAheadForAWhile$",
		old: "if now.Sub(c.doubts) >= doubt {", new: "if true {"},
	{name: "clocks/never-believed", wrong: "nothing is over by a date", pkg: "internal/calendar", run: "^TestCalendar$",
		file: "internal/calendar/calendar.go", old: "if now.Sub(c.doubts) >= doubt {", new: "if false {"},
	{name: "clocks/last-is-believed", wrong: "the last of several wrong dates is believed",
		old: "		if shown.Before(c.next) {\n", new: "		if shown.After(c.next) {\n"},
	{name: "clocks/lost-for-good", wrong: "another's run that looked over is not taken up any more", file: "runs/core.go",
		pkg: "runs", run: "^TestClockAheadForLong$", old: "		r.lost = true // if the clock", new: "		// if the clock"},
	{name: "clocks/dormant-wakes", wrong: "a run that has expired is taken up without a word", file: "runs/dormant.go",
		pkg: "runs", run: "^TestClockAheadForLong$", old: "		case d.now.Unix() >= s.m.Expires:", new: "		case false:"},
	{name: "clocks/kept-by-the-wall", wrong: "answers that are kept go when the clock is ahead", file: "runs/kept.go",
		pkg: "runs", run: "^TestClockAheadForAWhile$",
		old: "k.day.Date().Sub(a.since) > k.cfg.HeldFor", new: "k.now.Sub(a.since) > k.cfg.HeldFor"},
	{name: "clocks/own-graves-go", wrong: "a cancelled run comes back when the clock was ahead for long",
		file: "runs/tombstones.go", pkg: "runs", run: "^TestCancelledWhileTheClockIsAhead$",
		old: "at.author != t.self && day", new: "day"},
	{name: "clocks/numbers-restart", wrong: "what an owner says in a next life has lower numbers", file: "runs/config.go",
		pkg: "runs", run: "^TestNumbersGrowWithLives$", old: "max(1, c.Life<<32)", new: "1"},
	{name: "clocks/two-rosters", wrong: "an owner whose clock went back makes two rosters of one number",
		file: "runs/config.go", pkg: lifeRoom, run: "^TestRegressionsWithClocks$", old: "max(1, c.Life<<32)", new: "1"},
	{name: "clocks/outlived-for-ever", wrong: "a run that looked too old stays out", file: "runs/refusals.go", pkg: "runs",
		run: "^TestRunsLiveAsLongAsTheVolunteerAllows$", old: "case !old && r.outlived &&", new: "case false &&"},
}
