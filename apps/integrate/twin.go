package integrate

import "math"

// sequential integrates with no satin in it: the program that the jobs are compared with, and their leaf.
func sequential(in Interval) Integral {
	g := integrands[in.Integrand]
	return g.integrate(in.From, in.To, in.Left, in.Middle, in.Right, in.Simpson, in.Tolerance, in.Depth)
}

// integrate is [integrate] with its argument in registers: the same points, sums and decisions, so the same bits.
func (g *integrand) integrate(from, to, left, middle, right, whole, tolerance float64, depth int) Integral {
	half := (from + to) / 2
	first, second := g.f((from+half)/2), g.f((half+to)/2)
	a := simpson(from, half, left, first, middle)
	b := simpson(half, to, middle, second, right)
	difference := math.Abs(a + b - whole)
	if accepts(difference, tolerance, depth, g.coarsest) {
		return Integral{a + b, difference, 1, depth}
	}
	return g.integrate(from, half, left, first, middle, a, tolerance/2, depth+1).
		plus(g.integrate(half, to, middle, second, right, b, tolerance/2, depth+1))
}
