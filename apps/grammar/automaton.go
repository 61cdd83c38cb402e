package grammar

import "slices"

// automaton is a machine in the making. It begins as the tree of the words of a sample, which accepts exactly
// those that are in the language, and its states are merged until it says something of all words.
//
// States are red, blue or neither (Lang, Pearlmutter, Price 1998, "blue fringe"): the red ones are states of
// the result, and differ from each other; the blue ones are the others that a red one leads to, each the root
// of a tree. A blue state is merged with a red one, or becomes red if it differs from all of them.
type automaton struct {
	symbols int
	next    []int32 // by state and symbol; none
	label   []int8  // by state: accept, reject, or unknown
	merged  []int32 // by state: the one that it was merged with; itself if it is still there
	red     []int32
	isRed   []bool
	undo    []change // newest last, since the last mark
	queue   []pair   // of merge
	done    []Step   // what has been decided
}

// Step is a decision about a blue state: it is merged with a red one, or becomes red itself.
type Step struct{ Red, Blue int32 }

// itself is no state.
const itself = -1

// Prefixes is the tree of the words of a sample: what every search begins with.
type Prefixes struct {
	Symbols int
	Next    []int32 // by state and symbol; none
	Label   []int8  // by state
}

const none = -1

const (
	unknown int8 = iota
	accept
	reject
)

// change is what a merge overwrote.
type change struct {
	what  kind
	at    int32
	value int32
}

type kind uint8

const (
	nextChanged kind = iota
	labelChanged
	mergedChanged
)

type pair struct{ a, b int32 }

// prefixes makes the tree of a sample.
func prefixes(s *Sample) *Prefixes {
	p := &Prefixes{Symbols: s.Symbols}
	p.add()
	for _, w := range s.Words {
		at := int32(0)
		for _, c := range w.Text {
			to := p.Next[int(at)*p.Symbols+int(c)]
			if to == none {
				to = p.add()
				p.Next[int(at)*p.Symbols+int(c)] = to
			}
			at = to
		}
		if p.Label[at] = reject; w.Accept {
			p.Label[at] = accept
		}
	}
	return p
}

func (p *Prefixes) add() int32 {
	n := int32(len(p.Label))
	for range p.Symbols {
		p.Next = append(p.Next, none)
	}
	p.Label = append(p.Label, unknown)
	return n
}

// start is the automaton that is the tree. State 0, the root, is red.
func (p *Prefixes) start() *automaton {
	a := &automaton{symbols: p.Symbols, next: slices.Clone(p.Next), label: slices.Clone(p.Label),
		merged: make([]int32, len(p.Label)), red: []int32{0}, isRed: make([]bool, len(p.Label))}
	for i := range a.merged {
		a.merged[i] = int32(i)
	}
	a.isRed[0] = true
	return a
}

// newAutomaton makes the tree of a sample.
func newAutomaton(s *Sample) *automaton { return prefixes(s).start() }

// promote makes a blue state red.
func (a *automaton) promote(state int32) {
	a.red, a.isRed[state] = append(a.red, state), true
	a.done = append(a.done, Step{itself, state})
}

// repeat does what was decided before; false if that is impossible.
func (a *automaton) repeat(steps []Step) bool {
	states := int32(len(a.label))
	for _, s := range steps {
		switch {
		case s.Red < itself || s.Red >= states || s.Blue < 0 || s.Blue >= states:
			return false
		case s.Red == itself:
			a.promote(s.Blue)
		default:
			if _, ok := a.merge(s.Red, s.Blue); !ok {
				return false
			}
			a.keep(s)
		}
	}
	return true
}

// clone copies what merges change.
func (a *automaton) clone() *automaton {
	return &automaton{symbols: a.symbols, next: slices.Clone(a.next), label: slices.Clone(a.label),
		merged: slices.Clone(a.merged), red: slices.Clone(a.red), isRed: slices.Clone(a.isRed),
		done: slices.Clone(a.done)}
}

func (a *automaton) find(state int32) int32 {
	for a.merged[state] != state {
		state = a.merged[state]
	}
	return state
}

// blue lists the blue states, in the order of the red ones and the symbols that lead to them, each once.
func (a *automaton) blue(list []int32) []int32 {
	list = list[:0]
	for _, r := range a.red {
		for c := range a.symbols {
			if to := a.next[int(r)*a.symbols+c]; to != none {
				if to = a.find(to); !a.isRed[to] && !slices.Contains(list, to) {
					list = append(list, to)
				}
			}
		}
	}
	return list
}

// merge merges blue with red and, as long as that leaves two states for one symbol, these. It counts the labels that
// agree: the evidence that the two are one state (EDSM). It returns false if two labels differ; the automaton is then
// broken until it is rolled back.
func (a *automaton) merge(red, blue int32) (evidence int, ok bool) {
	a.queue = append(a.queue[:0], pair{red, blue})
	for len(a.queue) > 0 {
		p := a.queue[len(a.queue)-1]
		a.queue = a.queue[:len(a.queue)-1]
		to, from := a.find(p.a), a.find(p.b)
		if to == from {
			continue
		}
		switch {
		case a.label[from] == unknown:
		case a.label[to] == unknown:
			a.undo = append(a.undo, change{labelChanged, to, int32(a.label[to])})
			a.label[to] = a.label[from]
		case a.label[to] != a.label[from]:
			return evidence, false
		default:
			evidence++
		}
		a.undo = append(a.undo, change{mergedChanged, from, from})
		a.merged[from] = to
		for c := range a.symbols {
			i, j := int(to)*a.symbols+c, int(from)*a.symbols+c
			switch {
			case a.next[j] == none:
			case a.next[i] == none:
				a.undo = append(a.undo, change{nextChanged, int32(i), none})
				a.next[i] = a.next[j]
			default:
				a.queue = append(a.queue, pair{a.next[i], a.next[j]})
			}
		}
	}
	return evidence, true
}

// rollback takes back what merge did since the last keep.
func (a *automaton) rollback() {
	for i := len(a.undo) - 1; i >= 0; i-- {
		switch u := a.undo[i]; u.what {
		case nextChanged:
			a.next[u.at] = u.value
		case labelChanged:
			a.label[u.at] = int8(u.value)
		case mergedChanged:
			a.merged[u.at] = u.value
		}
	}
	a.undo = a.undo[:0]
}

// keep makes the merge since the last one final.
func (a *automaton) keep(s Step) {
	a.undo = a.undo[:0]
	a.done = append(a.done, s)
}

// machine is the result once no state is blue. A state that no word of the sample ends in rejects.
func (a *automaton) machine() *Machine {
	number := map[int32]int32{}
	for i, r := range a.red {
		number[r] = int32(i)
	}
	m := &Machine{}
	for _, r := range a.red {
		next := make([]int32, a.symbols)
		for c := range next {
			if next[c] = none; a.next[int(r)*a.symbols+c] != none {
				next[c] = number[a.find(a.next[int(r)*a.symbols+c])]
			}
		}
		m.Next, m.Accept = append(m.Next, next), append(m.Accept, a.label[r] == accept)
	}
	return m
}
