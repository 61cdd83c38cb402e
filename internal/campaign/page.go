package campaign

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// A Piece is a part that is proved: its proof was checked where it is listed.
type Piece struct {
	Part      int                `json:"part"` // from 1, in the order of the plan
	File      string             `json:"file"` // the hash of the piece, as it is kept: compressed
	Bytes     int64              `json:"bytes"`
	Text      int64              `json:"text_bytes"`        // as it is checked: not compressed
	Dropped   bool               `json:"dropped,omitempty"` // it was checked, and is not kept
	Divided   bool               `json:"divided,omitempty"` // a campaign of its own, whose plan File is
	Steps     int                `json:"steps"`             // clauses that it adds
	Attempts  uint64             `json:"attempts"`          // at cubes that the part was split into, and at itself
	Conflicts uint64             `json:"conflicts"`         // that the solver met
	Elapsed   float64            `json:"elapsed_seconds"`
	Checking  float64            `json:"checking_seconds"`
	Gave      map[string]float64 `json:"gave_seconds,omitempty"` // processor time, by peer
	// Verdicts are the peers that have checked it, too, and signed that it is right.
	Verdicts []string `json:"verdicts,omitempty"`
	// Kept are the deposits that the piece is cut into, if it stayed with who found it: what is said of it is what that
	// one has said, until it has verdicts. It is Dropped here.
	Kept []string `json:"kept,omitempty"`
	// Unchecked counts, of one that was divided, the parts of which that is so: until none is, it is not proved.
	Unchecked int `json:"unchecked,omitempty"`
}

// Checked says whether somebody besides its maker has looked at the piece.
func (p *Piece) Checked() bool {
	return p.Unchecked == 0 && (len(p.Kept) == 0 || len(p.Verdicts) > 0)
}

// A State is how far a campaign is. Parts that are not proved have nil.
type State struct {
	*Plan
	Pieces []*Piece  `json:"pieces"`
	At     time.Time `json:"at"`
	// Satisfiable says that a part has a model.
	Satisfiable bool `json:"satisfiable,omitempty"`
}

// Done counts the parts that are proved.
func (s *State) Done() int { return len(s.proved()) }

func (s *State) proved() []*Piece {
	return slices.DeleteFunc(slices.Clone(s.Pieces), func(p *Piece) bool { return p == nil || !p.Checked() })
}

// Unchecked counts the parts of which a proof was left with who found it, and nobody else has looked at it.
func (s *State) Unchecked() (n int) {
	for _, p := range s.Pieces {
		if p != nil && !p.Checked() {
			n++
		}
	}
	return n
}

// Sum adds up the pieces that are there.
func (s *State) Sum() (sum Piece) {
	sum.Gave = map[string]float64{}
	for _, p := range s.proved() {
		sum.Bytes += p.Bytes
		sum.Text += p.Text
		sum.Steps += p.Steps
		sum.Attempts += p.Attempts
		sum.Conflicts += p.Conflicts
		sum.Elapsed += p.Elapsed
		sum.Checking += p.Checking
		for peer, seconds := range p.Gave {
			sum.Gave[peer] += seconds
		}
	}
	return sum
}

// fewest is how many parts an estimate wants.
const fewest = 20

// An Estimate is what is left to do, in conflicts, with its standard error.
type Estimate struct {
	Conflicts     float64 `json:"conflicts"`
	StandardError float64 `json:"standard_error"`
	From          int     `json:"from_parts"`
}

// Left estimates it from the parts that were begun first, as far as all of them are done: in the order drawn
// beforehand they are a sample of all. Others that are done are not in it, for of those which were begun lately the
// short ones are done first. False if they are too few to say anything. It is the plain expansion of a sample without
// replacement (Cochran, "Sampling techniques", 1977, 2.5).
func (s *State) Left() (e Estimate, ok bool) {
	var sample []float64
	for _, part := range s.Order() {
		if p := s.Pieces[part]; p == nil || !p.Checked() {
			break
		}
		sample = append(sample, float64(s.Pieces[part].Conflicts))
	}
	n, all := float64(len(sample)), float64(len(s.Cubes))
	if len(sample) < fewest {
		return e, false
	}
	mean, square := 0.0, 0.0
	for _, x := range sample {
		mean += x / n
	}
	for _, x := range sample {
		square += (x - mean) * (x - mean) / (n - 1)
	}
	e.From = len(sample)
	e.StandardError = all * math.Sqrt(square/n*(1-n/all))
	e.Conflicts = max(0, mean*all-float64(s.Sum().Conflicts))
	return e, true
}

//go:embed page.html
var pageText string

// WritePage writes the state as a page that needs nothing else and runs no program.
func (s *State) WritePage(w io.Writer) error {
	type row struct {
		Number int
		Cube   string
		*Piece
	}
	var rows []row
	for i, c := range s.Cubes {
		rows = append(rows, row{i + 1, strings.Trim(fmt.Sprint(c), "[]"), s.Pieces[i]})
	}
	sum := s.Sum()
	left, known := s.Left()
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	return page.Execute(w, map[string]any{"S": s, "Done": s.Done(), "All": len(s.Cubes), "Sum": sum, "Rows": rows,
		"Left": left, "Known": known, "Fewest": fewest, "At": s.At.UTC().Format("2 January 2006, 15:04 UTC")})
}
