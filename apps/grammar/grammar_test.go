package grammar

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) {
	apptest.Described(t, App, "sample.txt --depth 4 --output learned.dot")
}

// TestJobsAgreeWithTheTwin does so in both variants, which must find the same automaton.
func TestJobsAgreeWithTheTwin(t *testing.T) {
	for _, line := range []string{"--generate 5 --words 60 --depth 0", "--generate 6 --words 80 --depth 2",
		"--generate 8 --words 60 --depth 3 --width 3 --seed 2", "--generate 1 --words 5"} {
		dc := apptest.Solve(t, App, line)
		if mw := apptest.Solve(t, App, line+" --variant mw"); !reflect.DeepEqual(dc, mw) {
			t.Errorf("%s: %v by mw, %v by dc", line, mw, dc)
		}
	}
}

// TestFindsTheLanguage learns what it can be expected to find with so many words: the drawn automaton's
// language, and so all of the words that it has not seen.
func TestFindsTheLanguage(t *testing.T) {
	for seed := range uint64(5) {
		target, s, heldOut := draw(6, 500, seed)
		m := learnAlone(Task{Sample: s, Depth: 1, Width: 3})
		if right := m.agrees(heldOut); right != len(heldOut) || len(m.Next) > len(target.Next) {
			t.Errorf("seed %d: %d states, right about %d of %d", seed, len(m.Next), right, len(heldOut))
		}
	}
}

// TestSearchIsNeverWorse compares deeper searches with shallower ones.
func TestSearchIsNeverWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s, _ := draw(rapid.IntRange(2, 9).Draw(t, "states"), rapid.IntRange(5, 60).Draw(t, "words"),
			rapid.Uint64Range(0, 1000).Draw(t, "seed"))
		last := 1 << 30
		for depth := range 3 {
			m := learnAlone(Task{Sample: s, Depth: depth, Width: 2})
			if right := m.agrees(s.Words); right != len(s.Words) {
				t.Fatalf("depth %d: right about %d of %d words", depth, right, len(s.Words))
			}
			if len(m.Next) > last {
				t.Fatalf("depth %d: %d states, %d at a smaller depth", depth, len(m.Next), last)
			}
			last = len(m.Next)
		}
	})
}

// TestMergeAndRollback has rollback restore everything, and a merged automaton accept no word less than before.
func TestMergeAndRollback(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s, _ := draw(rapid.IntRange(2, 6).Draw(t, "states"), rapid.IntRange(5, 40).Draw(t, "words"),
			rapid.Uint64Range(0, 1000).Draw(t, "seed"))
		a := newAutomaton(s)
		for range rapid.IntRange(1, 8).Draw(t, "merges") {
			blue := a.blue(nil)
			if len(blue) == 0 {
				return
			}
			r, b := rapid.SampledFrom(a.red).Draw(t, "red"), rapid.SampledFrom(blue).Draw(t, "blue")
			before := a.clone()
			_, ok := a.merge(r, b)
			if !ok || rapid.Bool().Draw(t, "take back") {
				a.rollback()
				before.undo, before.queue = a.undo, a.queue
				if !reflect.DeepEqual(a, before) {
					t.Fatal("rollback has not restored the automaton")
				}
				if !ok {
					a.promote(b)
				}
				continue
			}
			a.keep(Step{r, b})
			for _, w := range s.Words {
				at := int32(0)
				for _, c := range w.Text {
					at = a.find(a.next[int(at)*a.symbols+int(c)])
				}
				if want := map[bool]int8{true: accept, false: reject}[w.Accept]; a.label[at] != want {
					t.Fatalf("word %v ends in a state labelled %d", w.Text, a.label[at])
				}
			}
		}
	})
}

// TestRepeat: what was decided leads to the same automaton again, wherever it is repeated.
func TestRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s, _ := draw(rapid.IntRange(2, 12).Draw(t, "states"), rapid.IntRange(5, 80).Draw(t, "words"),
			rapid.Uint64Range(0, 1000).Draw(t, "seed"))
		a := newAutomaton(s)
		for range rapid.IntRange(0, 6).Draw(t, "choices") {
			list, ok := a.settle(1000)
			if !ok || len(list) == 0 {
				break
			}
			a.take(rapid.SampledFrom(list).Draw(t, "choice"))
		}
		b := prefixes(s).start()
		if !b.repeat(a.done) {
			t.Fatalf("%v cannot be repeated", a.done)
		}
		a.settle(1000)
		b.settle(1000)
		a.undo, a.queue, b.undo, b.queue = nil, nil, nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%v leads to another automaton", a.done)
		}
	})
	for _, bad := range []Step{{0, 100}, {100, 1}, {-2, 1}, {0, -1}, {itself, 100}} {
		a := newAutomaton(&Sample{Symbols: 1, Words: []Word{{Text: []byte{0}, Accept: true}}})
		if a.repeat([]Step{bad}) {
			t.Errorf("%v was repeated", bad)
		}
	}
}

// From a file of words the automaton is learned that accepts them; it is saved as a graph, and the check refuses one
// that is none or contradicts the words.
func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "even.txt")
	// Words with an even number of ones.
	if err := os.WriteFile(file, []byte("7 2\n1 0\n0 1 1\n1 1 0\n1 2 1 1\n0 3 1 1 1\n0 2 0 1\n1 4 1 0 0 1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	m := apptest.Solve(t, App, file).(*Machine)
	if len(m.Next) != 2 || !m.accepts([]byte{0, 1, 1, 0}) || m.accepts([]byte{1, 0, 0}) {
		t.Errorf("learned %+v, want the words with an even number of ones", m)
	}
	dot := filepath.Join(t.TempDir(), "even.dot")
	p, err := apptest.Setup(App, file+" --output "+dot)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Save(m); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(dot); !strings.Contains(string(text), "0 -> 1 [label=1];") {
		t.Errorf("wrote %s", text)
	}
	for name, bad := range map[string]*Machine{"none": nil, "no states": {},
		"a state too few": {Next: [][]int32{{0, 1}}, Accept: []bool{true}},
		"wrong":           {Next: [][]int32{{0, 0}}, Accept: []bool{true}}} {
		if p.Check(bad) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A command line that makes no sense, or a file with words that are cut off, contradict each other or have other
// symbols, is refused with what is wrong and what is allowed there.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	even := file("even", "2 2\n1 1 0\n0 1 1\n")
	short, both, long := file("short", "2 2\n1 1 0\n"), file("both", "2 2\n1 1 0\n0 1 0\n"),
		file("long", "1 2\n1 1 0\n7\n")
	symbol, label := file("symbol", "1 2\n1 1 2\n"), file("label", "1 2\n-1 1 1\n")
	apptest.Refuse(t, App, map[string]string{
		"":                         `arguments: got "nothing", want exactly 1 (FILE, or --generate N)`,
		"--generate 1001":          `--generate: got "1001", want a whole number from 1 to 1000`,
		"--generate 5 x":           `arguments: got "x", want none`,
		"--generate 5 --depth 13":  `--depth: got "13", want a whole number from 0 to 12`,
		"--generate 5 --width 0":   `--width: got "0", want a whole number from 1 to 64`,
		"--generate 5 --variant x": `--variant: got "x", want dc or mw`,
		both + " --seed 4":         `--words and --seed: got "400 and 4", want none without --generate`,
		even + " --output " + even: even + `: got "a file that the run reads or writes", want another file to write to`,
		short: short +
			`, word 2, in the language or not: got "the end of the file", want a number from 0 to 1`,
		both:   both + `: got "[0]", want a word to be in the language or not, not both`,
		long:   long + `: got "7", want nothing after 1 words`,
		symbol: symbol + `, word 1, symbol 1: got "2", want a number from 0 to 1`,
		label:  label + `, word 1, in the language or not: got "-1", want a number from 0 to 1`,
	})
}

// Whatever a file holds, the words that are read from it have no symbols but those of its alphabet.
func FuzzParse(f *testing.F) {
	f.Add([]byte("2 2\n1 1 0\n0 2 0 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse("f", data)
		if err != nil {
			return
		}
		for _, w := range s.Words {
			for _, c := range w.Text {
				if int(c) >= s.Symbols {
					t.Fatalf("symbol %d of %d", c, s.Symbols)
				}
			}
		}
	})
}
