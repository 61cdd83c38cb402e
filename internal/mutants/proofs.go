package main

// proofTests see a proof that does not prove; checkTests a checker that believes one.
const (
	proofTests = "^TestProof|^TestBrokenProofs$"
	checkTests = "^TestRefused$|^TestCheck$"
)

// proofMutants break what writes proofs, and what checks them.
var proofMutants = []mutant{
	{name: "sat/proof-without-decisions", wrong: "a part's clause is said to hold of the whole formula",
		file: "apps/sat/compose.go", pkg: "apps/sat", run: proofTests,
		old: "	b = append(append(b, c.cube...), \" 0\"...)\n", new: "	b = append(b, \" 0\"...)\n"},
	{name: "sat/proof-one-half", wrong: "a cube is closed by one of its halves", file: "apps/sat/compose.go",
		pkg: "apps/sat", run: proofTests,
		old: "c.write(nil, []int{first, second})", new: "c.write(nil, []int{first, first})"},
	{name: "sat/proof-any-halves", wrong: "two parts that are not the halves of a cube close it",
		file: "apps/sat/compose.go", pkg: "apps/sat", run: proofTests,
		old: "		if a != b.not() {\n", new: "		if a == b && depth > maxDepth {\n"},
	{name: "sat/proof-without-conflict", wrong: "the clause of the conflict is no hint", file: "apps/sat/proof.go",
		pkg: "apps/sat", run: proofTests,
		old: "r.shown[conflict], r.through...)", new: "r.shown[r.through[0]], r.through...)"},
	{name: "sat/proof-facts-left-out", wrong: "what was left out of a clause at loading is no hint",
		file: "apps/sat/proof.go", pkg: "apps/sat", run: proofTests,
		old: "				if d == 0 {\n					break", new: "				if n > 0 {\n					break"},
	{name: "sat/proof-later-facts", wrong: "a step rests on facts that were shown after it", file: "apps/sat/proof.go",
		pkg: "apps/sat", run: proofTests,
		old: "p.place[v] >= there", new: "p.place[v] >= len(p.trail)"},
	{name: "sat/proof-facts-of-halves", wrong: "facts that only the halves of a cube need are not written",
		file: "apps/sat/proof.go", pkg: "apps/sat", run: proofTests,
		old: "p.kept[n+1] = !r.refuted", new: "p.kept[n+1] = r.gaps"},
	{name: "sat/proof-facts-unnoted", wrong: "the halves of a cube rest on facts that nobody showed",
		file: "apps/sat/compose.go", pkg: "apps/sat", run: proofTests,
		old: "	s.proof.note(s)\n	return c.node(nodeSplit", new: "	return c.node(nodeSplit"},
	{name: "sat/proof-old-places", wrong: "hints name clauses by their places before the arena was compacted",
		file: "apps/sat/learn.go", pkg: "apps/sat", run: "^TestProofAfterForgetting$",
		old: "				s.proof.moved(c, to)\n", new: "				_ = to\n"},
	{name: "sat/proof-dropped-too-late", wrong: "clauses that were forgotten stay in the proof",
		file: "apps/sat/learn.go", pkg: "apps/sat", run: "^TestProofAfterForgetting$",
		old: "				s.proof.drop(c)\n", new: ""},
	{name: "lrat/several-open", wrong: "a hint with two literals left is taken", file: "internal/lrat/lrat.go",
		pkg: "internal/lrat", run: checkTests,
		old: "				if open != 0 && open != l {\n",
		new: "				if open != 0 && open != l && id == 0 {\n"},
	{name: "lrat/true-hint", wrong: "a hint that is true already is taken", file: "internal/lrat/lrat.go",
		pkg: "internal/lrat", run: checkTests,
		old: "			case 1:\n				return", new: "			case 2:\n				return"},
	{name: "lrat/no-contradiction", wrong: "hints need not end in a contradiction", file: "internal/lrat/lrat.go",
		pkg: "internal/lrat", run: checkTests,
		old: "		if hint == 0 {\n			return fmt",
		new: "		if hint == 0 {\n			return nil\n		}\n		if hint == 0 {\n			return fmt"},
	{name: "lrat/not-reset", wrong: "what one step assumed counts in the next", file: "internal/lrat/lrat.go",
		pkg: "internal/lrat", run: checkTests,
		old: "	defer c.reset()\n", new: ""},
	{name: "lrat/no-empty-clause", wrong: "any proof without a mistake is enough", file: "internal/lrat/lrat.go",
		pkg: "internal/lrat", run: checkTests,
		old: "	if !c.empty {\n", new: "	if !c.empty && c.report.Added == 0 {\n"},
}
