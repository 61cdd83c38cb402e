package raytracer

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
)

func readSource(t *testing.T, file string) *Source {
	t.Helper()
	s, err := sourceOf(filepath.Join("testdata", file), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSamePicture: however it is cut and whoever renders the pieces, a picture is the same in every bit.
func TestSamePicture(t *testing.T) {
	pools := apptest.Pools(t)
	for name, p := range map[string]*Picture{
		"balls":          {&Source{Generator: "balls", Size: 2}, 97, 64, 1},
		"mount":          {&Source{Generator: "mount", Size: 4}, 64, 80, 1},
		"shapes sampled": {readSource(t, "shapes.nff"), 61, 33, 2},
		"one column":     {readSource(t, "shapes.nff"), 1, 40, 1},
	} {
		whole := Rect{Width: p.Width, Height: p.Height}
		want, err := renderAlone(p, whole)
		if err != nil {
			t.Fatal(err)
		}
		for workers, pool := range pools {
			for _, threshold := range []int{1, 64, 1000000} {
				t.Run(fmt.Sprint(name, " ", workers, " ", threshold), func(t *testing.T) {
					got, err := satin.RunErr(context.Background(), pool, render, Area{p, whole, threshold})
					if err != nil {
						t.Fatal(err)
					}
					if got.Rect != want.Rect || !slices.Equal(got.Pixels, want.Pixels) {
						t.Error("the picture differs from the twin's")
					}
					if err := check(p, got); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// A job whose scene does not exist or cannot be read ends with an error that says so, on whatever worker it runs.
func TestNoSuchScene(t *testing.T) {
	for source, want := range map[Source]string{
		{Generator: "teapot", Size: 1}:  `there is no scene "teapot" of size 1`,
		{Generator: "balls", Size: 100}: `there is no scene "balls" of size 100`,
		{Text: "b 0 0 0"}:               `scene:1: got "the end of the file", want a view, "v"`,
	} {
		for workers, pool := range apptest.Pools(t) {
			a := Area{&Picture{&source, 20, 20, 1}, Rect{Width: 20, Height: 20}, 50}
			if _, err := satin.RunErr(context.Background(), pool, render, a); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", workers, err, want)
			}
		}
	}
}

// A rectangle's quarters cover each of its pixels once, and are smaller than it, or jobs would never come to an end.
func TestQuarters(t *testing.T) {
	for w := 1; w <= 5; w++ {
		for h := 1; h <= 5; h++ {
			if w*h == 1 {
				continue
			}
			r := Rect{7, 9, w, h}
			covered := map[[2]int]int{}
			for _, q := range r.quarters() {
				if q == r || q.Width < 1 || q.Height < 1 {
					t.Errorf("%v has the quarter %v", r, q)
				}
				for y := q.Y; y < q.Y+q.Height; y++ {
					for x := q.X; x < q.X+q.Width; x++ {
						covered[[2]int{x, y}]++
					}
				}
			}
			for y := 9; y < 9+h; y++ {
				for x := 7; x < 7+w; x++ {
					if covered[[2]int{x, y}] != 1 {
						t.Errorf("%v: pixel %d, %d is in %d quarters", r, x, y, covered[[2]int{x, y}])
					}
				}
			}
			if len(covered) != w*h {
				t.Errorf("%v: quarters cover %d pixels", r, len(covered))
			}
		}
	}
}

// TestSizes compares the numbers of objects with those that SPD publishes.
func TestSizes(t *testing.T) {
	for size, spheres := range map[int]int{1: 10, 2: 91, 3: 820, 4: 7381} {
		if got := len(balls(size).objects); got != spheres+1 {
			t.Errorf("balls %d: %d objects, want %d spheres and a floor", size, got, spheres)
		}
	}
	for size, triangles := range map[int]int{1: 8, 2: 32, 3: 128, 6: 8192} {
		if got := len(mount(size).objects); got != triangles+4 {
			t.Errorf("mount %d: %d objects, want %d triangles and 4 spheres", size, got, triangles)
		}
	}
}

// TestFlake: every sphere touches the one that carries it, none of the nine around one meets another, and all
// are within the unit sphere, as SPD's comment says.
func TestFlake(t *testing.T) {
	var all []*sphere
	for _, o := range balls(3).objects[1:] {
		all = append(all, o.shape.(*sphere))
	}
	for i, s := range all {
		if s.centre.length()+s.radius > 1 {
			t.Errorf("sphere %d, %v, sticks out of the unit sphere", i, *s)
		}
	}
	// Depth first: the children of the first sphere are a ninth of the others apart.
	part := (len(all) - 1) / 9
	for i := range 9 {
		child := all[1+i*part]
		if d := child.centre.sub(all[0].centre).length() - child.radius - all[0].radius; math.Abs(d) > 1e-12 ||
			math.Abs(child.radius*3-all[0].radius) > 1e-12 {
			t.Errorf("sphere %v is %g from the one that carries it", *child, d)
		}
		for j := range i {
			other := all[1+j*part]
			if child.centre.sub(other.centre).length() < child.radius+other.radius {
				t.Errorf("spheres %v and %v meet", *child, *other)
			}
		}
	}
}

// TestReadBalls compares SPD's balls as they are read from a file in its layout with those that are made.
func TestReadBalls(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "balls1.nff"))
	if err != nil {
		t.Fatal(err)
	}
	read, err := parse("balls1.nff", string(data))
	if err != nil {
		t.Fatal(err)
	}
	made := balls(1)
	made.finish()
	if read.view != made.view || read.background != made.background || !slices.Equal(read.lights, made.lights) {
		t.Errorf("view, background or lights differ: %v %v", *read, *made)
	}
	same := func(a, b object) bool { // numbers in the file have six digits
		x, y := a.bounds(), b.bounds()
		return x.lo.sub(y.lo).length() < 1e-5 && x.hi.sub(y.hi).length() < 1e-5 && *a.surface == *b.surface
	}
	for _, a := range read.tree.objects {
		if !slices.ContainsFunc(made.tree.objects, func(b object) bool { return same(a, b) }) {
			t.Errorf("%v is not made", a.bounds())
		}
	}
	if len(read.tree.objects) != len(made.tree.objects) {
		t.Errorf("%d objects read, %d made", len(read.tree.objects), len(made.tree.objects))
	}
}

// look renders the middle pixel of a scene whose eye is at 0, 0, 10 and looks down.
func look(t *testing.T, text string) vec {
	t.Helper()
	s, err := parse("scene",
		"v\nfrom 0 0 10\nat 0 0 0\nup 0 1 0\nangle 30\nhither 1\nresolution 3 3\nb 0.25 0.5 1\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	return s.pixel(newCamera(s.view, 3, 3, 1), 1, 1)
}

// TestColours takes pixels whose colour the model of light gives in one line.
func TestColours(t *testing.T) {
	const floor = "p 4\n-50 -50 0\n50 -50 0\n50 50 0\n-50 50 0\n"
	const above, aside = "l 0 0 100\n", "l 100 0 100\n" // at 45 degrees
	half := math.Sqrt2 / 2
	for _, c := range []struct {
		name, text string
		want       vec
	}{
		{"nothing", "", vec{0.25, 0.5, 1}},
		{"no light", "f 1 1 1 1 0 0 0 0\n" + floor, vec{}},
		{"diffuse", above + "f 1 0.5 0.2 0.8 0 0 0 0\n" + floor, vec{0.8, 0.4, 0.16}},
		{"diffuse, aslant", aside + "f 1 0.5 0.2 0.8 0 0 0 0\n" + floor, vec{0.8 * half, 0.4 * half, 0.16 * half}},
		{"coloured light", "l 0 0 100 0.5 1 0\nf 1 1 1 1 0 0 0 0\n" + floor, vec{0.5, 1, 0}},
		{"two lights are as strong as their root", above + above + "f 1 1 1 0.1 0 0 0 0\n" + floor,
			vec{0.1 * math.Sqrt2, 0.1 * math.Sqrt2, 0.1 * math.Sqrt2}},
		{"highlight", above + "f 0 0 0 0 0.5 10 0 0\n" + floor, vec{0.5 + 0.125, 0.5 + 0.25, 0.5 + 0.5}},
		{"mirror", "f 0 0 0 0 0.5 10 0 0\n" + floor, vec{0.125, 0.25, 0.5}},
		{"mirror facing away, seen from behind", "f 0 0 0 0 0.5 10 0 0\np 3\n9 0 0\n-9 9 0\n-9 -9 0\n",
			vec{0.125, 0.25, 0.5}},
		{"pane", "f 0 0 0 0 0 0 0.5 1\n" + floor, vec{0.125, 0.25, 0.5}},
		{"five panes, and no sixth generation", "f 0 0 0 0 0 0 1 1\n" + floor + "s 0 0 -5 1\ns 0 0 -9 1\n", vec{}},
		{"four surfaces of air", "f 0 0 0 0 0 0 1 1\ns 0 0 -5 1\ns 0 0 -9 1\n", vec{0.25, 0.5, 1}},
		{"glass ball seen through its centre", "f 0 0 0 0 0 0 0.5 1.5\ns 0 0 0 1\n", vec{0.0625, 0.125, 0.25}},
		{"shadow", aside + "f 1 1 1 1 0 0 0 0\n" + floor + "s 5 0 5 1\n", vec{}},
		{"shadow of glass", aside + "f 1 1 1 1 0 0 0 0\n" + floor + "f 0 0 0 0 0 0 0.5 1\ns 5 0 5 1\n",
			vec{half / 2, half / 2, half / 2}},
		{"no shadow from beyond the light", "l 0 0 3\nf 1 1 1 1 0 0 0 0\n" + floor + "s 0 0 11 1\n", vec{1, 1, 1}},
		{"hither cuts off what is nearer", "f 0 0 0 1 0 0 0 0\ns 0 0 9.5 0.1\n", vec{0.25, 0.5, 1}},
		{"normals of a patch are mixed", above +
			"f 1 1 1 1 0 0 0 0\npp 3\n-9 -9 0 1 0 1\n9 -9 0 -1 0 1\n0 18 0 0 0 1\n", vec{1, 1, 1}},
	} {
		if got := look(t, c.text); got.sub(c.want).length() > 1e-9 {
			t.Errorf("%s: colour %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRefraction follows Snell's law through the surface of water and back.
func TestRefraction(t *testing.T) {
	const index = 4.0 / 3
	for degrees := 0.0; degrees < 90; degrees += 7.5 {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		in := vec{sin, 0, -cos}
		water := refracted(in, vec{0, 0, 1}, index, false)
		if math.Abs(water.x*index-sin) > 1e-12 || math.Abs(water.length()-1) > 1e-12 || water.z >= 0 {
			t.Errorf("at %g degrees the ray goes on along %v", degrees, water)
		}
		if out := refracted(water, vec{0, 0, 1}, index, true); out.sub(in).length() > 1e-6 {
			t.Errorf("at %g degrees the ray comes out along %v, not %v", degrees, out, in)
		}
	}
	steep := vec{0.9, 0, math.Sqrt(1 - 0.81)} // beyond the limit of 48.6 degrees
	if out := refracted(steep, vec{0, 0, -1}, index, true); out.sub(vec{0.9, 0, -steep.z}).length() > 1e-12 {
		t.Errorf("total reflection goes along %v", out)
	}
}

// TestCache: a scene is built once for all who need it at the same time, is known by address and by content, and is
// forgotten when others have been needed since.
func TestCache(t *testing.T) {
	var c sceneCache
	first := &Source{Generator: "balls", Size: 2}
	got := make([]*scene, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			source := first
			if i%2 == 1 {
				source = &Source{Generator: "balls", Size: 2}
			}
			got[i], _ = c.get(source)
		})
	}
	wg.Wait()
	for _, s := range got {
		if s == nil || s != got[0] {
			t.Fatal("one scene was built twice")
		}
	}
	for size := 1; size <= 4; size++ {
		if _, err := c.get(&Source{Generator: "mount", Size: size}); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.entries) != maxScenes {
		t.Errorf("%d scenes are remembered, want %d", len(c.entries), maxScenes)
	}
	if again, _ := c.get(first); again == got[0] {
		t.Error("a scene was remembered for too long")
	}
}

// TestTwinIsPixelByPixel: the twin's tiles are the pixels, each where it belongs.
func TestTwinIsPixelByPixel(t *testing.T) {
	p := &Picture{readSource(t, "shapes.nff"), 37, 23, 1}
	for _, r := range []Rect{{0, 0, 37, 23}, {5, 3, 20, 19}, {36, 0, 1, 23}, {0, 22, 37, 1}} {
		whole, err := renderAlone(p, r)
		if err != nil {
			t.Fatal(err)
		}
		for y := r.Y; y < r.Y+r.Height; y++ {
			for x := r.X; x < r.X+r.Width; x++ {
				one, err := renderAlone(p, Rect{x, y, 1, 1})
				if i := 3 * (x - r.X); err != nil || !slices.Equal(whole.row(y)[i:i+3], one.Pixels) {
					t.Fatalf("%v: pixel %d, %d is %d and alone %d, %v", r, x, y, whole.row(y)[i:i+3], one.Pixels, err)
				}
			}
		}
	}
}

// BenchmarkSequential shows why the twin goes tile by tile.
func BenchmarkSequential(b *testing.B) {
	p := &Picture{&Source{Generator: "balls", Size: 4}, 512, 512, 1}
	for name, height := range map[string]int{"tiles": 512, "rows": 1} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for y := 0; y < 512; y += height {
					if _, err := renderAlone(p, Rect{0, y, 512, height}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
