package grammar

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/satin-peer/satin/apps"
)

// Sample is what is known of a language: words, and for each whether it belongs to the language. It does not
// change once it has been made, so all the jobs of a process share one.
type Sample struct {
	Symbols int // of the alphabet, written 0, 1, ...
	Words   []Word
}

// Word is a word of a sample.
type Word struct {
	Text   []byte // symbols
	Accept bool
}

// Limits of a sample.
const (
	maxSymbols = 16
	maxWords   = 100_000
	maxLength  = 1_000
	maxTotal   = 2_000_000 // symbols in all words
	maxFile    = 64 << 20
)

// parse reads a sample in the format of the Abbadingo competition (Lang, Pearlmutter, Price, "Results of the
// Abbadingo One DFA learning competition", 1998): the numbers of words and symbols, and then for each word 1
// or 0, for in the language or not, its length, and its symbols.
func parse(name string, data []byte) (*Sample, error) {
	p := parser{name: name, words: bytes.Fields(data)}
	n := p.number("the number of words", 1, maxWords)
	s := &Sample{Symbols: p.number("the number of symbols", 1, maxSymbols)}
	total := 0
	for i := 1; i <= n && p.err == nil; i++ {
		what := fmt.Sprint("word ", i, ", ")
		w := Word{Accept: p.number(what+"in the language or not", 0, 1) == 1}
		length := p.number(what+"its length", 0, maxLength)
		if total += length; total > maxTotal {
			return nil, &apps.InputError{What: name, Got: "more symbols",
				Want: fmt.Sprintf("at most %d in all words", maxTotal)}
		}
		w.Text = make([]byte, 0, length)
		for j := 1; j <= length && p.err == nil; j++ {
			w.Text = append(w.Text, byte(p.number(fmt.Sprint(what, "symbol ", j), 0, s.Symbols-1)))
		}
		s.Words = append(s.Words, w)
	}
	if p.err == nil && len(p.words) > 0 {
		p.err = &apps.InputError{What: name, Got: string(p.words[0]), Want: fmt.Sprintf("nothing after %d words", n)}
	}
	if p.err != nil {
		return nil, p.err
	}
	return s, s.contradiction(name)
}

type parser struct {
	name  string
	words [][]byte
	err   error
}

func (p *parser) number(what string, lo, hi int) int {
	if p.err != nil {
		return lo
	}
	if len(p.words) == 0 {
		p.err = &apps.InputError{What: p.name + ", " + what, Got: "the end of the file",
			Want: fmt.Sprintf("a number from %d to %d", lo, hi)}
		return lo
	}
	n, err := strconv.Atoi(string(p.words[0]))
	if err != nil || n < lo || n > hi {
		p.err = &apps.InputError{What: p.name + ", " + what, Got: string(p.words[0]),
			Want: fmt.Sprintf("a number from %d to %d", lo, hi)}
		return lo
	}
	p.words = p.words[1:]
	return n
}

// contradiction finds a word that is in the language and is not.
func (s *Sample) contradiction(name string) error {
	said := map[string]bool{}
	for _, w := range s.Words {
		if accept, ok := said[string(w.Text)]; ok && accept != w.Accept {
			return &apps.InputError{What: name, Got: fmt.Sprint(w.Text),
				Want: "a word to be in the language or not, not both"}
		}
		said[string(w.Text)] = w.Accept
	}
	return nil
}

// Machine is a deterministic finite automaton: state 0 is the first.
type Machine struct {
	Next   [][]int32 // by state and symbol: the next state; -1: the word is rejected
	Accept []bool
}

// accepts says whether a word is in the machine's language.
func (m *Machine) accepts(text []byte) bool {
	at := int32(0)
	for _, c := range text {
		if at = m.Next[at][c]; at < 0 {
			return false
		}
	}
	return m.Accept[at]
}

// agrees counts the words that the machine is right about.
func (m *Machine) agrees(words []Word) (right int) {
	for _, w := range words {
		if m.accepts(w.Text) == w.Accept {
			right++
		}
	}
	return right
}

// valid says whether it is a machine for so many symbols.
func (m *Machine) valid(symbols int) bool {
	if len(m.Next) == 0 || len(m.Next) != len(m.Accept) {
		return false
	}
	for _, next := range m.Next {
		if len(next) != symbols {
			return false
		}
		for _, to := range next {
			if to < -1 || int(to) >= len(m.Next) {
				return false
			}
		}
	}
	return true
}

// draw makes a machine with so many states at random, with two symbols, and words that it judges: a sample,
// and as many others, which the learner does not see. The words are of all lengths up to some more than the
// machine's depth, like those of Abbadingo.
func draw(states, words int, seed uint64) (target *Machine, s *Sample, heldOut []Word) {
	rng := rand.New(rand.NewPCG(seed, uint64(states)))
	m := &Machine{}
	for range states {
		m.Next = append(m.Next, []int32{int32(rng.IntN(states)), int32(rng.IntN(states))})
		m.Accept = append(m.Accept, rng.IntN(2) == 0)
	}
	longest := 5
	for 1<<(longest-5) < states {
		longest += 2
	}
	for 1<<longest < 8*words { // so that there are enough to draw from
		longest++
	}
	seen := map[string]bool{}
	var all []Word
	for len(all) < 2*words {
		text := make([]byte, rng.IntN(longest+1))
		for i := range text {
			text[i] = byte(rng.IntN(2))
		}
		if !seen[string(text)] {
			seen[string(text)] = true
			all = append(all, Word{Text: text, Accept: m.accepts(text)})
		}
	}
	half := len(all) / 2
	return m, &Sample{Symbols: 2, Words: all[:half]}, all[half:]
}
