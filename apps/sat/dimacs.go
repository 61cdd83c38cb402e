package sat

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/satin-peer/satin/apps"
)

// Limits of a formula.
const (
	maxFile      = 256 << 20 // bytes
	maxVariables = 1_000_000
	maxClauses   = 5_000_000
	maxLiterals  = 20_000_000
)

// parser reads a formula in the DIMACS format ("Satisfiability: suggested format", 1993): comment lines "c
// ...", the line "p cnf VARIABLES CLAUSES", and the clauses, each ended by a 0, however they are spread over
// the lines. A line "%" ends the formula, as in the files of SATLIB.
type parser struct {
	file    string
	line    int
	formula *Formula
	clauses int // that are promised
	begun   bool
}

// parse reads the formula in data. What it refuses is an *apps.InputError that names the line.
func parse(file string, data []byte) (*Formula, error) {
	p := &parser{file: file}
	for len(data) > 0 {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		p.line++
		text = bytes.TrimSpace(text)
		switch {
		case len(text) == 0 || text[0] == 'c':
			continue
		case text[0] == '%':
			data = nil
			continue
		}
		read := p.literals
		if p.formula == nil {
			read = p.header
		}
		if err := read(text); err != nil {
			return nil, err
		}
	}
	f := p.formula
	switch {
	case f == nil:
		return nil, p.wants("the end of the file", `the line "p cnf VARIABLES CLAUSES"`)
	case p.begun:
		return nil, p.wants("the end of the file", "a 0 after the last clause")
	case f.Clauses != p.clauses:
		return nil, p.wants(fmt.Sprint(f.Clauses, " clauses"), fmt.Sprintf("%d, as the line \"p cnf\" says", p.clauses))
	}
	return f, nil
}

func (p *parser) header(text []byte) error {
	words := bytes.Fields(text)
	if len(words) != 4 || string(words[0]) != "p" || string(words[1]) != "cnf" {
		return p.wants(string(text), "p cnf VARIABLES CLAUSES")
	}
	variables, err := p.count(words[2], "VARIABLES", maxVariables)
	if err != nil {
		return err
	}
	if p.clauses, err = p.count(words[3], "CLAUSES", maxClauses); err != nil {
		return err
	}
	p.formula = &Formula{Variables: variables}
	return nil
}

func (p *parser) count(word []byte, what string, most int) (int, error) {
	n, err := strconv.Atoi(string(word))
	if err != nil || n < 0 || n > most {
		return 0, p.wants(string(word), fmt.Sprintf("%s from 0 to %d", what, most))
	}
	return n, nil
}

// literals reads a line of clauses, or of parts of some.
func (p *parser) literals(text []byte) error {
	f := p.formula
	for word := range bytes.FieldsSeq(text) {
		l, err := strconv.Atoi(string(word))
		if err != nil || l < -f.Variables || l > f.Variables {
			return p.wants(string(word), fmt.Sprintf("a literal from %d to %d, or 0 after a clause", -f.Variables,
				f.Variables))
		}
		if len(f.Literals) >= maxLiterals {
			return p.wants("more literals", fmt.Sprintf("at most %d with their zeros", maxLiterals))
		}
		f.Literals = append(f.Literals, int32(l))
		if p.begun = l != 0; l != 0 {
			continue
		}
		if f.Clauses++; f.Clauses > p.clauses {
			return p.wants("one more clause", fmt.Sprintf("%d, as the line \"p cnf\" says", p.clauses))
		}
	}
	return nil
}

func (p *parser) wants(got, want string) error {
	return &apps.InputError{What: fmt.Sprintf("%s:%d", p.file, p.line), Got: got, Want: want}
}

// write writes the formula in DIMACS CNF.
func (f *Formula) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "p cnf %d %d\n", f.Variables, f.Clauses)
	for c := range f.all() {
		for _, l := range c {
			fmt.Fprint(out, l, " ")
		}
		fmt.Fprintln(out, 0)
	}
	return out.Flush()
}
