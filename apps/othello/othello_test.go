package othello

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App) }

// TestEssence has answers to a question agree that are on the same side of its bound, where jobs are aborted.
func TestEssence(t *testing.T) {
	for _, c := range []struct {
		abort        bool
		answer, want int
	}{{true, 4, 4}, {true, 60, 4}, {true, 3, 3}, {true, -60, 3}, {false, 60, 60}, {false, -60, -60}} {
		j := Job{Node: Node{Bound: 4, Depth: 2}, Abort: c.abort}
		if got, err := j.essence(c.answer); got != c.want || err != nil {
			t.Errorf("of %d, aborts %v, it is %d, want %d", c.answer, c.abort, got, c.want)
		}
	}
}

// The jobs count as many positions as are published.
func TestPerft(t *testing.T) {
	for depth := 1; depth <= 7; depth++ {
		if got := apptest.Solve(t, App, fmt.Sprint("--perft ", depth, " --threshold 2")); got != counts[depth] {
			t.Errorf("%d moves: %v positions, want %d", depth, got, counts[depth])
		}
	}
}

// Positions that no game comes to are searched as well: here X has 35 moves.
func TestMoreMovesThanInGames(t *testing.T) {
	apptest.Solve(t, App, ".........OOX-OOX-XXO-XXO-OX-------XO-OX--OXXXXO--OO-OXO--------- --depth 5 --threshold 2")
}

// Wherever jobs give way to the sequential program, the move and its value are the same.
func TestEveryThreshold(t *testing.T) {
	for leaf := range 8 {
		apptest.Solve(t, App, fmt.Sprint("--depth 7 --threshold ", leaf))
	}
}

// drawn plays so many moves at random from the beginning.
func drawn(t *rapid.T, moves int) Board {
	b := start
	for range moves {
		to := b.moves()
		if to == 0 {
			if b = b.pass(); b.moves() == 0 {
				return b
			}
			continue
		}
		var list []uint64
		for ; to != 0; to &= to - 1 {
			list = append(list, to&-to)
		}
		b = b.play(rapid.SampledFrom(list).Draw(t, "move"))
	}
	return b
}

// movesByTheRules finds moves and what they turn square by square.
func movesByTheRules(b Board) map[int]Board {
	at := func(row, column int) uint64 {
		if row < 0 || row > 7 || column < 0 || column > 7 {
			return 0
		}
		return 1 << (8*row + column)
	}
	found := map[int]Board{}
	for i := range 64 {
		if (b.Mine|b.Theirs)>>i&1 == 1 {
			continue
		}
		var turned uint64
		for way := range 9 {
			dr, dc := way/3-1, way%3-1
			var line uint64
			for r, c := i/8+dr, i%8+dc; way != 4; r, c = r+dr, c+dc {
				if s := at(r, c); s&b.Theirs != 0 {
					line |= s
				} else {
					if s&b.Mine != 0 {
						turned |= line
					}
					break
				}
			}
		}
		if turned != 0 {
			found[i] = Board{Mine: b.Theirs &^ turned, Theirs: b.Mine | turned | 1<<i}
		}
	}
	return found
}

// On boards as they come up in games, the moves found by shifting bits are those that the rules allow, and lead where
// these lead; and what a board is worth to one player the other loses.
func TestMovesAgainstTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawn(t, rapid.IntRange(0, 58).Draw(t, "moves"))
		want := movesByTheRules(b)
		if got := bits.OnesCount64(b.moves()); got != len(want) {
			t.Fatalf("%s\n%d moves, want %d", b.text(true), got, len(want))
		}
		for at, next := range want {
			if b.moves()>>at&1 == 0 || b.play(1<<at) != next {
				t.Fatalf("%s\n%s is played wrongly", b.text(true), nameOf(at))
			}
		}
		if evaluate(b) != -evaluate(b.pass()) {
			t.Fatalf("%s\nis worth %d for one and %d for the other", b.text(true), evaluate(b), evaluate(b.pass()))
		}
	})
}

// minimax is the value of a node by the definition, with no window and no table.
func minimax(n Node) int {
	if n.Depth == 0 {
		return n.value()
	}
	best := -worst
	moves := movesByTheRules(n.Board)
	for _, b := range moves {
		best = max(best, -minimax(n.after(b)))
	}
	if len(moves) > 0 {
		return best
	}
	if n.Passed {
		return n.over()
	}
	return -minimax(n.passed())
}

// TestSearchAgainstMinimax asks questions with every kind of bound, and finds the best moves.
func TestSearchAgainstMinimax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exact := rapid.Bool().Draw(t, "exact")
		n := Node{Board: drawn(t, rapid.IntRange(0, 54).Draw(t, "moves")), Depth: rapid.IntRange(1, 4).Draw(t, "depth")}
		if exact {
			n.Board = drawn(t, rapid.IntRange(54, 60).Draw(t, "late moves"))
			n.Exact, n.Depth = true, n.Board.empties()
		}
		want := minimax(n)
		s := searcher{table: newTable(6)} // small, so that facts are replaced
		for range 5 {
			n.Bound = want + rapid.IntRange(-40, 40).Draw(t, "bound")
			got := s.search(&n)
			if (got >= n.Bound) != (want >= n.Bound) || got >= n.Bound && want < got || got < n.Bound && want > got {
				t.Fatalf("%+v: the answer is %d, the value %d", n, got, want)
			}
		}
		best := solveAlone(n)
		if best.Value != want {
			t.Fatalf("%+v: %d, want %d", n, best.Value, want)
		}
		for at, b := range movesByTheRules(n.Board) {
			listed := strings.Contains(fmt.Sprint(best.Moves), fmt.Sprint(at))
			if is := -minimax(n.after(b)) == want; is && !listed {
				t.Fatalf("%+v: %s is as good as %v", n, nameOf(at), best.Moves)
			}
		}
	})
}

// TestEnds solves ends of games in every way: the last moves of a position of the FFO suite, and games that are over.
func TestEnds(t *testing.T) {
	b, _, err := parseBoard("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------X")
	if err != nil {
		t.Fatal(err)
	}
	black := true
	for b.empties() > 12 { // the best moves of a shallow search lead there
		best := solveAlone(Node{Board: b, Depth: 3})
		if len(best.Moves) == 0 {
			b, black = b.pass(), !black
			continue
		}
		b, black = b.play(1<<best.Moves[0]), !black
	}
	x, o := b.Mine, b.Theirs
	if !black {
		x, o = o, x
	}
	var text strings.Builder
	for i := range 64 {
		text.WriteByte("-XO"[x>>i&1+2*(o>>i&1)])
	}
	text.WriteByte(map[bool]byte{true: 'X', false: 'O'}[black])
	apptest.Solve(t, App, text.String()+" --end --threshold 5")

	full := strings.Repeat("X", 40) + strings.Repeat("O", 24)
	if got := apptest.Solve(t, App, full+" --end"); got.(Best).Value != 16 || len(got.(Best).Moves) != 0 {
		t.Errorf("a full board: %+v", got)
	}
	if got := apptest.Solve(t, App, strings.Repeat("X", 34)+strings.Repeat("-", 30)+
		"O --end"); got.(Best).Value != -64 {
		t.Errorf("a board without a disc of white: %+v", got)
	}
}

// A position that is none, and options that contradict each other or ask for what takes for ever, are refused with
// what is allowed.
func TestRefused(t *testing.T) {
	const long = "64 squares of X, O and -, and then X or O for who is to move: "
	apptest.Refuse(t, App, map[string]string{
		"XO":                          `POSITION: got "XO", want ` + long + "it has 2 characters",
		strings.Repeat(".", 63) + "?": `POSITION: got "` + strings.Repeat(".", 60) + `"..., want ` + long + "h8 is '?'",
		strings.Repeat(".", 64) + "Z": `POSITION: got "` + strings.Repeat(".", 60) + `"..., want ` + long +
			`the player to move is 'Z'`,
		"--end":                   `POSITION: got "60 empty squares", want at most 30 for --end`,
		"--depth 0":               `--depth: got "0", want a whole number from 1 to 60`,
		"--perft 15":              `--perft: got "15", want a whole number from 1 to 14`,
		"--perft 3 --table=false": `--perft: got "--table=false or --abort=false", want none of them: it has neither table nor aborts`,
		"--perft 3 --end":         `what to do: got "several", want one of --depth, --end and --perft`,
		"--threshold -1":          `--threshold: got "-1", want a whole number from 0 to 60`,
	})
}

// Whatever text is given for a position, what is read from it has at most one disc on a square and can be shown.
func FuzzParse(f *testing.F) {
	f.Add("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------X")
	f.Fuzz(func(t *testing.T, text string) {
		b, black, err := parseBoard(text)
		if err == nil && b.Mine&b.Theirs != 0 {
			t.Errorf("two discs on a square: %+v", b)
		}
		_ = b.text(black)
	})
}
