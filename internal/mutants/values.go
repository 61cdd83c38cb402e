package main

// valueMutants have values arrive as others, or not at all, or refuse what could be sent.
var valueMutants = []mutant{
	{name: "values/functional-closure", wrong: "a function is a closure because of its name",
		file: "internal/engine/registry.go", run: "^TestTopLevel$", old: "strings.Contains(local, \".func\")",
		new: "strings.Contains(local, \"func\")"},
}
