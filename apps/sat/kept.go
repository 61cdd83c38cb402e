package sat

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.Register("sat.pieces", pieces, satin.Exact())
	satin.Register("sat.piece", pieceOf, satin.Exact())
}

// Leaving is cubes whose refutations stay with those who find them.
type Leaving struct {
	Formula   *Formula
	Cubes     [][]int32
	Threshold int
}

// A Left piece is what a job says of a refutation that it has left where it was found: a proof of the cube in LRAT,
// compressed, named by its SHA-256, and in what pieces it is kept. Nobody is to believe it; without any, the cube is
// for a run of its own.
type Left struct {
	File                string
	Bytes               int64
	Kept                []satin.Kept
	Attempts, Conflicts uint64
}

// maxLeft is how many of them a refutation may be: who checks it has it in memory.
const maxLeft = 4

func pieces(f *satin.Frame, l Leaving) []Left {
	asked := make([]satin.Future[Cube, Left], len(l.Cubes))
	for i, cube := range l.Cubes {
		asked[i] = satin.Spawn(f, pieceOf, Cube{Formula: l.Formula, Facts: cube, Decisions: cube,
			Threshold: l.Threshold, Proof: true})
	}
	left := make([]Left, len(l.Cubes))
	for i := len(asked) - 1; i >= 0; i-- { // the newest first, which is cheapest
		left[i] = asked[i].Get()
	}
	return left
}

// pieceOf refutes a cube and leaves the proof here.
func pieceOf(f *satin.Frame, c Cube) Left {
	r := solve(f, c)
	if r.Satisfiable {
		return Left{} // which model comes first, and after what, is chance
	}
	said := Left{Attempts: r.Attempts, Conflicts: r.Conflicts}
	text, err := c.compressed(r.Proof)
	if err != nil || len(text) > maxLeft*satin.MaxKept {
		return said
	}
	var kept []satin.Kept
	for b := range slices.Chunk(text, satin.MaxKept) {
		name, ok := satin.Keep(f, b)
		if !ok {
			return said
		}
		kept = append(kept, name)
	}
	said.File, said.Bytes, said.Kept = sum(text), int64(len(text)), kept
	return said
}

// compressed is a refutation as it is left: whoever comes to it leaves the same, in whatever order its parts came.
func (c *Cube) compressed(proof [][]byte) ([]byte, error) {
	var text bytes.Buffer
	z := gzip.NewWriter(&text)
	err := errors.Join(c.writeProof(z, ordered(proof)), z.Close())
	return text.Bytes(), err
}

// leaving is the problem of cubes whose refutations stay.
func leaving(name string, f *Formula, threshold int, text string) (*apps.Problem, error) {
	l := Leaving{Formula: f, Threshold: threshold}
	for _, cube := range strings.Split(strings.TrimSuffix(text, ";"), ";") {
		decisions, err := parseCube(cube, f)
		if err != nil {
			return nil, err
		}
		l.Cubes = append(l.Cubes, decisions)
	}
	return &apps.Problem{
		Title: fmt.Sprintf("%d parts of %s, whose proofs stay where they are found", len(l.Cubes), name),
		Root:  "sat.pieces", Arg: l,
		Sequential: func() any { return make([]Left, len(l.Cubes)) }, // nothing stays here
		Check: func(result any) error {
			if n := len(result.([]Left)); n != len(l.Cubes) {
				return fmt.Errorf("%d pieces of %d parts", n, len(l.Cubes))
			}
			return nil
		},
		Answer: func(result any) apps.Answer {
			there, list := 0, []map[string]any{}
			for _, p := range result.([]Left) {
				kept := []string{}
				for _, k := range p.Kept {
					kept = append(kept, hex.EncodeToString(k[:]))
				}
				if len(kept) > 0 {
					there++
				}
				list = append(list, map[string]any{"file": p.File, "bytes": p.Bytes, "kept": kept,
					"attempts": p.Attempts, "conflicts": p.Conflicts})
			}
			return apps.Answer{Text: fmt.Sprintf("of %d of %d parts a proof was left", there, len(l.Cubes)),
				Fields: map[string]any{"pieces": list}}
		},
	}, nil
}

// keptPiece is how --check names a piece that was left somewhere: kept:SHA256:BYTES:NAME+NAME.
const keptPiece = "kept:"

func parseKept(word string) (l Left, err error) {
	refused := &apps.InputError{What: "--check", Got: word,
		Want: fmt.Sprintf("%sSHA256:BYTES:NAME+NAME, as a campaign names a piece, of %d names at most", keptPiece, maxLeft)}
	parts := strings.Split(strings.TrimPrefix(word, keptPiece), ":")
	if len(parts) != 3 {
		return l, refused
	}
	l.File = parts[0]
	l.Bytes, err = strconv.ParseInt(parts[1], 10, 64)
	for _, name := range strings.Split(parts[2], "+") {
		var k satin.Kept
		b, bad := hex.DecodeString(name)
		if copy(k[:], b) != len(k) || len(b) != len(k) || bad != nil {
			return l, refused
		}
		l.Kept = append(l.Kept, k)
	}
	if err != nil || len(l.Kept) > maxLeft {
		return l, refused
	}
	return l, nil
}

// content is the piece of a claim, from wherever it is.
func (c *Claim) content(f *satin.Frame) ([]byte, error) {
	if len(c.Kept) == 0 {
		return c.Content.Read(f), nil
	}
	var all []byte
	for _, k := range c.Kept {
		b, err := k.Read(f)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	if int64(len(all)) != c.Bytes {
		return nil, nil // it is not what it was said to be
	}
	return all, nil
}
