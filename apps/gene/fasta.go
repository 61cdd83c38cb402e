package gene

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// Limits of the input. Both files go to a swarm as constants, of which a peer holds 1 GiB at most unless its owner
// allows more; drawn ones are for tries.
const (
	maxFile      = 1 << 30
	maxDrawn     = 12 << 20 // letters
	maxSequences = 4_000_000
	maxName      = 200
)

// parse reads sequences in the FASTA format: a line that begins with > names one, the lines up to the next
// such line are its letters. Small letters count as capitals; a * at the end is left out.
func parse(name string, data []byte) (list []Sequence, err error) {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimSpace(line)
		at := fmt.Sprint(name, ":", number)
		switch {
		case len(line) == 0 || line[0] == ';':
		case line[0] == '>':
			if len(list) > 0 && len(list[len(list)-1].Letters) == 0 {
				return nil, &apps.InputError{What: at, Got: string(line), Want: "letters of the sequence before it"}
			}
			if len(list) == maxSequences {
				return nil, &apps.InputError{What: at, Got: "more sequences",
					Want: fmt.Sprintf("at most %d", maxSequences)}
			}
			title := bytes.ReplaceAll(bytes.TrimSpace(line[1:]), []byte("\t"), []byte(" ")) // the answer has columns
			list = append(list, Sequence{Name: strings.ToValidUTF8(string(title[:min(len(title), maxName)]), "?")})
		case len(list) == 0:
			return nil, &apps.InputError{What: at, Got: string(line),
				Want: "a line that begins with > and names a sequence"}
		default:
			s := &list[len(list)-1]
			for _, c := range bytes.ToUpper(bytes.TrimSuffix(line, []byte("*"))) {
				if c < 'A' || c > 'Z' {
					return nil, &apps.InputError{What: at, Got: string(c), Want: "letters from A to Z"}
				}
				s.Letters = append(s.Letters, c)
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil, &apps.InputError{What: name, Got: "no sequence", Want: "at least one, in the FASTA format"}
	case len(list[len(list)-1].Letters) == 0:
		return nil, &apps.InputError{What: name, Got: "the end of the file", Want: "letters of the last sequence"}
	}
	return list, nil
}

// draw makes sequences of DNA of about so many letters at random: a database, and queries that are pieces of
// it in which one letter in eight was changed, so that each has one good hit.
func draw(queries, subjects, length int, seed uint64) (q, db []Sequence) {
	const bases = "ACGT"
	rng := rand.New(rand.NewPCG(seed, uint64(subjects)))
	for i := range subjects {
		s := Sequence{Name: fmt.Sprint("s", i), Letters: make([]byte, length/2+rng.IntN(length))}
		for j := range s.Letters {
			s.Letters[j] = bases[rng.IntN(len(bases))]
		}
		db = append(db, s)
	}
	for i := range queries {
		from := db[rng.IntN(subjects)].Letters
		from = from[rng.IntN(len(from)/2+1):]
		s := Sequence{Name: fmt.Sprint("q", i), Letters: bytes.Clone(from)}
		for j := range s.Letters {
			if rng.IntN(8) == 0 {
				s.Letters[j] = bases[rng.IntN(len(bases))]
			}
		}
		q = append(q, s)
	}
	return q, db
}
