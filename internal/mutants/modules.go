package main

// moduleMutants break what meters modules, and what the host believes of them.
var moduleMutants = []mutant{
	{name: "wasm/loops-are-free", wrong: "an endless loop is never interrupted", file: "internal/wasm/meter.go",
		pkg: "internal/wasm", run: "^TestPrices$",
		old: "			if top.loop {\n", new: "			if top.loop && top.at < 0 {\n"},
	{name: "wasm/entries-are-free", wrong: "an endless recursion is never interrupted", file: "internal/wasm/meter.go",
		pkg: "internal/wasm", run: "^TestPrices$",
		old: "if len(paid) == 1 && !calls && len(code) < freeBelow {", new: "if calls = false; len(paid) == 1 && !calls {"},
	{name: "wasm/copies-are-free", wrong: "a row of large copies takes minutes between two looks",
		file: "internal/wasm/prepare.go", pkg: "internal/wasm", run: "^TestCopiesPay$",
		old: "			mt.pay(1, true)\n", new: "			mt.pay(1, false)\n"},
	{name: "wasm/nan-in-a-local", wrong: "a NaN's bits are seen by way of a local", file: "internal/wasm/nan.go",
		pkg: "internal/wasm", run: "^TestCanonical$",
		old: "			return !in.hidesNaN()\n", new: "			return in.op >= opStore && !in.hidesNaN()\n"},
	{name: "wasm/numbers-not-moved", wrong: "a module's first function becomes the one that refuels",
		file: "internal/wasm/prepare.go", pkg: "internal/wasm", run: "^TestSame$",
		old: "	if i >= e.tick && !e.o.NoFuel {\n", new: "	if i > e.tick && !e.o.NoFuel {\n"},
	{name: "module/joined-twice", wrong: "a module joins a child twice", file: "internal/module/imports.go",
		pkg: "internal/module", run: "^TestHostile$/^twice_joined",
		old: "int(h) > len(in.children.list) || in.children.list[h-1] == nil {", new: "int(h) > len(in.children.list) {"},
	{name: "module/no-restore", wrong: "a job reads what another one left", file: "internal/module/load.go",
		pkg: "internal/module", run: "^TestFreshInstances$",
		old: "	in.mem.Write(0, in.m.memory)\n", new: ""},
	{name: "module/leaves-children", wrong: "a job returns and leaves a child at work", file: "internal/module/call.go",
		pkg: "internal/module", run: "^TestHostile$/^leave",
		old: "	if in.children.n > 0 {\n", new: "	if in.children.n > 1 {\n"},
}
