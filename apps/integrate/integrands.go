package integrate

import "math"

// An integrand is a function to integrate and what is known about it.
type integrand struct {
	name      string
	formula   string
	from, to  float64
	f         func(x float64) float64
	primitive func(x float64) float64 // an antiderivative of f, for the exact value

	// coarsest is how often the range is halved at least: wider intervals than that can look smooth by
	// chance, as a wave does when all points where it is sampled are the same phase apart.
	coarsest int

	// finest is the smallest error that can be asked for. Below it, rounding in f could be taken for curvature, and
	// the bisection would not end.
	finest float64
}

// integrands are chosen to need very different widths in different places. Jobs name them by index: new ones
// go to the end.
var integrands = [...]integrand{
	{
		name: "wave", formula: "x/10 sin x", from: 0, to: 20_000,
		f:         func(x float64) float64 { return x / 10 * math.Sin(x) },
		primitive: func(x float64) float64 { return (math.Sin(x) - x*math.Cos(x)) / 10 },
		coarsest:  16, finest: 1e-6,
	},
	{
		name: "chirp", formula: "2 x cos x^2", from: 0, to: 100,
		f:         func(x float64) float64 { return 2 * x * math.Cos(x*x) },
		primitive: func(x float64) float64 { return math.Sin(x * x) },
		coarsest:  14, finest: 1e-7,
	},
	{
		name: "peaks", formula: "sum of w / ((x-c)^2 + w^2) for w = 10^-2, 10^-4, 10^-6", from: 0, to: 1,
		f: func(x float64) (sum float64) {
			for _, p := range peaks {
				d := x - p.center
				sum += p.width / (d*d + p.width*p.width)
			}
			return sum
		},
		primitive: func(x float64) (sum float64) {
			for _, p := range peaks {
				sum += math.Atan((x - p.center) / p.width)
			}
			return sum
		},
		coarsest: 10, finest: 1e-8,
	},
	{
		name: "sqrt", formula: "sqrt x", from: 0, to: 1,
		f:         math.Sqrt,
		primitive: func(x float64) float64 { return 2. / 3 * x * math.Sqrt(x) },
		coarsest:  4, finest: 1e-12,
	},
}

// peaks are the poles of the integrand of that name: centers on the axis, widths above it.
var peaks = [...]struct{ center, width float64 }{{0.1, 1e-2}, {0.4, 1e-4}, {0.71, 1e-6}}

// exact is the value of the integral.
func (g *integrand) exact() float64 { return g.primitive(g.to) - g.primitive(g.from) }
