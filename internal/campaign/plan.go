// Package campaign says what a campaign is: a formula without a model, as everybody believes, that is too much for one
// run, and is divided into parts. Each part is a run of its own, whose proof, a piece, says that one cube has no
// model; the cover says that the cubes are all there is; together they are one proof in LRAT that any checker takes.
//
// What is here has no clock, network or goroutine and trusts nobody: the cover is worked out from the cubes alone, so
// it is also the test that none was left out. Files are named by the hash of their content. Whoever runs the parts, and
// where the files are, is for the command to say.
package campaign

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// ErrCubes is what is wrong with cubes that are not all of a formula's.
var ErrCubes = errors.New("the cubes are not all there is")

// A Plan is what a campaign is about. It does not change.
type Plan struct {
	Title   string    `json:"title"`
	App     string    `json:"application"`
	Args    []string  `json:"arguments"` // of the whole problem, as a command line
	Formula string    `json:"formula"`   // the hash of its file
	Cubes   [][]int32 `json:"cubes"`     // the literals that each part has for true, in the order of the tree
	// Of is the cube that all of it is about, if it is a part of another campaign that was divided again; all cubes
	// begin with it.
	Of []int32 `json:"of,omitempty"`
	// Guess is what was guessed beforehand, and Most how many conflicts a part should have at most: one that is
	// guessed to have more is divided again. 0: none is.
	Guess *Guess  `json:"guess,omitempty"`
	Most  float64 `json:"most_conflicts,omitempty"`
}

// A Guess is how many conflicts a proof may take, by Knuth's method, with its standard error.
type Guess struct {
	Conflicts     float64 `json:"conflicts"`
	StandardError float64 `json:"standard_error"`
	Probes        int     `json:"probes"`
}

// MayBeLarge says whether some parts may have more conflicts than they should, so that each is to be guessed by
// itself: the largest of 2,000 had 14 times as many as they have on average.
func (p *Plan) MayBeLarge() bool {
	const spread = 8
	return p.Most > 0 && p.Guess != nil && spread*p.Guess.Conflicts > p.Most*float64(len(p.Cubes))
}

// FirstParts is how many parts a campaign begins with: by its guess, and so many that what is left can be estimated.
func (p *Plan) FirstParts() int {
	const fewest, unguessed = 50, 1000
	if p.Guess == nil {
		return unguessed
	}
	return max(fewest, PartsFor(*p.Guess, p.Most))
}

// PartsFor is into how many parts to divide what is guessed to have so many conflicts: they have half of the most
// on average.
func PartsFor(g Guess, most float64) int {
	const fewest, greatest = 2, 10_000 // what is more is divided again
	return int(min(greatest, max(fewest, math.Ceil(2*g.Conflicts/most))))
}

// Sum is the name of a file's content.
func Sum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Goal is the clause that the piece of a part ends with: not all of its cube.
func (p *Plan) Goal(part int) []int32 { return not(p.Cubes[part]) }

// Conclusion is the clause that all pieces together end with: the empty one, or that not all of Of holds.
func (p *Plan) Conclusion() []int32 { return not(p.Of) }

// not is the clause that not all of a cube holds.
func not(cube []int32) []int32 {
	clause := make([]int32, len(cube))
	for i, l := range cube {
		clause[i] = -l
	}
	return clause
}

// Order is the order in which the parts are begun: drawn from the plan, so that those which are done are a sample that
// nobody has chosen, from which the rest can be estimated.
func (p *Plan) Order() []int {
	seed := sha256.Sum256(fmt.Append(nil, p.Formula, p.Cubes))
	chance := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])))
	return chance.Perm(len(p.Cubes))
}

// WriteGoals writes the goals of all parts as a formula in DIMACS CNF: what the cover begins with.
func (p *Plan) WriteGoals(w io.Writer) error {
	most := int32(0)
	for _, c := range p.Cubes {
		for _, l := range c {
			most = max(most, l, -l)
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "p cnf %d %d\n", most, len(p.Cubes))
	for i := range p.Cubes {
		_, _ = out.Write(appendClause(nil, p.Goal(i))) // Flush says what went wrong
		_ = out.WriteByte('\n')
	}
	return out.Flush()
}

// Cover writes the steps from the goals to the conclusion, in LRAT: two parts that differ in their last literal close
// the one that they are the halves of. Name gives the number of a part's goal, and last is the highest number given so
// far. It fails if the cubes are not all of a tree.
func (p *Plan) Cover(w io.Writer, name func(part int) int, last int) error {
	c := cover{plan: p, w: bufio.NewWriter(w), name: name, last: last}
	rest := make([]int, len(p.Cubes))
	for i, cube := range p.Cubes {
		if rest[i] = i; len(cube) < len(p.Of) || !slices.Equal(cube[:len(p.Of)], p.Of) {
			return fmt.Errorf("%w: %d is no part of %d", ErrCubes, cube, p.Of)
		}
	}
	id, err := c.close(rest, len(p.Of))
	if err != nil {
		return err
	}
	if len(p.Cubes) == 1 { // its goal is the conclusion, and no step says so yet
		_, _ = c.w.Write(appendClause(fmt.Appendf(nil, "%d ", c.last+1), p.Conclusion()))
		_, _ = fmt.Fprintf(c.w, " %d 0\n", id)
	}
	return c.w.Flush()
}

type cover struct {
	plan *Plan
	w    *bufio.Writer
	name func(part int) int
	last int
}

// close writes that the parts leave nothing of the cube that their first so many literals are, and gives the number of
// that clause.
func (c *cover) close(parts []int, depth int) (id int, err error) {
	cubes := c.plan.Cubes
	if len(parts) == 0 {
		return 0, ErrCubes
	}
	first := cubes[parts[0]]
	if len(parts) == 1 && len(first) == depth {
		return c.name(parts[0]), nil
	}
	if len(first) <= depth {
		return 0, fmt.Errorf("%w: %d is a part of another", ErrCubes, first)
	}
	n := 0
	for n < len(parts) && len(cubes[parts[n]]) > depth && cubes[parts[n]][depth] == first[depth] {
		n++
	}
	for _, part := range parts[n:] {
		if x := cubes[part]; len(x) <= depth || x[depth] != -first[depth] {
			return 0, fmt.Errorf("%w: beside %d there is %d", ErrCubes, first, x)
		}
	}
	var ids [2]int
	for i, half := range [][]int{parts[:n], parts[n:]} {
		if len(half) == 0 {
			return 0, fmt.Errorf("%w: nothing has %d and then %d", ErrCubes, first[:depth], -first[depth])
		}
		if ids[i], err = c.close(half, depth+1); err != nil {
			return 0, err
		}
	}
	c.last++
	b := strconv.AppendInt(nil, int64(c.last), 10)
	b = appendClause(append(b, ' '), not(first[:depth]))
	_, _ = fmt.Fprintf(c.w, "%s %d %d 0\n", b, ids[0], ids[1])
	return c.last, nil
}

// appendClause appends literals and a 0.
func appendClause(b []byte, clause []int32) []byte {
	for _, l := range clause {
		b = append(strconv.AppendInt(b, int64(l), 10), ' ')
	}
	return append(b, '0')
}
