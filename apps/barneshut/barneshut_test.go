package barneshut

import (
	"fmt"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
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
				line := fmt.Sprintf("120 --steps 3 --leaf 4 --variant %s --threshold %d%s", variant, threshold, law)
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
	for _, variant := range []string{byObjects, byTree} { // long enough for other chunks
		apptest.Solve(t, App, "100 --steps 17 --variant "+variant)
	}
}

// cluster draws trees of bodies, some of which are in one place.
func cluster(t *rapid.T) []Chunk {
	n, leaf := rapid.IntRange(2, 60).Draw(t, "bodies"), rapid.IntRange(1, 5).Draw(t, "leaf")
	bodies := make([]Body, n)
	for i := range bodies {
		for k := range bodies[i].At {
			part := rapid.SampledFrom([]float64{1, 3, 16}).Draw(t, "divided by")
			bodies[i].At[k] = float64(rapid.IntRange(-8, 8).Draw(t, "place")) / part
		}
		bodies[i].Number = int32(i)
		bodies[i].Speed[0] = bodies[i].At[0]
	}
	cut := rapid.IntRange(0, n).Draw(t, "cut")
	var trees []Chunk
	seen := make([]bool, n)
	for _, part := range [][]Body{bodies[:cut], bodies[cut:]} {
		m := divide(part, leaf)
		c := m.chunk(0.5, leaf)
		for i, number := range m.number {
			if seen[number] || m.speed[i][0] != m.at[i][0] || m.at[i].place() != c.tree.At[i] {
				t.Fatalf("body %d is in two places", number)
			}
			seen[number] = true
		}
		trees = append(trees, c)
	}
	return trees
}

// TestTree: cells have the bodies of those in them, in their boxes, and their mass and centre.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, chunk := range cluster(t) {
			tree := chunk.tree
			if len(tree.Cells) != cap(tree.Cells) {
				t.Fatalf("there is room for %d cells, and there are %d", cap(tree.Cells), len(tree.Cells))
			}
			for i, c := range tree.Cells {
				bodies := tree.At[c.Bodies : c.Bodies+c.Count]
				sum, spread := Vec{}, 0.0
				for _, p := range bodies {
					for k, x := range p.exact() {
						sum[k] += x / float64(c.Count)
					}
				}
				for _, p := range bodies {
					for k, x := range p.exact() {
						spread += ofBall * (x - sum[k]) * (x - sum[k]) / float64(c.Count)
					}
				}
				if off := math.Hypot(math.Hypot(sum[0]-float64(c.Center[0]), sum[1]-float64(c.Center[1])),
					sum[2]-float64(c.Center[2])); off > 1e-6 {
					t.Fatalf("the centre of cell %d is at %v: not that of %v", i, c.Center, bodies)
				}
				if math.Abs(spread-float64(c.Spread)) > 1e-6*spread+1e-12 || c.Spread < 0 {
					t.Fatalf("cell %d of spread %v, centre %v, not %v: bodies %v", i, c.Spread, c.Center, spread, bodies)
				}
				next := c.Bodies
				for k := int32(i) + 1; k < c.Next; k = tree.Cells[k].Next {
					if tree.Cells[k].Bodies != next {
						t.Fatalf("cell %d has a child from body %d on", i, tree.Cells[k].Bodies)
					}
					next += tree.Cells[k].Count
				}
				if tree.divided(int32(i)) && next != c.Bodies+c.Count || c.Mass != float32(c.Count)/2 {
					t.Fatalf("cell %d has %d bodies and mass %v, its children %d", i, c.Count, c.Mass, next-c.Bodies)
				}
			}
		}
	})
}

// forcesIn are the forces on the bodies of a cell.
func forcesIn(trees []Chunk, own int, cell int32, law Law) []Force {
	c := trees[own].tree.Cells[cell]
	return forces(trees, own, c.Bodies, c.Count, law)
}

// TestPrune: what is left of trees gives the same forces on the bodies of a cell, to the last bit.
func TestPrune(t *testing.T) {
	smaller := 0
	rapid.Check(t, func(t *rapid.T) {
		trees := cluster(t)
		own := rapid.IntRange(0, 1).Draw(t, "own")
		if len(trees[own].tree.At) == 0 {
			own = 1 - own
		}
		law := Law{Theta: rapid.Float64Range(0, 2).Draw(t, "theta"), Soft: 0.1}
		target := int32(rapid.IntRange(0, len(trees[own].tree.Cells)-1).Draw(t, "cell"))
		rest, cell := prune(trees, own, target, law.Theta)
		want := forcesIn(trees, own, target, law)
		if got := forcesIn([]Chunk{{&rest}}, 0, cell, law); !reflect.DeepEqual(got, want) {
			t.Fatalf("forces %v, want %v", got, want)
		}
		if rest.divided(cell) { // and again, as jobs do it
			again, half := prune([]Chunk{{&rest}}, 0, cell+1, law.Theta)
			if got := forcesIn([]Chunk{{&again}}, 0, half, law); !reflect.DeepEqual(got, want[:len(got)]) {
				t.Fatalf("forces %v of a half, want %v", got, want[:len(got)])
			}
		}
		if len(rest.At) < len(trees[0].tree.At)+len(trees[1].tree.At) {
			smaller++
		}
	})
	if smaller < 5 {
		t.Errorf("only %d trees were pruned", smaller)
	}
}

// TestExpected: the order that is found before a step makes the tree that the bodies would have made after it, if no
// forces act, however far they go.
func TestExpected(t *testing.T) {
	p := Problem{Bodies: 20_000, Seed: 1, Leaf: 3}
	p.Time = 2
	s := p.stepOf(5, p.begin(5).Motion, nil, false)
	next := s.move(s.Motion.expected(s.Time, s.Leaf), make([]Force, s.Motion.stars()))
	ordered := divide(next.Motion.appendTo(nil), p.Leaf)
	want := ordered.chunk(p.mass(), p.Leaf)
	for i, cell := range next.Chunk.tree.Cells {
		if cell.Spread != want.tree.Cells[i].Spread {
			t.Fatalf("cell %d has spread %v; as the bodies are it would be %v", i, cell.Spread, want.tree.Cells[i].Spread)
		}
	}
}

// TestKicks: each star is moved by its own force, in whatever order the stars of a chunk are afterwards.
func TestKicks(t *testing.T) {
	p := Problem{Bodies: 10_000, Seed: 1, Leaf: 4, Time: 2}
	s := p.stepOf(5, p.begin(5).Motion, nil, false)
	m := s.Motion
	pulls, order := make([]Force, len(m.speed)), make([]int32, len(m.speed))
	for i := range pulls {
		pulls[i], order[len(order)-1-i] = Force{0, float64(i), 0}, int32(i)
	}
	moved := s.move(order, pulls).Motion
	for to, i := range order {
		if want := m.speed[i][1] + 2*pulls[i][1]; moved.number[to] != m.number[i] || moved.speed[to][1] != want {
			t.Fatalf("star %d is as fast as %v; want star %d, as fast as %v", moved.number[to], moved.speed[to],
				m.number[i], want)
		}
	}
}

// TestSent: what is sent comes as it was; what is no chunk is refused.
func TestSent(t *testing.T) {
	p := Problem{Bodies: 1000, Seed: 1, Leaf: 7}
	begun := p.begin(5)
	c, m := begun.Chunk, begun.Motion
	b, _ := c.MarshalBinary()
	var c2 Chunk
	if err := c2.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(c, c2) {
		t.Errorf("another chunk came: %v", err)
	}
	r, r2 := Region{2: c, 5: c}, Region{}
	b, _ = r.MarshalBinary()
	if err := r2.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(r, r2) {
		t.Errorf("another region came: %v", err)
	}
	for n := 1; n < len(b); n++ {
		if r2.UnmarshalBinary(b[:n]) == nil {
			t.Fatalf("%d of the %d bytes of a region are one", n, len(b))
		}
	}
	if r2.UnmarshalBinary(append(b, 0)) == nil {
		t.Error("a region has another byte at its end")
	}
	b, _ = m.MarshalBinary()
	var m2 Motion
	if err := m2.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(m, m2) {
		t.Errorf("other motions came: %v", err)
	}
	f, f2 := Forces{{1, 2, 3, 4}, {5, 6, 7, 8}}, Forces(nil)
	b, _ = f.MarshalBinary()
	if err := f2.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(f, f2) {
		t.Errorf("forces %v came: %v", f2, err)
	}
	for _, n := range []int{1, headBytes - 1, headBytes, headBytes + 1, headBytes + placeBytes} {
		if err := c2.UnmarshalBinary(make([]byte, n)); err == nil {
			t.Errorf("%d bytes are a chunk", n)
		}
	}
	if m2.UnmarshalBinary(make([]byte, motionBytes-1)) == nil || f2.UnmarshalBinary(make([]byte, 31)) == nil {
		t.Error("half of a motion or a force was taken")
	}
}

// TestExact: without an angle the forces are those of all bodies one by one, to the last bit, since these come in the
// same order; two bodies pull each other as Newton says.
func TestExact(t *testing.T) {
	p := Problem{Bodies: 500, Seed: 3, Leaf: 8}
	w := alone{Problem: &p}
	w.begin()
	all := w.chunk[:]
	exact := forcesIn(all, 9, 0, Law{Soft: 0.05, Direct: true})
	if got := forcesIn(all, 9, 0, Law{Soft: 0.05}); !reflect.DeepEqual(got, exact) {
		t.Errorf("%v, one by one %v", got, exact)
	}
	potential, here := 0.0, all[9].tree.At[0].exact()
	for c, chunk := range all {
		for i, p := range chunk.tree.At {
			if at := p.exact(); c != 9 || i != 0 {
				d := math.Hypot(math.Hypot(at[0]-here[0], at[1]-here[1]), at[2]-here[2])
				potential -= 1 / math.Hypot(d, 0.05) / 500
			}
		}
	}
	if math.Abs(potential-exact[0][3]) > 1e-12 {
		t.Errorf("a potential of %v, by the formula %v", exact[0][3], potential)
	}
	two := grow([]Place{{0, 0, 0}, {0, 0, 2}}, 3, 1)
	got := forcesIn([]Chunk{{&two}}, 0, 0, Law{Theta: 1, Soft: 1e-9})
	if want := (Force{0, 0, 0.75, -1.5}); math.Abs(got[0][2]-want[2]) > 1e-12 || math.Abs(got[0][3]-want[3]) > 1e-12 ||
		got[0][0] != 0 || got[0][2] != -got[1][2] {
		t.Errorf("%v, want %v and the opposite", got, want)
	}
}

// TestOwnCell: a body never sees a cell that holds it from afar, as if it pulled itself.
func TestOwnCell(t *testing.T) {
	at := []Place{{1, 1, 1}}
	for i := range 30 { // so many that all of them look far away from the first one
		at = append(at, Place{0.001 * float32(i), 0, 0})
	}
	for leaf := 1; leaf <= len(at); leaf++ {
		tree := grow(at, 1, leaf)
		f := forcesIn([]Chunk{{&tree}}, 0, 0, Law{Theta: 1.2, Soft: 0.01})[0]
		exact := pull([]Chunk{{&tree}}, 0, 0, Law{Soft: 0.01, Direct: true})
		if math.Abs(f[0]-exact[0]) > 0.01*math.Abs(exact[0]) {
			t.Errorf("leaves of %d: %v, exactly %v", leaf, f, exact)
		}
	}
}

// circling is two bodies that circle each other.
type circling struct{ alone }

func (w *circling) begin() (all Sum) {
	w.motion[3] = divide([]Body{{Vec{0.5, 0, 0}, Vec{0, 0.5, 0}, 0}}, 1)
	w.motion[9] = divide([]Body{{Vec{-0.5, 0, 0}, Vec{0, -0.5, 0}, 1}}, 1)
	for c := range w.chunk {
		w.chunk[c] = w.motion[c].chunk(0.5, 1)
	}
	return all
}

// TestCircle: two bodies that circle each other have changed places after half a round.
func TestCircle(t *testing.T) {
	// At a distance of 1, with a mass of 1/2 each, they go round in 2 Pi.
	const steps = 1000
	p := Problem{Bodies: 2, Steps: steps / 2, Time: 2 * math.Pi / steps, Law: Law{Theta: 0.5, Soft: 1e-9}, Leaf: 1}
	r := p.run(&circling{alone{Problem: &p}})
	if at := r.bodies(2)[0].At; math.Abs(at[0]+0.5) > 1e-3 || math.Abs(at[1]) > 1e-3 {
		t.Errorf("after half a round it is at %v", at)
	}
	if math.Abs(r.Energy[0]+0.125) > 1e-9 || math.Abs(r.Energy[1]-r.Energy[0]) > 1e-5 {
		t.Errorf("energy %v, want -1/8", r.Energy)
	}
}

// TestPlummer: mass, energy and size are those of the model, and a cluster in equilibrium keeps them.
func TestPlummer(t *testing.T) {
	setup, err := apptest.Setup(App, "3000 --steps 20 --soft 0.01 --theta 0.6")
	if err != nil {
		t.Fatal(err)
	}
	r := setup.Sequential().(Result)
	if math.Abs(r.Energy[0]+0.25) > 0.02 || math.Abs(r.Energy[1]/r.Energy[0]-1) > 0.01 {
		t.Errorf("energy %v, want -0.25 all the time", r.Energy)
	}
	if r.Momentum[0] > 1e-15*3000 || r.Momentum[1] > 1e-3 {
		t.Errorf("momentum %v", r.Momentum)
	}
	p := Problem{Bodies: 3000, Seed: 1, Leaf: 10}
	w := alone{Problem: &p}
	w.begin()
	within := 0
	for _, b := range (Result{Motion: w.end()}).bodies(p.Bodies) {
		if at := b.At; at[0]*at[0]+at[1]*at[1]+at[2]*at[2] < 0.77*0.77 { // half of the mass of Plummer's model
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
		p := Problem{Variant: byObjects, Bodies: 1000, Seed: 1, Leaf: 10, Law: Law{Theta: theta, Soft: 0.05}}
		r := p.run(&alone{Problem: &p})
		mean, worst := p.errorOfForces(r)
		if mean >= last || worst < mean || theta == 0 && worst > 1e-12 || mean > 0.03 {
			t.Errorf("theta %v: an error of %v, at most %v; before %v", theta, mean, worst, last)
		}
		last = mean
	}
}

// TestSectors: 48 chunks of a shell are 48 parts of it, and all of it.
func TestSectors(t *testing.T) {
	seen := map[Vec]bool{}
	for octant := range octants {
		for order := range orders {
			at := within48(Vec{2, -3, 1}, octant, order)
			seen[at] = true
			for k, x := range at {
				if math.Signbit(x) != (octant>>k&1 == 1) {
					t.Errorf("%v is in octant %d", at, octant)
				}
			}
		}
	}
	if len(seen) != octants*orders {
		t.Errorf("of 48 chunks one direction is in %d", len(seen))
	}
}

// A result in which stars are missing or nowhere, or whose centre or energy is not right, is told from a right one.
func TestCheckNoticesWrongAnswers(t *testing.T) {
	of := func(star int) int { return ((star+1)*chunks - 1) / 50 } // which chunk it is in
	p, err := apptest.Setup(App, "50 --steps 2")
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(r *Result){
		"star 49 is nowhere":            func(r *Result) { r.Motion[of(49)].number[0] = 3 },
		"star 48 is nowhere":            func(r *Result) { r.Motion[of(48)] = Motion{} },
		"star 3 is nowhere":             func(r *Result) { r.Motion[of(3)].at[0][1] = math.NaN() },
		"the centre of all stars is at": func(r *Result) { r.Motion[of(3)].at[0][1] += 9 },
		"the energy was":                func(r *Result) { r.Energy[0] *= 1 + 1e-15 },
	} {
		r := p.Sequential().(Result)
		spoil(&r)
		if err := p.Check(r); err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// The picture shows the stars that are in it and none of those outside, with up above, and brighter where there are
// two.
func TestPicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stars.png")
	p, err := apptest.Setup(App, "100 --steps 1 --output "+path)
	if err != nil {
		t.Fatal(err)
	}
	r := p.Sequential().(Result)
	all := make([]Body, 100)
	for i := range all {
		all[i] = Body{At: Vec{9, 9, 9}, Number: int32(i)}
	}
	for i, at := range []Vec{{0, 0, 9}, {0, 0, 1}, {1.25, 1.25, 0}, {3, 0, 0}, {0, -3, 0}, {-3, 3, 0}} {
		all[i].At = at
	}
	r.Motion = [chunks]Motion{divide(all, 10)}
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

// A command line that makes no sense is refused with the word that is wrong and what is allowed there.
func TestRefused(t *testing.T) {
	apptest.Refuse(t, App, map[string]string{
		"":                          `arguments: got "nothing", want exactly 1 (N)`,
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
