package grammar

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/satin-peer/satin/apps"
)

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is grammar induction.
var App = apps.App{
	Version: sources,
	Name:    "grammar",
	Summary: "the smallest automaton that agrees with words of a language and words that are not",
	Args:    "[FILE]",
	Long: `Learns a language from words that belong to it and words that do not: finds a deterministic finite automaton, as small as
it can, that is right about all of them. FILE is in the format of the Abbadingo competition: the numbers of words and of
symbols, then for each word 1 (in the language) or 0, its length, and its symbols, numbers from 0.

--generate N draws an automaton of N states at random, and --words words for the learner and as many others: the answer
says about how many of those, which it has not seen, it is right.

The method is evidence-driven state merging with a blue fringe (Lang and others 1998). The first merges, up to --depth of
them, are searched, the --width best candidates of each; the others are greedy. A job is a part of that search.
--variant mw has the root make all parts by itself, as a master does for its workers, and is there for comparison.

The answer is checked with every word of the sample. Which automaton it is does not depend on the order in which jobs run.`,
	Examples: []string{"--generate 16 --words 400 --depth 3", "sample.txt --depth 4 --output learned.dot"},
	Setup:    setup,
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	states := fs.Int("generate", 0, "draw an automaton of `N` states instead of reading a file")
	words := fs.Int("words", defaultWords, "`number` of words that are drawn for the learner")
	seed := fs.Uint64("seed", defaultSeed, "`number` that makes a drawn automaton different from others")
	depth := fs.Int("depth", defaultDepth, "`merges` that are searched; the others are greedy")
	width := fs.Int("width", defaultWidth, "`candidates` that are tried at each")
	variant := fs.String("variant", "dc", "`NAME`: dc divides and conquers, mw is a master with workers")
	output := fs.String("output", "", "write the automaton to `FILE`, in Graphviz' format")
	return func(args []string) (*apps.Problem, error) {
		for _, r := range []struct {
			what      string
			n, lo, hi int
		}{{"--depth", *depth, 0, maxDepth}, {"--width", *width, 1, maxWidth}, {"--words", *words, 1, maxWords}} {
			if err := apps.IntRange(r.what, r.n, r.lo, r.hi); err != nil {
				return nil, err
			}
		}
		if *variant != "dc" && *variant != "mw" {
			return nil, &apps.InputError{What: "--variant", Got: *variant, Want: "dc or mw"}
		}
		t := Task{Depth: *depth, Width: *width, Flat: *variant == "mw"}
		var name string
		var heldOut []Word
		switch {
		case *states != 0:
			if err := apps.ArgCount(args, 0, ""); err != nil {
				return nil, err
			}
			if err := apps.IntRange("--generate", *states, 1, maxStates); err != nil {
				return nil, err
			}
			name = fmt.Sprintf("a drawn automaton of %d states", *states)
			_, t.Sample, heldOut = draw(*states, *words, *seed)
		case *words != defaultWords, *seed != defaultSeed:
			return nil, &apps.InputError{What: "--words and --seed", Got: fmt.Sprint(*words, " and ", *seed),
				Want: "none without --generate"}
		default:
			if err := apps.ArgCount(args, 1, "FILE, or --generate N"); err != nil {
				return nil, err
			}
			data, err := apps.ReadFile(args[0], maxFile)
			if err != nil {
				return nil, err
			}
			name = filepath.Base(args[0])
			if t.Sample, err = parse(args[0], data); err != nil {
				return nil, err
			}
		}
		if *output != "" {
			if err := apps.CheckOutput(*output, args...); err != nil {
				return nil, err
			}
		}
		return problem(t, name, heldOut, *output), nil
	}
}

const (
	defaultWords = 400
	defaultSeed  = 1
	defaultDepth = 2
	defaultWidth = 4
	maxDepth     = 12
	maxWidth     = 64
	maxStates    = 1000
)

func problem(t Task, name string, heldOut []Word, output string) *apps.Problem {
	p := &apps.Problem{
		Title:      fmt.Sprintf("grammar of %s, %d words", name, len(t.Sample.Words)),
		Root:       "grammar.learn",
		Arg:        t,
		Sequential: func() any { return learnAlone(t) },
		Check: func(result any) error {
			m := result.(*Machine)
			if m == nil || !m.valid(t.Sample.Symbols) {
				return fmt.Errorf("it is no automaton for %d symbols", t.Sample.Symbols)
			}
			if right := m.agrees(t.Sample.Words); right != len(t.Sample.Words) {
				return fmt.Errorf("the automaton is right about %d of %d words", right, len(t.Sample.Words))
			}
			return nil
		},
		Answer: func(result any) apps.Answer { return answer(result.(*Machine), t.Sample, heldOut) },
	}
	if output != "" {
		p.Save = func(result any) error {
			return apps.WriteFile(output, func(w io.Writer) error {
				_, err := io.WriteString(w, result.(*Machine).dot())
				return err
			})
		}
	}
	return p
}

func answer(m *Machine, s *Sample, heldOut []Word) apps.Answer {
	text := fmt.Sprintf("%d states, right about all %d words of the sample", len(m.Next), len(s.Words))
	fields := map[string]any{"states": len(m.Next), "words": len(s.Words)}
	if len(heldOut) > 0 {
		right := m.agrees(heldOut)
		text += fmt.Sprintf(" and %d of %d others (%.1f %%)", right, len(heldOut),
			100*float64(right)/float64(len(heldOut)))
		fields["held_out"], fields["held_out_right"] = len(heldOut), right
	}
	return apps.Answer{Text: text, Fields: fields}
}

// dot writes the machine for Graphviz; states that accept have two circles.
func (m *Machine) dot() string {
	var b strings.Builder
	b.WriteString("digraph {\n\trankdir=LR;\n\tstart [shape=point];\n\tstart -> 0;\n")
	for i, next := range m.Next {
		shape := "circle"
		if m.Accept[i] {
			shape = "doublecircle"
		}
		fmt.Fprintf(&b, "\t%d [shape=%s];\n", i, shape)
		for c, to := range next {
			if to >= 0 {
				fmt.Fprintf(&b, "\t%d -> %d [label=%d];\n", i, to, c)
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}
