package main

// valueMutants have values arrive as others, or not at all, or refuse what could be sent.
var valueMutants = []mutant{
	{name: "values/functional-closure", wrong: "a function is a closure because of its name",
		file: "internal/engine/registry.go", run: "^TestTopLevel$", old: "strings.Contains(local, \".func\")",
		new: "strings.Contains(local, \"func\")"},
	{name: "values/nan-unseen", wrong: "what a map has for a NaN is not in its name",
		file: "internal/engine/canon.go", run: "^TestNameOfNaN$", old: "canonical(sized(nil, e), i.Value())",
		new: "canonical(sized(nil, e), v.MapIndex(i.Key()))"},
}
