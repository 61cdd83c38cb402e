package barneshut

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"

	"github.com/satin-peer/satin/apps"
)

// Bounds of the input, and what it is if nothing is said: the parameters of the program that Satin's authors began
// with (Blackston and Suel 1997, after SPLASH), whose step and angle depend on the number of bodies.
const (
	maxBodies = 100_000
	maxDirect = 30_000
	maxSteps  = 10_000

	standardBodies = 16_384
	standardTime   = 0.025
	standardTheta  = 1.0
	defaultSoft    = 0.05
	defaultSteps   = 7
	defaultLeaf    = 10
	defaultSeed    = 1

	// defaultThreshold is some 0.3 ms of work.
	defaultThreshold = 100
)

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the simulation of a cluster of stars.
var App = apps.App{
	Version: sources,
	Name:    "barneshut",
	Summary: "motion of stars under each other's gravity, by the algorithm of Barnes and Hut",
	Args:    "N",
	Long: `Simulates how N stars of one mass move under each other's gravity, from a cluster in equilibrium (Plummer's model) that
--seed draws, for --steps steps. A step computes the forces on all stars and moves them, in parallel.

The method is Barnes and Hut's (1986): stars are sorted into trees of boxes, and a box that is seen under a small
angle pulls like one star. --theta is that angle, size by distance; the smaller it is, the more exact and the slower. Units
are such that mass and constant of gravity are 1 and the energy is about -1/4. Without --time and --theta the step is 0.025
and the angle 1 for 16384 stars, both smaller for more of them, as in SPLASH.

--variant says what the jobs share: objects, the places of the stars as shared objects, one for each of 28 groups, of which
a step writes new versions; tree, nothing: a job carries the part of the trees that it needs; direct: objects, and all
stars one by one. objects and tree give the same motion to the last bit, on every kind of processor.

The answer has the energy and momentum at the first and last step, which should not change, and how far the forces at
the end are from exact ones. --output draws the stars.`,
	Examples: []string{"16384", "5000 --steps 100 --output stars.png", "2000 --variant direct --steps 3"},
	Setup:    setup,
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	var p Problem
	fs.StringVar(&p.Variant, "variant", byObjects, "what jobs share: objects, tree or direct")
	fs.IntVar(&p.Steps, "steps", defaultSteps, "`number` of steps")
	fs.Uint64Var(&p.Seed, "seed", defaultSeed, "`number` that makes a cluster different from others")
	fs.Float64Var(&p.Time, "time", 0, "`length` of a step; 0: SPLASH's for so many stars")
	theta := fs.Float64("theta", -1, "`angle` under which a box of stars is looked into; -1: SPLASH's for so many stars")
	fs.Float64Var(&p.Law.Soft, "soft", defaultSoft, "`distance` from which on stars pull less than they would")
	fs.IntVar(&p.Leaf, "leaf", defaultLeaf, "most `stars` of a box that is not divided")
	fs.IntVar(&p.Threshold, "threshold", defaultThreshold, "most `stars` whose forces are one job")
	output := fs.String("output", "", "draw the stars at the end in `FILE`, as PNG")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.ArgCount(args, 1, "N"); err != nil {
			return nil, err
		}
		var err error
		if p.Bodies, err = apps.Int("N", args[0], 2, maxBodies); err != nil {
			return nil, err
		}
		p.Law.Theta = *theta
		if err := p.complete(); err != nil {
			return nil, err
		}
		if *output != "" {
			if err := apps.CheckOutput(*output); err != nil {
				return nil, err
			}
		}
		return problem(p, *output), nil
	}
}

// complete checks a problem and computes what was not said.
func (p *Problem) complete() error {
	scale := math.Sqrt(math.Sqrt(standardBodies / float64(p.Bodies)))
	if p.Time == 0 {
		p.Time = standardTime * scale
	}
	if p.Law.Theta == -1 {
		p.Law.Theta = min(standardTheta*scale, standardTheta)
	}
	switch p.Variant {
	case byObjects, byTree:
	case byDirect:
		if err := apps.IntRange("N", p.Bodies, 2, maxDirect); err != nil {
			return err
		}
	default:
		return &apps.InputError{What: "--variant", Got: p.Variant, Want: "objects, tree or direct"}
	}
	for _, n := range []struct {
		flag   string
		n      int
		lo, hi int
	}{{"--steps", p.Steps, 1, maxSteps}, {"--leaf", p.Leaf, 1, 1000}, {"--threshold", p.Threshold, 1, maxBodies}} {
		if err := apps.IntRange(n.flag, n.n, n.lo, n.hi); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		flag   string
		x      float64
		lo, hi float64
	}{{"--time", p.Time, 1e-9, 1}, {"--theta", p.Law.Theta, 0, 2}, {"--soft", p.Law.Soft, 1e-9, 1}} {
		if err := apps.FloatRange(x.flag, x.x, x.lo, x.hi); err != nil {
			return err
		}
	}
	return nil
}

func problem(p Problem, output string) *apps.Problem {
	q := &apps.Problem{
		Title:      fmt.Sprintf("%d stars, %d steps", p.Bodies, p.Steps),
		Root:       "barneshut.simulate",
		Arg:        p,
		Sequential: func() any { return p.run(&alone{Problem: &p}) },
		Check:      func(result any) error { return p.check(result.(Result)) },
		Answer:     func(result any) apps.Answer { return p.answer(result.(Result), output) },
	}
	if output != "" {
		q.Save = func(result any) error {
			picture := draw(result.(Result).bodies(p.Bodies))
			return apps.WriteFile(output, func(w io.Writer) error { return png.Encode(w, picture) })
		}
	}
	return q
}

// check sees that all stars are somewhere, that they began where they should, and that their centre has not moved
// more than the momentum makes it.
func (p *Problem) check(r Result) error {
	var center Vec
	for i, b := range r.bodies(p.Bodies) {
		for k := range center {
			if math.IsNaN(b.At[k]+b.Speed[k]) || math.IsInf(b.At[k]+b.Speed[k], 0) {
				return fmt.Errorf("star %d is nowhere", i)
			}
			center[k] += b.At[k] / float64(p.Bodies)
		}
	}
	// Forces that are not exact push the whole; no more than the mean of them, which is below 1.
	time := p.Time * float64(p.Steps)
	for _, x := range center {
		if math.Abs(x) > 1e-9+time*time {
			return fmt.Errorf("the centre of all stars is at %v", center)
		}
	}
	first := alone{Problem: p}
	drift := p.drift(first.begin())
	if e, m := p.totals(first.step(&drift, false)); e != r.Energy[0] || m != r.Momentum[0] {
		return fmt.Errorf("the energy was %v at first, not %v", e, r.Energy[0])
	}
	return nil
}

func (p *Problem) answer(r Result, output string) apps.Answer {
	hash := sha256.New()
	for _, b := range r.bodies(p.Bodies) {
		for _, x := range b.At {
			hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	sum := fmt.Sprintf("%x", hash.Sum(nil))
	drift := (r.Energy[1] - r.Energy[0]) / math.Abs(r.Energy[0])
	mean, worst := p.errorOfForces(r)
	a := apps.Answer{
		Text: fmt.Sprintf("%d stars after %d steps of %.4g, in places with SHA-256 %.16s\n"+
			"energy %.6f at first, %.6f at last (%+.4f %%); momentum %.2g, %.2g\n"+
			"forces differ from exact ones by %.3f %% on average, %.2f %% at most (of %d stars)",
			p.Bodies, p.Steps, p.Time, sum, r.Energy[0], r.Energy[1], 100*drift, r.Momentum[0], r.Momentum[1],
			100*mean, 100*worst, min(p.Bodies, compared)),
		Fields: map[string]any{"bodies": p.Bodies, "steps": p.Steps, "sha256": sum, "energy": r.Energy,
			"energy_drift": drift, "momentum": r.Momentum, "force_error_mean": mean, "force_error_worst": worst},
	}
	if output != "" {
		a.Text += "\nthe stars are drawn in " + output
		a.Fields["file"] = output
	}
	return a
}

// compared is of how many stars the forces are compared with exact ones.
const compared = 100

// errorOfForces compares forces at the end with exact ones, relative to these.
func (p *Problem) errorOfForces(r Result) (mean, worst float64) {
	if p.Variant == byDirect {
		return 0, 0
	}
	m := divide(r.bodies(p.Bodies), p.Leaf)
	t := []Chunk{m.chunk(p.mass(), p.Leaf)}
	n := min(p.Bodies, compared)
	for i := range n {
		at := int32(i * p.Bodies / n)
		got := pull(t, 0, at, p.Law)
		exact := pull(t, 0, at, Law{Soft: p.Law.Soft, Direct: true})
		var off, size float64
		for k := range 3 {
			off += (got[k] - exact[k]) * (got[k] - exact[k])
			size += exact[k] * exact[k]
		}
		if e := math.Sqrt(off / size); size > 0 {
			mean += e / float64(n)
			worst = max(worst, e)
		}
	}
	return mean, worst
}
