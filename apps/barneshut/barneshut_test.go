package barneshut

import (
	"fmt"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App) }

// TestVariants: objects and tree give the twin's motion to the last bit, however it is cut into jobs.
func TestVariants(t *testing.T) {
	for _, law := range []string{"", " --theta 0.3", " --theta 2 --soft 0.001", " --theta 0"} {
		var first any
		for _, threshold := range []int{1, 7, 60, 1000} {
			for _, variant := range []string{byObjects, byTree} {
				line := fmt.Sprintf("300 --steps 3 --leaf 4 --variant %s --threshold %d%s", variant, threshold, law)
				got := apptest.Solve(t, App, line)
				if first == nil {
					first = got
				}
				if !reflect.DeepEqual(got, first) {
					t.Errorf("%s: another motion", line)
				}
			}
		}
	}
	apptest.Solve(t, App, "200 --steps 3 --variant direct --threshold 30")
	apptest.Solve(t, App, "2 --steps 2")
}

// cluster draws bodies, some of which are in one place.
func cluster(t *rapid.T) (Tree, []Vec) {
	n := rapid.IntRange(2, 60).Draw(t, "bodies")
	at := make([]Vec, n)
	for i := range at {
		for k := range at[i] {
			part := rapid.SampledFrom([]float64{1, 3, 16}).Draw(t, "divided by")
			at[i][k] = float64(rapid.IntRange(-8, 8).Draw(t, "place")) / part
		}
	}
	tree, order := build(at, 0.5, rapid.IntRange(1, 5).Draw(t, "leaf"))
	for i, number := range order {
		if tree.At[i] != at[number] {
			t.Fatalf("body %d of the tree is number %d and elsewhere", i, number)
		}
	}
	slices.Sort(order)
	for i := range order {
		if order[i] != int32(i) {
			t.Fatalf("the bodies of the tree are %v", order)
		}
	}
	return tree, at
}

// TestTree: cells have the bodies of their children, in their cubes, and their mass and centre.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, _ := cluster(t)
		for i, c := range tree.Cells {
			bodies := tree.At[c.Bodies : c.Bodies+c.Count]
			low, high, sum := bodies[0], bodies[0], Vec{}
			for _, p := range bodies {
				for k := range p {
					low[k], high[k], sum[k] = min(low[k], p[k]), max(high[k], p[k]), sum[k]+p[k]
				}
			}
			for k := range sum {
				off := math.Abs(sum[k]/float64(c.Count) - c.Center[k])
				if high[k]-low[k] > c.Size*(1+1e-12) || off > 1e-12*c.Size+1e-12 {
					t.Fatalf("cell %d of size %v, centre %v: bodies from %v to %v", i, c.Size, c.Center, low, high)
				}
			}
			next := c.Bodies
			for _, child := range tree.Cells[c.Child : c.Child+c.Children] {
				if child.Bodies != next || child.Size != c.Size/2 {
					t.Fatalf("cell %d has a child from body %d on of size %v", i, child.Bodies, child.Size)
				}
				next += child.Count
			}
			if c.Children > 0 && next != c.Bodies+c.Count || math.Abs(c.Mass-float64(c.Count)/2) > 1e-12 {
				t.Fatalf("cell %d has %d bodies and mass %v, its children %d", i, c.Count, c.Mass, next-c.Bodies)
			}
		}
	})
}

// TestPrune: what is left of a tree gives the same forces on the bodies of a cell, to the last bit.
func TestPrune(t *testing.T) {
	smaller := 0
	rapid.Check(t, func(t *rapid.T) {
		tree, _ := cluster(t)
		law := Law{rapid.Float64Range(0, 2).Draw(t, "theta"), 0.1}
		target := int32(rapid.IntRange(0, len(tree.Cells)-1).Draw(t, "cell"))
		rest, cell := tree.prune(target, law.Theta)
		if got, want := rest.forces(cell, law), tree.forces(target, law); !reflect.DeepEqual(got, want) {
			t.Fatalf("forces %v, want %v", got, want)
		}
		if len(rest.At) < len(tree.At) {
			smaller++
		}
	})
	if smaller < 5 {
		t.Errorf("only %d trees were pruned", smaller)
	}
}

// TestExact: without an angle the forces are those of all bodies one by one, but for the order of sums; two bodies pull
// each other as Newton says.
func TestExact(t *testing.T) {
	s := plummer(500, 3, 8)
	for i, f := range s.Tree.forces(0, Law{0, 0.05}) {
		exact := s.Tree.direct(int32(i), int32(i+1), Law{0, 0.05})[0]
		for k := range f {
			if math.Abs(f[k]-exact[k]) > 1e-12*math.Abs(exact[3]) {
				t.Fatalf("body %d: %v, one by one %v", i, f, exact)
			}
		}
	}
	two, _ := build([]Vec{{0, 0, 0}, {0, 0, 2}}, 3, 1)
	got := two.forces(0, Law{1, 1e-9})
	if want := (Force{0, 0, 0.75, -1.5}); math.Abs(got[0][2]-want[2]) > 1e-12 || math.Abs(got[0][3]-want[3]) > 1e-12 ||
		got[0][0] != 0 || got[0][2] != -got[1][2] {
		t.Errorf("%v, want %v and the opposite", got, want)
	}
}

// TestOwnCell: a body never sees a cell that holds it from afar, as if it pulled itself.
func TestOwnCell(t *testing.T) {
	at := []Vec{{0, 0, 0}, {0.01, 0, 0}, {1, 1, 1}}
	for leaf := 1; leaf <= len(at); leaf++ {
		tree, _ := build(at, 1, leaf)
		for i, f := range tree.forces(0, Law{1.2, 0.01}) {
			exact := tree.direct(int32(i), int32(i+1), Law{1.2, 0.01})[0]
			if math.Abs(f[0]-exact[0]) > 0.01*math.Abs(exact[0]) {
				t.Errorf("leaves of %d: %v, exactly %v", leaf, f, exact)
			}
		}
	}
}

// TestCircle: two bodies that circle each other have changed places after half a round.
func TestCircle(t *testing.T) {
	// At a distance of 1, with a mass of 1/2 each, they go round in 2 Pi.
	const steps = 1000
	s := State{Speed: []Vec{{0, 0.5, 0}, {0, -0.5, 0}}, Leaf: 1}
	s.Tree, s.Order = build([]Vec{{0.5, 0, 0}, {-0.5, 0, 0}}, 0.5, 1)
	p := Problem{Steps: steps / 2, Time: 2 * math.Pi / steps, Law: Law{0.5, 1e-9}}
	r := p.run(s, advance, func(s *State) [][]Force { return [][]Force{s.Tree.forces(0, p.Law)} })
	if at := r.At[0]; math.Abs(at[0]+0.5) > 1e-3 || math.Abs(at[1]) > 1e-3 {
		t.Errorf("after half a round it is at %v", at)
	}
	if math.Abs(r.Energy[0]+0.125) > 1e-9 || math.Abs(r.Energy[1]-r.Energy[0]) > 1e-5 {
		t.Errorf("energy %v, want -1/8", r.Energy)
	}
}

// TestPlummer: mass, energy and size are those of the model, and a cluster in equilibrium keeps them.
func TestPlummer(t *testing.T) {
	p, err := apptest.Setup(App, "3000 --steps 20 --soft 0.01")
	if err != nil {
		t.Fatal(err)
	}
	r := p.Sequential().(Result)
	if math.Abs(r.Energy[0]+0.25) > 0.02 || math.Abs(r.Energy[1]/r.Energy[0]-1) > 0.01 {
		t.Errorf("energy %v, want -0.25 all the time", r.Energy)
	}
	if r.Momentum[0] > 1e-15*3000 || r.Momentum[1] > 1e-3 {
		t.Errorf("momentum %v", r.Momentum)
	}
	s := plummer(3000, 1, 10)
	within := 0
	for _, at := range s.Tree.At {
		if at[0]*at[0]+at[1]*at[1]+at[2]*at[2] < 0.77*0.77 { // half of the mass of Plummer's model
			within++
		}
	}
	if within < 1400 || within > 1600 {
		t.Errorf("%d of 3000 stars are in the inner half", within)
	}
	for x := 1e-9; x <= 1; x *= 1.3 {
		if got, want := cubeRoot(x), math.Cbrt(x); math.Abs(got-want) > 1e-14*want {
			t.Errorf("the cube root of %v is %v, not %v", x, got, want)
		}
	}
}

// TestErrorOfForces: smaller angles give better forces.
func TestErrorOfForces(t *testing.T) {
	last := math.Inf(1)
	for _, theta := range []float64{1, 0.6, 0.3, 0} {
		p := Problem{Variant: byObjects, Bodies: 1000, Seed: 1, Leaf: 10, Law: Law{theta, 0.05}}
		s := plummer(p.Bodies, p.Seed, p.Leaf)
		mean, worst := p.errorOfForces(Result{At: s.places()})
		if mean >= last || worst < mean || theta == 0 && worst > 1e-12 || mean > 0.03 {
			t.Errorf("theta %v: an error of %v, at most %v; before %v", theta, mean, worst, last)
		}
		last = mean
	}
}

func TestCheckNoticesWrongAnswers(t *testing.T) {
	p, err := apptest.Setup(App, "50 --steps 2")
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(r *Result){
		"49 places and 50 velocities of 50 stars": func(r *Result) { r.At = r.At[1:] },
		"star 3 is nowhere":                       func(r *Result) { r.At[3][1] = math.NaN() },
		"the centre of all stars is at":           func(r *Result) { r.At[3][1] += 9 },
		"the energy was":                          func(r *Result) { r.Energy[0] *= 1 + 1e-15 },
	} {
		r := p.Sequential().(Result)
		spoil(&r)
		if err := p.Check(r); err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestPicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stars.png")
	p, err := apptest.Setup(App, "100 --steps 1 --output "+path)
	if err != nil {
		t.Fatal(err)
	}
	r := p.Sequential().(Result)
	r.At = []Vec{{0, 0, 9}, {0, 0, 1}, {1.25, 1.25, 0}, {3, 0, 0}, {0, -3, 0}, {-3, 3, 0}}
	if err := p.Save(r); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	lit := map[[2]int]color.Color{}
	for y := range side {
		for x := range side {
			if c := picture.At(x, y); c != (color.Gray{0}) {
				lit[[2]int{x, y}] = c
			}
		}
	}
	middle, off := lit[[2]int{side / 2, side / 2}], lit[[2]int{3 * side / 4, side / 4}]
	if len(lit) != 2 || middle == nil || off == nil || middle.(color.Gray).Y <= off.(color.Gray).Y {
		t.Errorf("the picture shows %v", lit)
	}
}

func TestRefused(t *testing.T) {
	apptest.Refuse(t, App, map[string]string{
		"":                          `number of arguments: got "0", want exactly 1 (N)`,
		"1":                         `N: got "1", want a whole number from 2 to 100000`,
		"9 --variant web":           `--variant: got "web", want objects, tree or direct`,
		"40000 --variant direct":    `N: got "40000", want a whole number from 2 to 30000`,
		"9 --steps 0":               `--steps: got "0", want a whole number from 1 to 10000`,
		"9 --leaf 0":                `--leaf: got "0", want a whole number from 1 to 1000`,
		"9 --threshold 0":           `--threshold: got "0", want a whole number from 1 to 100000`,
		"9 --theta 3":               `--theta: got "3", want a number from 0 to 2`,
		"9 --time -1":               `--time: got "-1", want a number from 1e-09 to 1`,
		"9 --soft 0":                `--soft: got "0", want a number from 1e-09 to 1`,
		"9 --output /none/of/this":  `/none/of/this: got "no such file or directory", want a file that can be written`,
		"9 --theta NaN --steps 100": `--theta: got "NaN", want a number from 0 to 2`,
	})
}
