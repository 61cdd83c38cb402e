package othello

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/satin-peer/satin"
)

// Facts are what jobs tell each other of positions: a transposition table that grows by a join. They are bounds of
// values to a depth, which are true whoever found them and whenever: so any join of them is right, and changes
// nothing but what is searched again.
//
// Facts are in shards, in the order of their places; a place has one. A job offers one fact at a time, and the table
// that comes of it has all shards but one in common with what was. Here is what this machine knows besides.
type Facts struct {
	Shards [][]Fact
	Here   machine
}

// Fact says between which bounds the value of a position is, for the player to move, searched to a depth.
type Fact struct {
	Board        Board
	Lower, Upper int16
	Depth        int8
	Exact        bool
}

const (
	shards = 128
	places = 128 // in a shard
)

// game names what facts are about: the evaluation. One that changes needs another name.
const game = "mobility, corners, edges"

// place is where a position's fact is.
func (b Board) place() (shard, place uint64) {
	h := b.hash()
	return h % shards, h / shards % places
}

// at finds a position's place in a shard: where it is, and whether there is a fact.
func at(shard []Fact, place uint64) (int, bool) {
	return slices.BinarySearchFunc(shard, place, func(f Fact, want uint64) int {
		_, p := f.Board.place()
		return cmp.Compare(p, want)
	})
}

// merge joins two facts of one place. Of different questions the deeper one stays, which took longer to find.
func (a Fact) merge(b Fact) Fact {
	if c := a.compare(b); c > 0 {
		return a
	} else if c < 0 {
		return b
	}
	a.Lower, a.Upper = max(a.Lower, b.Lower), min(a.Upper, b.Upper)
	return a
}

// compare orders questions; it is 0 for the same one.
func (a Fact) compare(b Fact) int {
	exact := map[bool]int{true: 1}
	return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(exact[a.Exact], exact[b.Exact]),
		cmp.Compare(a.Board.Mine, b.Board.Mine), cmp.Compare(a.Board.Theirs, b.Board.Theirs))
}

// join is what Facts grow by.
func join(a, b Facts) Facts {
	if len(b.Shards) == 0 {
		return a
	}
	here := a.Here
	if here.table == nil {
		here = b.Here
	}
	if here.table == nil {
		here = newMachine()
	}
	if len(a.Shards) == 0 {
		return Facts{b.Shards, here}
	}
	all := slices.Clone(a.Shards)
	for i, s := range b.Shards {
		switch {
		case len(s) == 0:
		case len(all[i]) == 0:
			all[i] = s
		default:
			all[i] = joinShard(all[i], s)
		}
	}
	return Facts{all, here}
}

func joinShard(a, b []Fact) []Fact {
	all := slices.Clone(a)
	for _, f := range b {
		_, place := f.Board.place()
		if i, found := at(all, place); found {
			all[i] = all[i].merge(f)
		} else {
			all = slices.Insert(all, i, f)
		}
	}
	return all
}

// checkFacts refuses what cannot be looked up. Whether bounds are true only a search would tell.
func checkFacts(_ string, f Facts) error {
	if len(f.Shards) != shards {
		return fmt.Errorf("%d shards of facts, not %d", len(f.Shards), shards)
	}
	for i, shard := range f.Shards {
		last := -1
		for _, f := range shard {
			s, place := f.Board.place()
			switch {
			case s != uint64(i) || int(place) <= last:
				return fmt.Errorf("a fact is in shard %d and not in its place", i)
			case f.Board.Mine&f.Board.Theirs != 0 || f.Depth < 1 || f.Depth > maxDepth:
				return fmt.Errorf("a fact of no position, or of depth %d", f.Depth)
			case f.Lower < -worst || f.Upper > worst || f.Lower > f.Upper:
				return fmt.Errorf("a value is between %d and %d", f.Lower, f.Upper)
			}
			last = int(place)
		}
	}
	return nil
}

// find is what is known of a position, here or by all, from the deeper search; a fact of depth 0 is nothing.
func (f Facts) find(b Board) Fact {
	return deeper(f.told(b), f.Here.find(b))
}

func deeper(told, here Fact) Fact {
	if here.Depth > told.Depth {
		return here
	}
	return told
}

// told is what all know of a position.
func (f Facts) told(b Board) Fact {
	if len(f.Shards) == 0 {
		return Fact{}
	}
	shard, place := b.place()
	if i, found := at(f.Shards[shard], place); found && f.Shards[shard][i].Board == b {
		return f.Shards[shard][i]
	}
	return Fact{}
}

// settles gives an answer to a question, if what is known suffices. A fact of another depth is one of another value.
func (f Facts) settles(n *Node) (answer int, ok bool) {
	known := f.told(n.Board)
	if answer, ok = known.settles(n); !ok {
		known = f.Here.find(n.Board)
		answer, ok = known.settles(n)
	}
	return answer, ok
}

// tell offers an answer to all jobs, and leaves it here. That of an aborted job may be any, since a search in place
// below it has given up: nobody hears it.
func (j *Job) tell(f *satin.Frame, answer int) int {
	if j.Shared && j.Node.Depth > 0 && !f.Aborted() {
		j.Table.Value(f).Here.tableFor(j.Node.Depth).learn(&j.Node, answer)
		one := Facts{Shards: make([][]Fact, shards)}
		shard, _ := j.Node.Board.place()
		one.Shards[shard] = []Fact{j.Node.fact(answer)}
		j.Table.Offer(f, one)
	}
	return answer
}
