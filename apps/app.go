// Package apps is the contract between an application and the command that runs it: how an application is named and
// explained, how its arguments become a [Problem], and how bad input is reported.
//
// Each application lives in a folder of its own below this one and is an ordinary program for package satin:
// its jobs, an untouched sequential twin to compare with, its input, and a check of its answer. Package all
// lists them.
//
// An application never prints, exits, or reads anything but the files it was given; the command does the rest.
package apps

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// App describes one application to the command.
type App struct {
	Name     string   // the word after "satin-peer run", "nqueens"
	Summary  string   // one line without a full stop
	Args     string   // usage of the positional arguments, "N", "[FILE]", "FILE | N SEED"; empty if there are none
	Long     string   // paragraphs: what it computes, by what method, from what source
	Examples []string // complete argument lists: "18", "12 --threshold 4"
	// Version names the sources of the jobs, as cmd/satinversion writes it: peers whose applications differ do not
	// work together. If it is empty only copies of one build do.
	Version string

	// Executables names those that jobs have run by satin.Exec. The setting executables of the run's owner says which
	// files they are; the run goes to peers whose owners have allowed the same.
	Executables []string

	// Setup declares the application's own flags on fs and returns the function that turns the positional arguments
	// into a Problem once fs has been parsed. That function reads and validates all input, so that a Problem which
	// exists can be run; what it refuses comes back as an *InputError.
	Setup func(fs *flag.FlagSet) func(args []string) (*Problem, error)
}

// Problem is one instance: input read and validated, ready to run.
type Problem struct {
	Title string // "18 queens"; members see it, so it says of a file what that is called, and not where it lies
	Root  string // registered name of the root job's function, "nqueens.search"
	Arg   any    // its argument, of the registered type

	// Sequential is the untouched sequential twin: the same answer by the same method with no satin in its code. Its
	// result has the root job's result type. If it is nil there is none, and run --sequential is refused.
	Sequential func() any

	// Check returns nil if result is right, as far as that can be told without solving the problem again: a published
	// value, a model put into its formula, a tour added up again. It gets results of the root job's type only. If it
	// is nil every result is taken for right: see Wrong.
	Check func(result any) error

	// Answer renders a result for people and for programs.
	Answer func(result any) Answer

	// Prepare is nil, or writes a file that is wanted before the run. Save is nil, or writes the output file: to a
	// temporary file that is then renamed, so never half of one. Nothing else writes any, so that a Problem can be made
	// of arguments that others have written.
	Prepare func() error
	Save    func(result any) error

	// Parts is nil, or says how runs of their own prove parts of the problem: see satin-peer campaign.
	Parts *Parts
}

// Writes says whether a run of the problem writes files.
func (p *Problem) Writes() bool { return p.Prepare != nil || p.Save != nil }

// Wrong is what is wrong with a result, as far as Check can tell.
func (p *Problem) Wrong(result any) error {
	if p.Check == nil {
		return nil
	}
	return p.Check(result)
}

// Parts are how a formula that is believed to have no model is proved in many runs: each has a cube, the literals that
// it takes for true, and together the cubes have all models.
type Parts struct {
	// Formula writes it in DIMACS CNF: where the problem names a file, one with that may take its place.
	Formula func(w io.Writer) error
	// Cut makes cubes of a cube, as many or fewer, in the order of the tree that they are the leaves of.
	Cut func(of []int32, parts int) (cubes [][]int32)
	// Args are those of the run for a cube, beside those of the problem; the proof that it has no model is to go to a
	// file. It is in LRAT, compressed if the name ends in .gz, and ends with the clause that not all of the cube
	// holds. If it has one there is no file, and the answer has "satisfiable": true.
	Args func(cube []int32, file string) []string
	// Leave are those of a run that refutes several cubes and leaves the proofs where they are found. Its answer has
	// "pieces", for each cube: "file", the SHA-256 of a proof as Args has it compressed, "bytes", its size, and "kept",
	// the deposits that it is cut into, each but the last of satin.MaxKept bytes; none where no proof was left.
	Leave func(cubes [][]int32) []string
	// Guess are those of a run that guesses by so many probes how many conflicts it will take; its answer has
	// "conflicts" and "standard_error". A conflict makes about so many PieceBytes of a proof, as it travels.
	Guess      func(cube []int32, probes int) []string
	PieceBytes float64
	// Check are those of a run that checks such proofs, a job for each: its argument is a Claim, its result a Verdict.
	// A proof is a file, or, where it was left, kept:SHA256:BYTES:NAME+NAME. The answer has those that are "refused",
	// and those that are "lost", as the last arguments name them.
	// MostChecked is how many bytes one such run takes, the formula among them.
	Check       func(formula string, files []string, cubes [][]int32) []string
	MostChecked int64
}

// A Claim is what a job checks that is to say whether a proof is right. It names files by their SHA-256.
type Claim interface {
	Claims() (formula, proof string, cube []int32)
}

// A Verdict is what that job says.
type Verdict interface{ Right() bool }

// Answer is a result as it is shown.
type Answer struct {
	Text   string         // what goes to stdout, without a trailing newline
	Fields map[string]any // what --json prints under "answer"
}

// InputError is bad input: one line that names the thing and says what is allowed. The command prints it and
// exits with code 2. Got is whatever the user wrote, empty if there was nothing to quote; it is quoted and
// cut when it is shown.
type InputError struct {
	What string // "N", "--epsilon", or a file: "instance.csv", "instance.csv:12"
	Got  string // "0"
	Want string // "a whole number from 1 to 31"
}

// Error is `N: got "0", want a whole number from 1 to 31`, on one line whatever the input contains.
func (e *InputError) Error() string {
	what := e.What
	if quoted := strconv.Quote(what); quoted[1:len(quoted)-1] != what {
		what = quoted // a file name with an escape sequence in it
	}
	if e.Got == "" {
		return fmt.Sprintf("%s: want %s", what, e.Want)
	}
	return fmt.Sprintf("%s: got %s, want %s", what, quote(e.Got), e.Want)
}

// quote puts s in quotes, escapes what does not print, and cuts it to maxQuoted bytes.
func quote(s string) string {
	const maxQuoted = 60
	if len(s) <= maxQuoted {
		return fmt.Sprintf("%q", s)
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%q...", s[:cut])
}

// Instance is the argument of the root job for a command line, for [satin.Small]: applications name a small
// instance of themselves as a user would. It panics if the application refuses it, or if the argument is of another
// type.
func Instance[A any](setup func(*flag.FlagSet) func([]string) (*Problem, error), line ...string) A {
	fs := flag.NewFlagSet("", flag.PanicOnError)
	build := setup(fs)
	if err := fs.Parse(line); err != nil {
		panic(err)
	}
	p, err := build(fs.Args())
	if err != nil {
		panic(err)
	}
	return p.Arg.(A)
}
