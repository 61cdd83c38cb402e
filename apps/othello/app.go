package othello

import (
	"flag"
	"fmt"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// Bounds of the input.
const (
	maxDepth   = 60
	maxPerft   = 14
	maxEmpties = 30 // of an end that is solved; 24 take hours on one core
)

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the game of Othello.
var App = apps.App{
	Version: sources,
	Name:    "othello",
	Summary: "best moves in Othello, exact ends of games, and counts of positions",
	Args:    "[POSITION]",
	Long: `Finds the best moves in a position of Othello and what they are worth: looking --depth moves ahead, with an evaluation of
mobility, corners and edges there, or, with --end, exactly, by searching to the end of the game. --perft N counts instead
the positions that N moves lead to.

POSITION is 64 characters from a1 to h8, X for black, O for white, - or . for empty, and then X or O for who is to move,
as in the FFO test suite; blanks may be left out, and one that begins with - must come after --, or begin with a dot
instead. Without one it is the beginning of the game.

The method is MTD(f) (Plaat and others 1996): questions whether the value is at least a bound, with the last answer
as the next bound. Where a glance says that no move will settle a question, all of them are jobs at once; elsewhere the
most promising one is searched first, then two others at once, then four. The rest is aborted as soon as one settles the
question, unless --abort=false lets them end. Where too little is known for that, the question is asked first looking
two moves less far. A position up to --threshold moves before the end of the search is one job. What jobs find out about
positions they share, unless --table=false. Which moves are best does not depend on the order in which jobs run.

Counts are checked with the published ones, and the ends of some positions of the FFO suite with theirs.`,
	Examples: []string{"--depth 12", "--perft 9",
		"O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------X --end"},
	Setup: setup,
}

// counts are the numbers of positions after 1, 2, ... moves from the beginning.
var counts = []uint64{1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800, 1939886636}

// ends are values of positions that are known (the FFO test suite of endgames, from number 40 on).
var ends = map[string]int{
	"O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------X": 38,
	"-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O-X": 0,
	"--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO--X": 6,
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	depth := fs.Int("depth", defaultDepth, "look `N` moves ahead")
	end := fs.Bool("end", false, "search to the end of the game")
	count := fs.Int("perft", 0, "count the positions after `N` moves")
	threshold := fs.Int("threshold", defaultThreshold, "`moves` before the end of a search that one job looks ahead")
	table := fs.Bool("table", true, "share what is found out about positions")
	abort := fs.Bool("abort", true, "abort jobs that nobody needs any more")
	return func(args []string) (*apps.Problem, error) {
		b, black, name, err := position(args)
		if err != nil {
			return nil, err
		}
		if err := apps.IntRange("--threshold", *threshold, 0, maxDepth); err != nil {
			return nil, err
		}
		switch {
		case *count != 0 && (*end || *depth != defaultDepth), *end && *depth != defaultDepth:
			return nil, &apps.InputError{What: "what to do", Got: "several", Want: "one of --depth, --end and --perft"}
		case *count != 0 && !(*table && *abort):
			return nil, &apps.InputError{What: "--perft", Got: "--table=false or --abort=false",
				Want: "none of them: it has neither table nor aborts"}
		case *count != 0:
			if err := apps.IntRange("--perft", *count, 1, maxPerft); err != nil {
				return nil, err
			}
			return counting(Walk{Board: b, Depth: *count, Leaf: *threshold}), nil
		case *end:
			if n := b.empties(); n > maxEmpties {
				return nil, &apps.InputError{What: "POSITION", Got: fmt.Sprint(n, " empty squares"),
					Want: fmt.Sprintf("at most %d for --end", maxEmpties)}
			}
			n := Node{Board: b, Depth: b.empties(), Exact: true, Leaf: *threshold}
			title := fmt.Sprintf("end of a game with %d empty squares", b.empties())
			return solving(Problem{n, *table, *abort}, black, title, name), nil
		}
		if err := apps.IntRange("--depth", *depth, 1, maxDepth); err != nil {
			return nil, err
		}
		n := Node{Board: b, Depth: min(*depth, b.empties()), Leaf: *threshold}
		return solving(Problem{n, *table, *abort}, black, fmt.Sprintf("best move, %d moves ahead", *depth), name), nil
	}
}

const (
	defaultDepth     = 10
	defaultThreshold = 7 // a tenth of a millisecond to some
)

// position reads the position that args name, or gives that of the beginning.
func position(args []string) (b Board, black bool, name string, err error) {
	if len(args) == 0 {
		return start, true, "", nil
	}
	name = strings.NewReplacer(".", "-", "*", "X").Replace(strings.ToUpper(strings.Join(args, "")))
	b, black, err = parseBoard(name)
	if err != nil {
		return b, black, "", &apps.InputError{What: "POSITION", Got: strings.Join(args, " "),
			Want: "64 squares of X, O and -, and then X or O for who is to move: " + err.Error()}
	}
	return b, black, name, nil
}

func counting(w Walk) *apps.Problem {
	return &apps.Problem{
		Title:      fmt.Sprintf("positions of Othello after %d moves", w.Depth),
		Root:       "othello.perft",
		Arg:        w,
		Sequential: func() any { return walk(w.Board, w.Depth, false) },
		Check: func(result any) error {
			if w.Board == start && w.Depth < len(counts) && result != counts[w.Depth] {
				return fmt.Errorf("%d moves lead to %d positions, not %d", w.Depth, counts[w.Depth], result)
			}
			return nil
		},
		Answer: func(result any) apps.Answer {
			return apps.Answer{
				Text:   fmt.Sprintf("%d positions after %d moves", result, w.Depth),
				Fields: map[string]any{"moves": w.Depth, "positions": result},
			}
		},
	}
}

func solving(p Problem, black bool, title, name string) *apps.Problem {
	n := p.Node
	return &apps.Problem{
		Title:      title,
		Root:       "othello.solve",
		Arg:        p,
		Sequential: func() any { return solveAlone(n) },
		Check: func(result any) error {
			best := result.(Best)
			if want, ok := ends[name]; ok && n.Exact && best.Value != want {
				return fmt.Errorf("the position is known to be worth %d, not %d", want, best.Value)
			}
			for _, m := range best.Moves {
				if m < 0 || m > 63 || n.Board.moves()>>m&1 == 0 {
					return fmt.Errorf("square %d is no move", m)
				}
			}
			if (len(best.Moves) == 0) != (n.Board.moves() == 0) {
				return fmt.Errorf("%d best moves", len(best.Moves))
			}
			return nil
		},
		Answer: func(result any) apps.Answer { return answer(n, black, result.(Best)) },
	}
}

func answer(n Node, black bool, best Best) apps.Answer {
	player := map[bool]string{true: "X", false: "O"}[black]
	names := make([]string, len(best.Moves))
	for i, m := range best.Moves {
		names[i] = nameOf(m)
	}
	what := "must pass"
	if len(names) > 0 {
		what = "plays " + strings.Join(names, " or ")
	} else if n.Board.pass().moves() == 0 {
		what = "has no move, and the game is over"
	}
	value := fmt.Sprintf("worth %+d by the evaluation", best.Value)
	if n.Exact {
		value = fmt.Sprintf("the game ends %+d", best.Value)
	}
	return apps.Answer{
		Text:   fmt.Sprintf("%s\n%s %s: %s", n.Board.text(black), player, what, value),
		Fields: map[string]any{"player": player, "moves": names, "value": best.Value, "exact": n.Exact},
	}
}
