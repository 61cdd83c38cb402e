package integrate

import (
	"fmt"
	"math"
	"testing"

	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

// TestSameBits solves everything at several error bounds and thresholds. Solve compares results with the
// twin's bit by bit, and the check compares with the exact integral.
func TestSameBits(t *testing.T) {
	lines := []string{
		"wave --epsilon 1", "chirp --epsilon 0.1 --threshold 3",
		"peaks", "peaks --epsilon 1e-8", "peaks --epsilon 1e-8 --threshold 0", "peaks --epsilon 1 --threshold 60",
		"sqrt", "sqrt --epsilon 1e-12", "sqrt --epsilon 1e-12 --threshold 0", "sqrt --epsilon 1",
	}
	if !testing.Short() {
		lines = append(lines, "wave --epsilon 0.1 --threshold 0", "chirp --epsilon 1e-3",
			"chirp --epsilon 0.01 --threshold 0")
	}
	for _, line := range lines {
		apptest.Solve(t, App, line)
	}
}

// TestErrorBoundIsKept draws error bounds: the true error must be below what the result says, and that below
// the bound.
func TestErrorBoundIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(1, len(integrands)-1).Draw(t, "integrand") // the first takes too long for many
		g := integrands[i]
		epsilon := math.Pow(10, rapid.Float64Range(math.Log10(g.finest), 0).Draw(t, "log epsilon"))
		r := sequential(whole(i, epsilon, 0))
		if err := g.check(r, epsilon); err != nil {
			t.Error(err)
		}
		// rounding of the exact value and of some thousand sums
		if off := math.Abs(r.Value - g.exact()); off > r.Error+1e-13 {
			t.Errorf("off by %g, more than the error %g that is claimed", off, r.Error)
		}
	})
}

// TestPrimitives compares the difference quotient of each antiderivative with its function.
func TestPrimitives(t *testing.T) {
	for _, g := range integrands {
		for i := range 1000 {
			x := g.from + (g.to-g.from)*(float64(i)+0.5)/1000
			h := 1e-7 * (1 + x/100)
			got, want := (g.primitive(x+h)-g.primitive(x-h))/(2*h), g.f(x)
			if math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
				t.Errorf("%s: at %g the primitive rises by %g, the function is %g", g.name, x, got, want)
			}
		}
	}
}

// TestEndsWithoutAccuracy asks for what floating-point numbers cannot do: the bisection must end and say so.
func TestEndsWithoutAccuracy(t *testing.T) {
	const step = 1e-30 // where floating-point numbers are still dense
	g := integrand{from: 0, to: 1, f: func(x float64) float64 {
		if x < step {
			return 0
		}
		return 1
	}, primitive: func(x float64) float64 { return max(0, x-step) }}
	r := g.integrate(0, 1, 0, 1, 1, 5./6, 1e-30, 0)
	if r.Depth != deepest || r.Error == 0 || math.Abs(r.Value-1) > 1e-15 {
		t.Errorf("%+v", r)
	}
	if err := g.check(r, 1e-30); err == nil {
		t.Error("an error bound that was not kept passed the check")
	}
}

// A value that is further off than was asked for, or not known as well, is told from a right one, also if it is not a
// number.
func TestCheckNoticesAWrongAnswer(t *testing.T) {
	p, err := apptest.Setup(App, "sqrt")
	if err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]Integral{
		"0.67 is off by 0.00333333, more than 1e-06":         {Value: 0.67},
		"NaN is off by NaN, more than 1e-06":                 {Value: math.NaN()},
		"the error is only known to be below 0.1, not 1e-06": {Value: 2. / 3, Error: 0.1},
		"the error is only known to be below NaN, not 1e-06": {Value: 2. / 3, Error: math.NaN()},
		"0.666668 is off by 1.33333e-06, more than 1e-06":    {Value: 0.666668},
	} {
		if err := p.Check(r); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// A command line that makes no sense, or wants more exactness than a function allows, is refused with what is allowed.
func TestBadInput(t *testing.T) {
	refused := map[string]string{
		"":                      `arguments: got "nothing", want exactly 1 (FUNCTION)`,
		"wave wave":             `arguments: got "wave wave", want exactly 1 (FUNCTION)`,
		"sine":                  `FUNCTION: got "sine", want one of wave, chirp, peaks, sqrt`,
		"sqrt --threshold -1":   `--threshold: got "-1", want a whole number from 0 to 60`,
		"sqrt --threshold 61":   `--threshold: got "61", want a whole number from 0 to 60`,
		"sqrt --epsilon 0":      `--epsilon: got "0", want a number from 1e-12 to 1`,
		"sqrt --epsilon -1":     `--epsilon: got "-1", want a number from 1e-12 to 1`,
		"sqrt --epsilon 1e-13":  `--epsilon: got "1e-13", want a number from 1e-12 to 1`,
		"chirp --epsilon 1e-8":  `--epsilon: got "1e-08", want a number from 1e-07 to 1`,
		"chirp --epsilon 1.001": `--epsilon: got "1.001", want a number from 1e-07 to 1`,
		"chirp --epsilon NaN":   `--epsilon: got "NaN", want a number from 1e-07 to 1`,
	}
	apptest.Refuse(t, App, refused)
}

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App) }

func ExampleApp() {
	p, err := apptest.Setup(App, "sqrt --epsilon 1e-9")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Answer(p.Sequential()).Text)
	// Output: sqrt: 0.666666666640771, wrong by at most 3.9e-10; 271 intervals, halved 49 times at most
}
