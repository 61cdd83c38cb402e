package main

// valueMutants have values arrive as others, or not at all, or refuse what could be sent.
var valueMutants = []mutant{
	{name: "values/functional-closure", wrong: "a function is a closure because of its name",
		file: "internal/engine/registry.go", run: "^TestTopLevel$", old: "strings.Contains(local, \".func\")",
		new: "strings.Contains(local, \"func\")"},
	{name: "values/nan-unseen", wrong: "what a map has for a NaN is not in its name",
		file: "internal/engine/canon.go", run: "^TestNameOfNaN$", old: "canonical(sized(nil, e), i.Value())",
		new: "canonical(sized(nil, e), v.MapIndex(i.Key()))"},
	{name: "values/whole-seconds", wrong: "a time loses its fraction and its zone", file: "internal/wire/codec.go",
		run: "^TestTimes$", old: "cbor.TimeRFC3339Nano", new: "cbor.TimeUnix"},
	{name: "values/utf8", wrong: "a job's string has to be UTF-8", run: "^TestAnyText$",
		old: "newCodec(anyText, ", new: "newCodec(utf8, "},
	{name: "values/any-text", wrong: "peers may say to each other what is no text",
		old: "newCodec(utf8, MaxControlFrame, 16, MaxElements, 1<<10, cbor.ExtraDecErrorUnknownField)",
		new: "newCodec(anyText, MaxControlFrame, 16, MaxElements, 1<<10, cbor.ExtraDecErrorUnknownField)"},
	{name: "values/deep-leaves", wrong: "what is too deep to be read leaves", file: "internal/wire/shape.go",
		run: "^TestLevels$", old: "	case left == 0:\n", new: "	case left < -1:\n"},
	{name: "values/embedded-deeper", wrong: "what is embedded counts as a level", old: "left-1+higher)", new: "left-1)"},
	{name: "values/years", wrong: "a time that cannot be written leaves", run: "^TestTimes$",
		old: "t.Year() < 0 || t.Year() > 9999:", new: "false:"},
	{name: "values/odd-zones", wrong: "a time arrives seconds early", old: "offset%60 != 0 || ", new: ""},
	{name: "values/times-unseen", wrong: "times inside of lists are not looked at",
		old: "s.times || e.times", new: "s.times"},
}
