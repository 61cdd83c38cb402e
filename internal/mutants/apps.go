package main

// shareTests see what a job of an unbalanced tree gives away.
const shareTests = "^Test(BothSidesHaveEachLevel|ASharesSize|SharesAreTheWhole)$"

// appMutants break the applications' rules about what they share, and how they divide their work.
var appMutants = []mutant{
	{name: "knapsack/equal-pruned", wrong: "what is only as good is passed over, though it may come first",
		file: "apps/knapsack/walk.go", pkg: "apps/knapsack", run: "^TestEquallyGood$",
		old: "	if !w.promises(profit, room, 0) {\n", new: "	if w.size() > 0 {\n"},
	{name: "knapsack/order-kept", wrong: "a solution that was heard of is taken for one that comes first",
		file: "apps/knapsack/walk.go", pkg: "apps/knapsack", run: "^TestEquallyGood$",
		old: "		w.best, w.after = s, false\n", new: "		w.best = s\n"},
	{name: "knapsack/order-of-words", wrong: "sets are compared by items that are not decided",
		file: "apps/knapsack/instance.go", pkg: "apps/knapsack", run: "^TestOrder$",
		old: "left < 64 {", new: "left < 0 {"},
	{name: "knapsack/tie-by-arrival", wrong: "of equal solutions the one that came first stays",
		file: "apps/knapsack/instance.go", pkg: "apps/knapsack", run: "^TestLattice$",
		old: "b.Profit == a.Profit && b.Taken.before(a.Taken)", new: "false"},
	{name: "knapsack/stray-items", wrong: "items that are not there make a solution come first",
		file: "apps/knapsack/instance.go", pkg: "apps/knapsack", run: "^TestCheckNoticesWrongAnswers$",
		old: "	case last != 0 && s.Taken", new: "	case last > 64 && s.Taken"},
	{name: "uts/share-oldest", wrong: "a job gives the oldest nodes away, which may be nearly nothing",
		file: "apps/uts/walk.go", pkg: "apps/uts", run: shareTests, args: brief,
		old: "if i%2 == 0 &&", new: "if i < len(w.waiting)/16 &&"},
	{name: "uts/share-unbounded", wrong: "a job gives away more than may travel", file: "apps/uts/walk.go",
		pkg: "apps/uts", run: shareTests, args: brief,
		old: "len(shared) < maxShared", new: "len(shared) < 2*maxShared"},
	{name: "uts/share-twice", wrong: "a node is visited by both sides", file: "apps/uts/walk.go",
		pkg: "apps/uts", run: shareTests, args: brief,
		old: "		} else {\n			kept", new: "		}\n		if i != 0 {\n			kept"},
}
