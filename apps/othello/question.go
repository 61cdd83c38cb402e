package othello

// What a simulator of machines that play together needs of a question, which is all that its job does but waiting.
// Package internal/sim/paper has one: how much is searched depends on who knew what when, so no recording would do.

// Beginning is the first position of a game, looked into so far, with jobs for the last moves.
func Beginning(depth, leaf int) Node { return Node{Board: start, Depth: depth, Leaf: leaf} }

// From is the next question about a position's value, which is at least lower and, by the last answer, at value.
func (n Node) From(lower, value int) Node {
	if n.Bound = value; value == lower {
		n.Bound++
	}
	return n
}

// Guess is where the search for the value of a position begins; between -Worst and Worst it is found.
func (n *Node) Guess() int { return n.guess() }

// Worst is more than any value.
const Worst = worst

// AtLeaf says whether a question is answered in one job.
func (n *Node) AtLeaf() bool { return n.Depth <= n.Leaf }

// Machine is what a machine knows besides the facts that all are told of.
type Machine struct{ machine }

// NewMachine knows nothing.
func NewMachine() Machine { return Machine{newMachine()} }

// Learn is what a job does with an answer.
func (m Machine) Learn(n *Node, answer int) { m.tableFor(n.Depth).learn(n, answer) }

// Find is what is known of a position, from the deeper search, if all know as much of it.
func (m Machine) Find(b Board, told Fact) Fact { return deeper(told, m.find(b)) }

// Settles gives an answer to a question, if what the machine knows suffices.
func (m Machine) Settles(n *Node) (answer int, ok bool) {
	known := m.find(n.Board)
	return known.settles(n)
}

// Alone answers a question as one job of a machine does, and says how many positions it looked at. stop is never asked.
func (n *Node) Alone(m Machine) (answer int, positions uint64) {
	s := searcher{table: m.tableFor(n.Depth)}
	answer = s.search(n)
	return answer, s.positions
}

// Twin finds a position's value as the sequential program does, and says how many positions it looked at.
func (n Node) Twin() (value int, positions uint64) {
	s := newTwin(&n)
	best := s.solve(n)
	return best.Value, s.positions
}

// Plan is what a question's job asks, by what it knows of positions.
type Plan struct {
	Questions []Node // the most promising first: none if the game is over, and one after a pass
	Hopeless  bool   // no move is expected to settle the question
	Looked    uint64 // at so many positions, to find that out
}

// Plan says on which questions this one's answer depends.
func (n *Node) Plan(know func(Board) Fact) (p Plan) {
	l, hopeless, looked := n.plan(know)
	switch {
	case l.n == 0 && n.Passed:
		return Plan{}
	case l.n == 0:
		return Plan{Questions: []Node{n.passed()}}
	}
	p.Hopeless, p.Looked = hopeless, looked
	for _, b := range l.boards[:l.n] {
		p.Questions = append(p.Questions, n.after(b))
	}
	return p
}

// Ahead is the question to be asked before the Plan, if too little is known, which then rests on its answer, too.
func (n *Node) Ahead(know func(Board) Fact) (first Node, ok bool) { return n.ahead(know) }

// Besides is what is known with the answer to that.
func (n *Node) Besides(answer int, know func(Board) Fact) func(Board) Fact {
	return n.besides(answer, know)
}

// Passes says whether the player has no move.
func (n *Node) Passes() bool { return n.Board.moves() == 0 }

// Wave is how many of a question's Next have been asked after some more, if none of those before it has settled it.
func Wave(before, all int, hopeless bool) int { return wave(before, all, hopeless) }

// Over is the answer when the game is over.
func (n *Node) Over() int { return n.over() }

// Checks are the questions of bestOf for a value.
func (n Node) Checks(value int) (questions []Node) {
	bestOf(n, value, func(q []Node) []int {
		questions = q
		return make([]int, len(q))
	})
	return questions
}

// Place is where the fact about a position is in a table of Places.
func (b Board) Place() int {
	shard, place := b.place()
	return int(shard*places + place)
}

// Places is how many facts a table has at most.
const Places = shards * places

// Fact is what an answer says.
func (n *Node) Fact(answer int) Fact { return n.fact(answer) }

// Join is what a place has when another fact comes.
func (f Fact) Join(g Fact) Fact {
	if f.Depth == 0 {
		return g
	}
	return f.merge(g)
}

// Settles gives an answer to a question, if the fact suffices.
func (f *Fact) Settles(n *Node) (answer int, ok bool) { return f.settles(n) }
