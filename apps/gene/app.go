package gene

import (
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is gene sequencing.
var App = apps.App{
	Version: sources,
	Name:    "gene",
	Summary: "the sequences of a database that fit queries best, by local alignment",
	Args:    "[QUERIES DATABASE]",
	Long: `Compares each sequence of QUERIES with each of DATABASE, two FASTA files, and prints the --best ones for each query, by the
score of the best local alignment (Smith and Waterman 1981): --match for two equal letters, --mismatch for two that
differ, less --gap for each letter that stands against none. Of equal scores the sequence that stands first in the database
comes first.

--generate Q,N,LENGTH draws N sequences of DNA of about LENGTH letters, and Q queries that are changed pieces of them,
instead of reading files.

Queries and database are shared by all jobs. A job halves the queries, and when it has one left the database, until it
has --threshold pairs of letters to compare. --variant mw has the root spawn all parts by itself, as a master does for
its workers, and is there for comparison.`,
	Examples: []string{"--generate 8,200,300", "queries.fasta database.fasta --best 3"},
	Setup:    setup,
}

// options are the flags.
type options struct {
	generate, variant                     string
	seed                                  uint64
	best, match, mismatch, gap, threshold int
}

const (
	defaultSeed      = 1
	defaultThreshold = 2_000_000 // some milliseconds
)

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	var o options
	fs.StringVar(&o.generate, "generate", "", "draw queries and a database: `Q,N,LENGTH` instead of files")
	fs.Uint64Var(&o.seed, "seed", defaultSeed, "`number` that makes drawn sequences different from others")
	fs.IntVar(&o.best, "best", 5, "`hits` that are wanted for each query")
	fs.IntVar(&o.match, "match", 3, "`score` of two equal letters")
	fs.IntVar(&o.mismatch, "mismatch", -3, "`score` of two letters that differ")
	fs.IntVar(&o.gap, "gap", 2, "`score` that a letter against none costs")
	fs.IntVar(&o.threshold, "threshold", defaultThreshold, "`pairs` of letters that one job compares")
	fs.StringVar(&o.variant, "variant", "dc", "`NAME`: dc divides and conquers, mw is a master with workers")
	return o.problem
}

func (o *options) problem(args []string) (*apps.Problem, error) {
	for _, r := range []struct {
		what      string
		n, lo, hi int
	}{{"--best", o.best, 1, 1000}, {"--match", o.match, 1, 1000}, {"--mismatch", o.mismatch, -1000, 0},
		{"--gap", o.gap, 1, 1000}, {"--threshold", o.threshold, 1, 1 << 40}} {
		if err := apps.IntRange(r.what, r.n, r.lo, r.hi); err != nil {
			return nil, err
		}
	}
	if o.variant != "dc" && o.variant != "mw" {
		return nil, &apps.InputError{What: "--variant", Got: o.variant, Want: "dc or mw"}
	}
	t := Task{Best: o.best, Leaf: o.threshold, Flat: o.variant == "mw",
		Scoring: Scoring{int32(o.match), int32(o.mismatch), int32(o.gap)}}
	in := input{Task: t}
	var err error
	switch {
	case o.generate != "":
		if err := apps.ArgCount(args, 0, ""); err != nil {
			return nil, err
		}
		err = o.draw(&in)
	case o.seed != defaultSeed:
		err = &apps.InputError{What: "--seed", Got: fmt.Sprint(o.seed), Want: "none without --generate"}
	default:
		if err := apps.ArgCount(args, 2, "QUERIES and DATABASE, or --generate Q,N,LENGTH"); err != nil {
			return nil, err
		}
		if in.queries, err = read(args[0]); err == nil {
			in.database, err = read(args[1])
		}
	}
	if err != nil {
		return nil, err
	}
	if n := min(longest(in.queries), longest(in.database)); n*o.match > math.MaxInt32 {
		return nil, &apps.InputError{What: "--match", Got: fmt.Sprint(o.match),
			Want: fmt.Sprintf("at most %d for sequences of %d letters", math.MaxInt32/n, n)}
	}
	return in.problem(), nil
}

// input is what a task is about, with its sequences at hand: the task itself names them, since they may be too
// much to go with it.
type input struct {
	Task
	queries, database []Sequence
}

func read(name string) ([]Sequence, error) {
	data, err := apps.ReadFile(name, maxFile)
	if err != nil {
		return nil, err
	}
	return parse(name, data)
}

// draw makes what --generate asks for.
func (o *options) draw(in *input) error {
	limits := [3]int{1000, 20_000, 5000}
	refused := &apps.InputError{What: "--generate", Got: o.generate,
		Want: fmt.Sprintf("Q,N,LENGTH: numbers from 1 to %d, %d and %d, of at most %d letters in all", limits[0],
			limits[1],
			limits[2], maxDrawn)}
	words := strings.Split(o.generate, ",")
	if len(words) != len(limits) {
		return refused
	}
	var n [3]int
	for i, w := range words {
		var err error
		if n[i], err = strconv.Atoi(w); err != nil || n[i] < 1 || n[i] > limits[i] {
			return refused
		}
	}
	if 2*(n[0]+n[1])*n[2] > 3*maxDrawn {
		return refused
	}
	in.queries, in.database = draw(n[0], n[1], n[2], o.seed)
	return nil
}

func (in input) problem() *apps.Problem {
	in.Queries, in.Database = satin.NewConstant(in.queries), satin.NewConstant(in.database)
	return &apps.Problem{
		Title: fmt.Sprintf("%d queries against %d sequences, %d letters", len(in.queries), len(in.database),
			letters(in.database)),
		Root:       "gene.compare",
		Arg:        in.Task,
		Sequential: func() any { return compareAlone(in) },
		Check:      func(result any) error { return in.check(result.([][]Hit)) },
		Answer:     func(result any) apps.Answer { return in.answer(result.([][]Hit)) },
	}
}

// check computes the hits' scores again, and looks whether they are in order. That there is no better one
// cannot be told without computing all.
func (in *input) check(hits [][]Hit) error {
	if len(hits) != len(in.queries) {
		return fmt.Errorf("hits of %d queries, not of %d", len(hits), len(in.queries))
	}
	for i, list := range hits {
		name := in.queries[i].Name
		if len(list) != min(in.Best, len(in.database)) {
			return fmt.Errorf("%s has %d hits", name, len(list))
		}
		for j, h := range list {
			if h.Subject < 0 || h.Subject >= len(in.database) {
				return fmt.Errorf("%s hits sequence %d, which is not there", name, h.Subject)
			}
			subject := in.database[h.Subject].Letters
			want := in.Scoring.score(in.queries[i].Letters, subject, make([]int32, len(subject)))
			if want != h.Score {
				return fmt.Errorf("%s hits %s with a score of %d, not %d", name, in.database[h.Subject].Name, want,
					h.Score)
			}
			if j > 0 && list[j-1].compare(h) >= 0 {
				return fmt.Errorf("%s: hits %d and %d are in the wrong order", name, j, j+1)
			}
		}
	}
	return nil
}

func (in *input) answer(hits [][]Hit) apps.Answer {
	var b strings.Builder
	fields := []map[string]any{}
	for i, list := range hits {
		for _, h := range list {
			fmt.Fprintf(&b, "%s\t%s\t%d\n", in.queries[i].Name, in.database[h.Subject].Name, h.Score)
			fields = append(fields, map[string]any{"query": in.queries[i].Name, "sequence": in.database[h.Subject].Name,
				"score": h.Score})
		}
	}
	return apps.Answer{Text: strings.TrimSuffix(b.String(), "\n"), Fields: map[string]any{"hits": fields}}
}
