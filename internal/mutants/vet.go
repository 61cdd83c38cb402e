package main

// vetMutants are mistakes in what satinvet reports.
var vetMutants = []mutant{
	{name: "satinvet/jobs-called", wrong: "what a registered job calls is called by init",
		file: "internal/satinvet/spawned.go", run: "^TestAnalyzer$",
		old: "				if len(c.registeredArgs(n)) > 0 {\n", new: "				if false {\n"},
	{name: "satinvet/gives-nothing-on", wrong: "what the default of a type switch panics with was not recovered",
		file: "internal/satinvet/recover.go", run: "^TestAnalyzer$", old: "		e = of.X\n", new: ""},
	{name: "satinvet/own-memory", wrong: "what a value of a job's own keeps outlives the job",
		file: "internal/satinvet/escape.go", run: "^TestAnalyzer$", old: "(sharing{checker: c}).intoShared(to):", new: "true:"},
	{name: "satinvet/never-perhaps", wrong: "the right side of && is always taken",
		file: "internal/satinvet/events.go", run: "^TestAnalyzer$", old: "if n.Op == token.LAND || n.Op", new: "if n.Op"},
	{name: "satinvet/replaced-elements", wrong: "with a slice of its own a function has what the elements lead to",
		file: "internal/satinvet/shared.go", run: "^TestAnalyzer$",
		old: "				own[types.ExprString(l)] = !c.intoShared(l)\n", new: "				own[types.ExprString(l)] = true\n"},
	{name: "satinvet/aborted-is-read", wrong: "children of a group that is given up in any case have a reader",
		file: "internal/satinvet/events.go", run: "^TestAnalyzer$", old: "		e.add(setOther, id, call)", new: "		return false"},
}
