package othello

import (
	"fmt"
	"math/bits"
	"strings"
)

// Board is a position: the discs of the player to move and of the other one, a bit for each square, a1 the lowest,
// h1 the eighth, h8 the highest.
type Board struct{ Mine, Theirs uint64 }

// start is the position at the beginning, black to move.
var start = Board{Mine: square("e4") | square("d5"), Theirs: square("d4") | square("e5")}

func square(name string) uint64 { return 1 << (int(name[0]-'a') + 8*int(name[1]-'1')) }

// nameOf gives a square's name.
func nameOf(index int) string { return string([]byte{'a' + byte(index%8), '1' + byte(index/8)}) }

// inner is all but the first and last column: discs there may be turned by a line that goes sideways.
const inner = 0x7e7e7e7e7e7e7e7e

// steps are the ways to the eight neighbours: shifts to the left by so much, or, if negative, to the right.
var steps = [...]int{1, 7, 8, 9, -1, -7, -8, -9}

func shift(b uint64, by int) uint64 {
	if by < 0 {
		return b >> -by
	}
	return b << by
}

// turnable gives the other's discs that a line in the given direction may turn.
func (b Board) turnable(by int) uint64 {
	if by == 8 || by == -8 {
		return b.Theirs
	}
	return b.Theirs & inner
}

// moves gives the squares where the player to move may place a disc: behind a line of the other's discs that
// begins at an own one.
func (b Board) moves() (to uint64) {
	free := ^(b.Mine | b.Theirs)
	for _, by := range steps {
		theirs := b.turnable(by)
		line := theirs & shift(b.Mine, by)
		for range 5 {
			line |= theirs & shift(line, by)
		}
		to |= free & shift(line, by)
	}
	return to
}

// play places a disc on a square, one of moves, and gives the position that the other has to move in.
func (b Board) play(at uint64) Board {
	var turned uint64
	for _, by := range steps {
		theirs := b.turnable(by)
		line := theirs & shift(at, by)
		for range 5 {
			line |= theirs & shift(line, by)
		}
		if shift(line, by)&b.Mine != 0 {
			turned |= line
		}
	}
	return Board{Mine: b.Theirs &^ turned, Theirs: b.Mine | turned | at}
}

// pass leaves the move to the other.
func (b Board) pass() Board { return Board{Mine: b.Theirs, Theirs: b.Mine} }

func (b Board) empties() int { return bits.OnesCount64(^(b.Mine | b.Theirs)) }

// score is the difference of discs at the end of a game; the winner gets the empty squares.
func (b Board) score() int {
	mine, theirs := bits.OnesCount64(b.Mine), bits.OnesCount64(b.Theirs)
	switch {
	case mine > theirs:
		return 64 - 2*theirs
	case mine < theirs:
		return 2*mine - 64
	}
	return 0
}

// parseBoard reads a position as the FFO test suite writes it: 64 squares from a1 to h8, X for black, O for
// white, - for empty; then, maybe, the side to move, X (if nothing is said) or O. Blanks between are left out;
// * and . are read, too.
func parseBoard(text string) (b Board, black bool, err error) {
	text = strings.ToUpper(strings.Join(strings.Fields(text), ""))
	if len(text) != 64 && len(text) != 65 {
		return b, false, fmt.Errorf("it has %d characters", len(text))
	}
	var x, o uint64
	for i, c := range text[:64] {
		switch c {
		case 'X', '*':
			x |= 1 << i
		case 'O':
			o |= 1 << i
		case '-', '.':
		default:
			return b, false, fmt.Errorf("%s is %q", nameOf(i), c)
		}
	}
	if black = true; len(text) == 65 {
		switch text[64] {
		case 'X', '*':
		case 'O':
			black = false
		default:
			return b, false, fmt.Errorf("the player to move is %q", text[64])
		}
	}
	if black {
		return Board{x, o}, true, nil
	}
	return Board{o, x}, false, nil
}

// text writes a board for people, eight lines.
func (b Board) text(black bool) string {
	mine, theirs := "X", "O"
	if !black {
		mine, theirs = theirs, mine
	}
	var s strings.Builder
	s.WriteString("  a b c d e f g h")
	for i := range 64 {
		if i%8 == 0 {
			fmt.Fprintf(&s, "\n%d", i/8+1)
		}
		switch at := uint64(1) << i; {
		case b.Mine&at != 0:
			s.WriteString(" " + mine)
		case b.Theirs&at != 0:
			s.WriteString(" " + theirs)
		default:
			s.WriteString(" -")
		}
	}
	return s.String()
}
