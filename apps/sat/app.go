package sat

import (
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/apps"
)

const (
	defaultThreshold = 500 // some milliseconds of work
	defaultRatio     = 4.26
	defaultSeed      = 1
)

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is Boolean satisfiability.
var App = apps.App{
	Version: sources,
	Name:    "sat",
	Summary: "models of Boolean formulas, or that there are none, by cube and conquer",
	Args:    "[FILE]",
	Long: `Tells whether the formula in FILE, in DIMACS CNF, has a model, and prints one as the SAT competitions want it. Instead of a
file it takes --pigeonhole N (no model), --random N (three literals in a clause) or --waerden J,K,N (the numbers to N in two
colours without J of the first or K of the second evenly apart).

The method is cube and conquer (Heule and others 2011): a solver with clause learning attempts a part of the problem
until it has met --threshold conflicts. Then lookahead splits that part in two, and these, a few times, and each of the parts
is a job for another attempt. The first model ends the run.

A model is checked in every clause. That there is none is shown by a proof that anybody can check: --proof FILE writes it,
in the LRAT format, and satin-peer check FORMULA FILE checks it. Where the formula was made and not read, --formula FILE
writes it. Of one part, --cube LITERALS, the proof is that not all of
these literals are true. --leave CUBES refutes several, each by a job whose proof stays on the machine that
finds it and is named in the answer. --estimate PROBES guesses beforehand what a proof will take (Knuth 1975). --check has such
proofs of parts checked, each by a job: with --verify quorum=2,others by two other members, who sign what they say.

Whether there is a model is the same in every run; which one is found may depend on who was first.`,
	Examples: []string{"--pigeonhole 9", "--waerden 3,10,97", "--random 250 --seed 4", "formula.cnf",
		"--waerden 3,10,97 --formula w.cnf --proof w.lrat.gz"},
	Setup: setup,
}

// made are the formulas that can be made instead of read.
type made struct {
	pigeonhole, random int
	ratio              float64
	seed               uint64
	waerden            string
	palindromic        bool
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	var m made
	fs.IntVar(&m.pigeonhole, "pigeonhole", 0, "`N`+1 pigeons in N holes instead of a file")
	fs.IntVar(&m.random, "random", 0, "clauses of three of `N` variables at random instead of a file")
	fs.Float64Var(&m.ratio, "ratio", defaultRatio, "clauses per variable of a random formula")
	fs.Uint64Var(&m.seed, "seed", defaultSeed, "`number` that makes a random formula different from others")
	fs.StringVar(&m.waerden, "waerden", "",
		"colours of the numbers to N without J or K evenly apart: `J,K,N` instead of a file")
	fs.BoolVar(&m.palindromic, "palindromic", false, "with --waerden: colours that read the same from both ends")
	threshold := fs.Int("threshold", defaultThreshold, "`conflicts` after which a job gives up and splits its part")
	proof := fs.String("proof", "",
		"write the proof that there is no model to `FILE`, compressed if its name ends in .gz")
	cube := fs.String("cube", "", "only the models in which the `LITERALS`, such as 3,-7, are true")
	probes := fs.Int("estimate", 0, "guess by so many `PROBES`, 2 or more, how many conflicts it will take")
	formula := fs.String("formula", "", "write the formula to `FILE`, in DIMACS CNF, before the run")
	leave := fs.String("leave", "",
		"refute the `CUBES`, such as '3,-7;3,7', each by a job that leaves its proof where it runs: see satin-peer campaign")
	check := fs.Bool("check", false, "solve nothing: check pieces of a proof about FILE, which follow it as FILE=LITERALS")
	return func(args []string) (*apps.Problem, error) {
		if *check {
			return hearing(args)
		}
		if err := apps.IntRange("--threshold", *threshold, 1, math.MaxInt32); err != nil {
			return nil, err
		}
		name, f, known, err := m.formula(args)
		if err != nil {
			return nil, err
		}
		if *leave != "" {
			return leaving(name, f, *threshold, *leave)
		}
		decisions, err := parseCube(*cube, f)
		if err != nil {
			return nil, err
		}
		if len(decisions) > 0 {
			name, known = name+" with "+*cube, unknown
		}
		prepare, err := f.outputs(*proof, *formula, args)
		if err != nil {
			return nil, err
		}
		c := Cube{Formula: f, Facts: decisions, Threshold: *threshold, Proof: *proof != ""}
		if *probes != 0 {
			if c.Proof {
				return nil, &apps.InputError{What: "--estimate", Got: fmt.Sprint(*probes), Want: "none beside --proof"}
			}
			const most = 1_000_000
			p := estimate(name, c, *probes)
			p.Prepare = prepare
			return p, apps.IntRange("--estimate", *probes, 2, most)
		}
		if c.Proof {
			c.Decisions = decisions
		}
		p := problem(name, c, known)
		p.Prepare = prepare
		if c.Proof {
			p.Save = func(result any) error { return c.saveProof(*proof, result.(Result)) }
		} else if len(decisions) == 0 {
			p.Parts = c.parts()
		}
		return p, nil
	}
}

// outputs sees whether the proof and the formula can be written, if that is wanted, and writes the formula before the
// run.
func (f *Formula) outputs(proof, formula string, args []string) (prepare func() error, err error) {
	if proof != "" {
		if err := apps.CheckOutput(proof, append([]string{formula}, args...)...); err != nil {
			return nil, err
		}
	}
	if formula == "" {
		return nil, nil
	}
	return func() error { return apps.WriteFile(formula, f.write) }, apps.CheckOutput(formula, args...)
}

// saveProof writes the proof of a formula without a model; nothing for one that has a model.
func (c *Cube) saveProof(path string, r Result) error {
	if r.Satisfiable {
		return nil
	}
	return apps.WriteText(path, func(w io.Writer) error { return c.writeProof(w, r.Proof) })
}

// formula makes the formula that flags ask for, or reads the file that args name. Known is the answer if
// mathematics has it.
func (m *made) formula(args []string) (name string, f *Formula, known verdict, err error) {
	var asked []string
	for flag, given := range map[string]bool{"--pigeonhole": m.pigeonhole != 0, "--random": m.random != 0,
		"--waerden": m.waerden != ""} {
		if given {
			asked = append(asked, flag)
		}
	}
	switch {
	case m.waerden == "" && m.palindromic:
		return "", nil, 0, &apps.InputError{What: "--palindromic", Want: "none without --waerden"}
	case m.random == 0 && m.ratio != defaultRatio:
		return "", nil, 0, &apps.InputError{What: "--ratio", Got: fmt.Sprint(m.ratio), Want: "none without --random"}
	case m.random == 0 && m.seed != defaultSeed:
		return "", nil, 0, &apps.InputError{What: "--seed", Got: fmt.Sprint(m.seed), Want: "none without --random"}
	case len(asked) == 0:
		name, f, err = read(args)
		return name, f, unknown, err
	case len(asked) > 1:
		slices.Sort(asked)
		return "", nil, 0, &apps.InputError{What: "formula", Got: strings.Join(asked, " and "),
			Want: "one of --pigeonhole, --random and --waerden"}
	case len(args) > 0:
		return "", nil, 0, &apps.InputError{What: "arguments", Got: args[0] + " and " + asked[0],
			Want: "FILE or " + asked[0] + ", not both"}
	}
	switch asked[0] {
	case "--pigeonhole":
		const most = 50
		return fmt.Sprint("pigeonhole ", m.pigeonhole), pigeonhole(min(m.pigeonhole, most)), unsatisfiable,
			apps.IntRange("--pigeonhole", m.pigeonhole, 1, most)
	case "--random":
		name, f, err = m.randomFormula()
		return name, f, unknown, err
	}
	return m.waerdenFormula()
}

func read(args []string) (string, *Formula, error) {
	if err := apps.ArgCount(args, 1, "FILE, or a formula to make"); err != nil {
		return "", nil, err
	}
	data, err := apps.ReadFile(args[0], maxFile)
	if err != nil {
		return "", nil, err
	}
	f, err := parse(args[0], data)
	return filepath.Base(args[0]), f, err
}

func (m *made) randomFormula() (string, *Formula, error) {
	const most, highest = 100_000, 40
	if err := apps.IntRange("--random", m.random, 3, most); err != nil {
		return "", nil, err
	}
	if err := apps.FloatRange("--ratio", m.ratio, 0, highest); err != nil {
		return "", nil, err
	}
	clauses := int(math.Round(m.ratio * float64(m.random)))
	return fmt.Sprintf("random %d with seed %d", m.random, m.seed), randomFormula(m.random, clauses, m.seed), nil
}

func (m *made) waerdenFormula() (name string, f *Formula, known verdict, err error) {
	const longest, most = 20, 2000
	refused := &apps.InputError{What: "--waerden", Got: m.waerden,
		Want: fmt.Sprintf("J,K,N: two lengths from 2 to %d and a number from 1 to %d", longest, most)}
	words := strings.Split(m.waerden, ",")
	if len(words) != 3 {
		return "", nil, 0, refused
	}
	var n [3]int
	for i, word := range words {
		lo, hi := 2, longest
		if i == 2 {
			lo, hi = 1, most
		}
		if n[i], err = strconv.Atoi(word); err != nil || n[i] < lo || n[i] > hi {
			return "", nil, 0, refused
		}
	}
	if number := waerdenNumbers[[2]int{min(n[0], n[1]), max(n[0], n[1])}]; number > 0 {
		known = satisfiable
		if n[2] >= number {
			known = unsatisfiable
		}
	}
	name, f = "van der Waerden "+m.waerden, waerden(n[0], n[1], n[2])
	if m.palindromic {
		if known == satisfiable { // but perhaps not by a palindrome
			known = unknown
		}
		name, f = "palindromic "+name, palindromic(f)
	}
	return name, f, known, nil
}

func problem(name string, c Cube, known verdict) *apps.Problem {
	f := c.Formula
	return &apps.Problem{
		Title:      fmt.Sprintf("%s: %d variables, %d clauses", name, f.Variables, f.Clauses),
		Root:       "sat.solve",
		Arg:        c,
		Sequential: func() any { return solveAlone(c) },
		Check: func(result any) error {
			r := result.(Result)
			if known != unknown && r.Satisfiable != (known == satisfiable) {
				return fmt.Errorf("%s is known to be the opposite", name)
			}
			return f.check(r)
		},
		Answer: func(result any) apps.Answer {
			r := result.(Result)
			if !r.Satisfiable {
				return apps.Answer{Text: "s UNSATISFIABLE", Fields: map[string]any{"satisfiable": false,
					"attempts": r.Attempts, "conflicts": r.Conflicts}}
			}
			model := signed(r.Model)
			return apps.Answer{
				Text:   "s SATISFIABLE\n" + valueLines(model),
				Fields: map[string]any{"satisfiable": true, "model": model},
			}
		},
	}
}

// signed returns a model as literals that are true.
func signed(model []bool) []int {
	literals := make([]int, len(model))
	for i, value := range model {
		if literals[i] = i + 1; !value {
			literals[i] = -literals[i]
		}
	}
	return literals
}

// valueLines writes a model in lines that begin with "v", the last of which ends with 0.
func valueLines(model []int) string {
	const width = 78
	var b strings.Builder
	line := "v"
	for _, l := range append(model, 0) {
		word := " " + strconv.Itoa(l)
		if len(line)+len(word) > width {
			b.WriteString(line + "\n")
			line = "v"
		}
		line += word
	}
	b.WriteString(line)
	return b.String()
}
