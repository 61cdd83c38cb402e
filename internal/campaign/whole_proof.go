package campaign

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// Whole makes one proof of the pieces and the cover. Clauses is how many the formula has; open gives the piece of a
// part, as text. Pieces are read one after the other; what they add gets new numbers, and nothing else changes.
func (p *Plan) Whole(w io.Writer, clauses int, open func(part int) (io.ReadCloser, error)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	last, goals := clauses, make([]int, len(p.Cubes))
	for part := range p.Cubes {
		piece, err := open(part)
		if err != nil {
			return err
		}
		last, err = renumber(out, piece, clauses, last)
		_ = piece.Close()
		if err != nil {
			return fmt.Errorf("the piece of part %d: %w", part+1, err)
		}
		goals[part] = last // the goal is what a piece adds last
	}
	if err := p.Cover(out, func(part int) int { return goals[part] }, last); err != nil {
		return err
	}
	return out.Flush()
}

const maxLine = 1 << 28 // bytes, as the checker has it

// renumber copies a piece: numbers above those of the formula's clauses move behind last. It returns the highest that
// was given. Of each line only what names clauses is looked at; a checker sees the rest.
func renumber(w *bufio.Writer, piece io.Reader, clauses, last int) (highest int, err error) {
	lines := bufio.NewScanner(piece)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	shift := last - clauses
	highest = last
	var b []byte
	for lines.Scan() {
		words := bytes.Fields(lines.Bytes())
		if len(words) == 0 || words[0][0] == 'c' {
			continue
		}
		b = b[:0]
		names := false // whether this word names a clause
		for i, word := range words {
			if i > 0 {
				b = append(b, ' ')
			}
			if i > 0 && !names {
				b = append(b, word...)
				names = i == 1 && string(word) == "d" || string(word) == "0"
				continue
			}
			id, err := strconv.Atoi(string(word))
			if err != nil || id < 0 {
				return 0, fmt.Errorf("got %.40q, want the number of a clause", word)
			}
			if id > clauses {
				id += shift
			}
			b = strconv.AppendInt(b, int64(id), 10)
			if i == 0 && !(len(words) > 1 && string(words[1]) == "d") {
				highest = id
			}
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return 0, err
		}
	}
	return highest, lines.Err()
}
