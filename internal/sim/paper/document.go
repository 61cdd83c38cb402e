package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// Document is a page of results in Markdown.
type Document struct{ b strings.Builder }

func (d *Document) String() string { return d.b.String() }

// para writes a paragraph.
func (d *Document) para(format string, args ...any) {
	fmt.Fprintf(&d.b, format, args...)
	d.b.WriteString("\n\n")
}

// Made says which command has made the page, and when: a later program may come to something else.
func (d *Document) Made(format string, args ...any) {
	d.para("Made by `%s`, %s.", fmt.Sprintf(format, args...), time.Now().Format("2 January 2006"))
}

// table writes a table; the first row is the heading.
func (d *Document) table(rows [][]string) {
	for i, row := range rows {
		d.b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			d.b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	d.b.WriteString("\n")
}

// sample is a figure for each seed.
type sample []float64

func collect(reports []*sim.Report, figure func(*sim.Report) float64) sample {
	s := make(sample, 0, len(reports))
	for _, r := range reports {
		if r != nil { // it was not given up
			s = append(s, figure(r))
		}
	}
	return s
}

func (s sample) mean() float64 {
	sum := 0.0
	for _, x := range s {
		sum += x
	}
	return sum / float64(len(s))
}

// deviation is the standard deviation of what they are drawn from; two are needed.
func (s sample) deviation() float64 {
	mean, sum := s.mean(), 0.0
	for _, x := range s {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt(sum / float64(len(s)-1))
}

// median is the middle one, or the mean of the two in the middle.
func (s sample) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}

// middle is the median and the spread, to so many places.
func (s sample) middle(places int) string {
	if len(s) == 1 {
		return fmt.Sprintf("%.*f", places, s[0])
	}
	return fmt.Sprintf("%.*f ±%.*f", places, s.median(), places, s.spread())
}

// spread is half the distance between the largest and the smallest.
func (s sample) spread() float64 {
	return (slices.Max(s) - slices.Min(s)) / 2
}

// judged says whether the middle of the seeds, their mean or median, reaches a target that is the least, or else the
// most. There is no verdict where the target is within their spread.
func (s sample) judged(middle, target float64, least bool) string {
	if math.Abs(middle-target) <= s.spread() {
		return "within the spread"
	}
	return verdict(middle > target == least)
}

func (s sample) String() string {
	switch len(s) {
	case 0:
		return "no result"
	case 1:
		return fmt.Sprintf("%.1f", s[0])
	}
	return fmt.Sprintf("%.1f ±%.1f", s.mean(), s.spread())
}

// published is a figure from a paper; zero: it survives only as a picture.
func published(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", x)
}

// efficiency is the paper's equation 1 in percent.
func efficiency(a *App) figure {
	return func(r *sim.Report) float64 { return 100 * r.Efficiency(a.Sequential) }
}

func speedup(a *App) figure {
	return func(r *sim.Report) float64 { return r.Speedup(a.Sequential) }
}

func elapsed(r *sim.Report) float64 { return r.Elapsed.Seconds() }
