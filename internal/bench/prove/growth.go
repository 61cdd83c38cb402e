package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/internal/sim/paper"
)

const (
	leastFit = 4 // values that a line is fitted to
	// estimateAt is the t that has to be proved before later ones are estimated, and estimateTo the last of these.
	estimateAt, estimateTo = 14, 20
)

// A line is fitted by least squares to the logarithms of values at 0, 1, ...
type line struct {
	at, slope      float64
	mean, xx, rest float64 // of the places; sum of their squared distances; mean square of what is left
	n              int
}

func fitted(values []float64) (l line) {
	n := float64(len(values))
	l.n = len(values)
	y := 0.0
	for i, v := range values {
		l.mean += float64(i) / n
		y += math.Log(v) / n
	}
	var xy float64
	for i, v := range values {
		l.xx += (float64(i) - l.mean) * (float64(i) - l.mean)
		xy += (float64(i) - l.mean) * (math.Log(v) - y)
	}
	l.slope = xy / l.xx
	l.at = y - l.slope*l.mean
	for i, v := range values {
		miss := math.Log(v) - l.at - l.slope*float64(i)
		l.rest += miss * miss / (n - 2)
	}
	return l
}

// step is by what factor values grow, and its standard error.
func (l *line) step() (factor, err float64) {
	factor = math.Exp(l.slope)
	return factor, factor * math.Sqrt(l.rest/l.xx)
}

// next is what a value at x would be, and between which bounds 95 % of such values would lie, if all goes on like that
// and what is left is normal (Draper and Smith, Applied Regression Analysis, section 1.4).
func (l *line) next(x float64) (value, from, to float64) {
	y := l.at + l.slope*x
	off := paper.StudentT(l.n-2) * math.Sqrt(l.rest*(1+1/float64(l.n)+(x-l.mean)*(x-l.mean)/l.xx))
	return math.Exp(y), math.Exp(y - off), math.Exp(y + off)
}

// grown says how conflicts grow that are those of t = estimateFrom on, and what comes next if estimateAt is among them.
func grown(conflicts []float64) string {
	var b strings.Builder
	l := fitted(conflicts)
	factor, err := l.step()
	fmt.Fprintf(&b, "\nFrom t = %d on conflicts grow by %.2f a step, standard error %.2f (least squares of logarithms).\n",
		estimateFrom, factor, err)
	last := estimateFrom + len(conflicts) - 1
	if last < estimateAt {
		return b.String()
	}
	fmt.Fprint(&b, "\n| t | conflicts, if they go on like that | 95 % of such values |\n|---|---|---|\n")
	for t := last + 1; t <= estimateTo; t++ {
		value, from, to := l.next(float64(t - estimateFrom))
		fmt.Fprintf(&b, "| %d | %.1e | %.1e to %.1e |\n", t, value, from, to)
	}
	return b.String()
}

// given reads the conflicts of t = estimateFrom on.
func given(words []string) (conflicts []float64, err error) {
	for _, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || !(v >= 1) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("%q is no number of conflicts", w)
		}
		conflicts = append(conflicts, v)
	}
	if len(conflicts) < leastFit {
		return nil, errors.New("growth wants the conflicts of t = 8, 9, 10, 11 and so on")
	}
	return conflicts, nil
}
