package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A figure is one line of a table: a value for each round, and what it should be.
type figure struct {
	name   string
	values []float64
	form   string  // how fmt prints a value, "%.1f ns"
	atMost float64 // the target; 0: none
	least  float64 // the target, if it is a lower bound; 0: none
	fewest int     // without so many values it is not judged
	remark string  // why there are no values
}

// A table is a section's figures, with what the reader must know to trust them.
type table struct {
	title   string
	notes   []string
	figures []figure
}

// spread gives the median and the quartiles.
func spread(values []float64) (low, median, high float64) {
	s := slices.Sorted(slices.Values(values))
	at := func(q float64) float64 {
		pos := q * float64(len(s)-1)
		i := int(pos)
		if i+1 >= len(s) {
			return s[len(s)-1]
		}
		return s[i] + (pos-float64(i))*(s[i+1]-s[i])
	}
	return at(0.25), at(0.5), at(0.75)
}

// ratios divides what was measured in each round by something else of the same round.
func ratios(of, by []float64) []float64 {
	list := make([]float64, len(of))
	for i := range list {
		list[i] = of[i] / by[i]
	}
	return list
}

// moreThan is by how many percent it is more.
func moreThan(of, than []float64) []float64 {
	list := ratios(of, than)
	for i := range list {
		list[i] = 100 * (list[i] - 1)
	}
	return list
}

// target says what the value should be, in the figure's own form.
func (f figure) target() string {
	switch {
	case f.atMost != 0:
		return "<= " + fmt.Sprintf(f.form, f.atMost)
	case f.least != 0:
		return ">= " + fmt.Sprintf(f.form, f.least)
	}
	return ""
}

// verdict compares the median with the target. With quartiles on both sides of the target, the rounds do not agree.
func (f figure) verdict() string {
	if len(f.values) == 0 || f.atMost == 0 && f.least == 0 {
		return ""
	}
	if len(f.values) < f.fewest {
		return "too few values"
	}
	low, median, high := spread(f.values)
	met, limit := f.atMost != 0 && median <= f.atMost, f.atMost
	if f.least != 0 {
		met, limit = median >= f.least, f.least
	}
	verdict := "missed"
	if met {
		verdict = "met"
	}
	if low <= limit && limit < high {
		verdict += ", narrowly"
	}
	return verdict
}

// cells are the figure's columns.
func (f figure) cells() []string {
	if len(f.values) == 0 {
		return []string{f.name, f.remark, "", f.target(), ""}
	}
	low, median, high := spread(f.values)
	value := func(v float64) string {
		if math.IsNaN(v) {
			return "?"
		}
		return fmt.Sprintf(f.form, v)
	}
	return []string{f.name, value(median), value(low) + " to " + value(high), f.target(), f.verdict()}
}

// String is the table in Markdown, its columns aligned for the eye.
func (t table) String() string {
	rows := [][]string{{"figure", "median", "quartiles", "target", ""}}
	for _, f := range t.figures {
		rows = append(rows, f.cells())
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	rule := make([]string, len(width))
	for i, w := range width {
		rule[i] = strings.Repeat("-", max(w, 3))
	}
	rows = slices.Insert(rows, 1, rule)
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", t.title)
	for _, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %-*s ", width[i], cell)
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	for _, note := range t.notes {
		fmt.Fprintf(&b, "- %s\n", note)
	}
	return b.String()
}
