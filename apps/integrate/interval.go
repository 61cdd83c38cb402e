package integrate

import "math"

// Interval asks for the integral of one of the integrands between two points. It carries the values that its
// parent has computed, so that each is computed once.
type Interval struct {
	Integrand    int // index in integrands
	From, To     float64
	Left, Middle float64 // values of the integrand at From and halfway
	Right        float64 // and at To
	Simpson      float64 // the estimate by Simpson's rule that follows from them
	Tolerance    float64 // what the estimates may be wrong by, all in all
	Depth        int     // how often the whole range was halved
	Leaf         int     // from this depth on, a job does the rest itself; 0: never
}

// Integral is what is known about the integral of an interval.
type Integral struct {
	Value     float64
	Error     float64 // bound on the difference from the true value, as far as the estimates tell
	Intervals uint64  // how many the interval was cut into
	Depth     int     // of the narrowest
}

// deepest ends the bisection where floating-point numbers do. An interval that is still not accurate then
// keeps its error, and the result shows that it is too large.
const deepest = 60

// whole is the whole range of an integrand.
func whole(index int, epsilon float64, leaf int) Interval {
	g := integrands[index]
	in := Interval{
		Integrand: index, From: g.from, To: g.to,
		Left: g.f(g.from), Middle: g.f((g.from + g.to) / 2), Right: g.f(g.to),
		Tolerance: epsilon, Leaf: leaf,
	}
	in.Simpson = simpson(in.From, in.To, in.Left, in.Middle, in.Right)
	return in
}

// simpson is Simpson's rule: an integral from the values at both ends and in the middle. The conversion
// forbids fusing the product with a sum, which processors that can would do in one place and not in another.
func simpson(from, to, left, middle, right float64) float64 {
	return (to - from) / 6 * (left + float64(4*middle) + right)
}

// accepts says whether the estimate for an interval can be replaced by those for its halves, which differ from it by
// difference.
//
// Where the integrand is smooth, the difference is 15 times the error that is left (Lyness, "Notes on the
// adaptive Simpson quadrature routine", JACM 16, 1969). Dividing it by 15, as is usual, would save half of
// the intervals. It is not done since it would be wrong where the integrand is not smooth: next to the
// vertical tangent of sqrt, the error that is left is half the difference. As it is, the tolerance is kept
// everywhere. Each half inherits half of it.
func accepts(difference, tolerance float64, depth, coarsest int) bool {
	return depth >= coarsest && difference <= tolerance || depth == deepest
}

// halve cuts the interval in two, unless the estimates of the halves together are accurate enough for the
// whole: then it returns that, and true.
func (in *Interval) halve() (left, right Interval, both Integral, accepted bool) {
	f, coarsest := integrands[in.Integrand].f, integrands[in.Integrand].coarsest
	middle := (in.From + in.To) / 2
	left, right = *in, *in
	left.To, left.Middle, left.Right = middle, f((in.From+middle)/2), in.Middle
	right.From, right.Left, right.Middle = middle, in.Middle, f((middle+in.To)/2)
	for _, half := range []*Interval{&left, &right} {
		half.Simpson = simpson(half.From, half.To, half.Left, half.Middle, half.Right)
		half.Tolerance /= 2
		half.Depth++
	}
	both = Integral{Value: left.Simpson + right.Simpson, Intervals: 1, Depth: in.Depth}
	both.Error = math.Abs(both.Value - in.Simpson)
	return left, right, both, accepts(both.Error, in.Tolerance, in.Depth, coarsest)
}

// plus is the integral of two neighbours. Sums are formed along the tree of intervals, left plus right,
// whoever computed them: so the result is the same to the last bit with any number of workers.
func (left Integral) plus(right Integral) Integral {
	return Integral{
		Value:     left.Value + right.Value,
		Error:     left.Error + right.Error,
		Intervals: left.Intervals + right.Intervals,
		Depth:     max(left.Depth, right.Depth),
	}
}
