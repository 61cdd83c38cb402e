package main

// moodMutants are mistakes in what becomes of an application's own code for its values that panics.
var moodMutants = []mutant{
	{name: "moods/no-comparison-panics", wrong: "code that panics says that results can be compared",
		file: "internal/engine/registry.go",
		pkg:  "internal/compute", run: "^TestMoodyValues$",
		old: "		return fmt.Sprintf(\"it cannot be told: %v\", p)\n", new: ""},
	{name: "moods/errors-panic", wrong: "an error whose own code panics ends the process",
		file: "internal/compute/outcome.go", pkg: "internal/compute", run: "^TestMoodyValues$",
		old: "clip(fmt.Sprint(je.Err), maxFailureText)", new: "clip(je.Err.Error(), maxFailureText)"},
	{name: "moods/encodings-panic", wrong: "a value whose own code panics ends the process",
		file: "internal/wire/codec.go", pkg: "internal/wire", run: "^TestMoodyValues$",
		old: "		*err = fmt.Errorf(\"%w: it panicked: %v\", ErrEncoding, p)\n", new: "		panic(p)\n"},
	{name: "moods/aborts-end-in-encodings", wrong: "a job goes on that is aborted while a value is encoded",
		old: "	case Unwinding:\n		panic(p)\n", new: ""},
	{name: "moods/aborts-are-panics", wrong: "an abort looks like a panic of a job's own",
		file: "internal/engine/run.go", pkg: "internal/compute", run: "^TestAbortsPassEncodings$",
		old: "func (abortPanic) Unwinding() {}", new: "func (abortPanic) unwinding() {}"},
	{name: "moods/hidden-handles", wrong: "a handle that nobody can reach ends the process",
		file: "internal/engine/outside.go", pkg: "internal/compute", run: "^TestHandlesThatCannotLeave$",
		old: "!v.CanInterface() && (", new: "false && ("},
	{name: "moods/handles-in-values", wrong: "a value leaves without what it names",
		file: "version.go", pkg: "internal/compute", run: "^TestHandlesThatCannotLeave$",
		old: "	engine.Handles(*v.value.Load(), func(engine.Shared) { err = errInner })\n", new: ""},
}
