// Package grammar learns the rules of a language from words that belong to it and words that do not: it looks
// for the smallest deterministic finite automaton that it can find which is right about all of them.
//
// It begins with the tree of all words and merges states as long as no word comes out wrong, which of them by
// the blue-fringe rule and by the evidence for it (Lang, Pearlmutter, Price, "Results of the Abbadingo One
// DFA learning competition and a new evidence-driven state merging algorithm", 1998). A greedy choice is
// often not the best, so the first choices are searched, to a depth that grows (Adriaans, Jacobs, "Using MDL
// for grammar induction", 2006).
package grammar

import (
	"slices"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.Register("grammar.learn", learn, satin.Exact(),
		satin.Small(apps.Instance[Task](setup, "--generate", "16", "--words", "400", "--depth", "3")))
	satin.Register("grammar.search", search, satin.Exact())
}

// Part is a part of the search. All jobs read the tree of the words, and repeat what was decided before them.
type Part struct {
	Words  satin.Constant[Prefixes]
	Search Search
}

// learn finds the smallest machine.
func learn(f *satin.Frame, t Task) *Machine {
	words := satin.ShareConstant(f, *prefixes(t.Sample))
	return t.deepen(func(s Search) Found {
		if t.Flat {
			return searchFlat(f, Part{words, s})
		}
		return search(f, Part{words, s})
	})
}

// begin makes the automaton of a part.
func (p *Part) begin(f *satin.Frame) (*automaton, bool) {
	words := p.Words.Read(f)
	a := words.start()
	return a, a.repeat(p.Search.Done)
}

// search finds the best of a part: its choices are jobs.
func search(f *satin.Frame, p Part) (best Found) {
	a, ok := p.begin(f)
	if !ok {
		return best
	}
	best, parts, _ := p.Search.expand(a, f.Aborted)
	g := satin.Fork(f, search)
	for _, part := range slices.Backward(parts) {
		g.Spawn(Part{p.Words, part})
	}
	for found := range g.Results() {
		if best.better(found) {
			best = found
		}
	}
	return best
}

// searchFlat makes all parts by itself, as a master does for its workers, and spawns each where it has no
// choice left.
func searchFlat(f *satin.Frame, p Part) (best Found) {
	g := satin.Fork(f, search)
	var walk func(p Part)
	walk = func(p Part) {
		if p.Search.Depth == 0 {
			g.Spawn(p)
			return
		}
		a, ok := p.begin(f)
		if !ok {
			return
		}
		found, parts, _ := p.Search.expand(a, f.Aborted)
		if best.better(found) {
			best = found
		}
		for _, part := range parts {
			walk(Part{p.Words, part})
		}
	}
	walk(p)
	for found := range g.Results() {
		if best.better(found) {
			best = found
		}
	}
	return best
}
