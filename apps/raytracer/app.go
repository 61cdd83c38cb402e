package raytracer

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satin-peer/satin/apps"
)

const (
	maxSide    = 4096 // pixels
	maxSamples = 16

	// defaultThreshold is 8 x 8 pixels, some 0.2 ms of work; a picture of SPD's size makes 5461 jobs.
	defaultThreshold = 64
)

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the ray tracer.
var App = apps.App{
	Version: sources,
	Name:    "raytracer",
	Summary: "pictures of NFF scenes, with shadows, reflection and refraction",
	Args:    "SCENE",
	Long: `Renders SCENE, a file in Haines' Neutral File Format or one of the Standard Procedural Databases (1987) that it makes
itself: "balls", a sphere flake, or "mount", a fractal mountain behind four glass balls. --factor is SPD's size factor: balls
have 9^0 + 9^1 + ... + 9^factor spheres, 7381 with the 4 that SPD begins with, and mount has 2 * 4^factor triangles, 8192 with
its 6. The picture has the scene's resolution unless --size gives another one, and goes to --output as a PNG file.

A job cuts its rectangle into quarters and spawns them; one of at most --threshold pixels is rendered. A job carries
no scene but what it can be built from, and a cache of the scenes built last spares most jobs the building.

On one kind of processor the picture is the same to the last bit however many workers there are; another kind may round
some products and sums differently, and with it a pixel now and then.`,
	Examples: []string{"balls --output balls.png",
		"mount --factor 8 --size 1024x1024 --samples 3 --output mount.png", "scene.nff --output scene.png"},
	Setup: setup,
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	factor := fs.Int("factor", 0, "size factor of a scene that is made; 0 is SPD's own, 4 for balls and 6 for mount")
	size := fs.String("size", "", "`WIDTHxHEIGHT` of the picture in pixels (default the scene's)")
	samples := fs.Int("samples", 1, "rays per pixel across and down: `N` means N*N rays")
	threshold := fs.Int("threshold", defaultThreshold, "largest `number` of pixels that a job renders without spawning")
	output := fs.String("output", "", "write the picture to `FILE`, as PNG")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.ArgCount(args, 1, "SCENE: balls, mount, or an NFF file"); err != nil {
			return nil, err
		}
		if err := apps.IntRange("--samples", *samples, 1, maxSamples); err != nil {
			return nil, err
		}
		if err := apps.IntRange("--threshold", *threshold, 1, maxSide*maxSide); err != nil {
			return nil, err
		}
		if *output != "" {
			var inputs []string
			if _, made := generators[args[0]]; !made {
				inputs = args
			}
			if err := apps.CheckOutput(*output, inputs...); err != nil {
				return nil, err
			}
		}
		p, err := picture(args[0], *factor, *size, *samples)
		if err != nil {
			return nil, err
		}
		return problem(args[0], p, *threshold, *output), nil
	}
}

// picture finds the scene and the size of what is to be rendered.
func picture(name string, factor int, size string, samples int) (*Picture, error) {
	source, err := sourceOf(name, factor)
	if err != nil {
		return nil, err
	}
	s, err := scenes.get(source) // builds the scene: what is measured from here on is rendering
	if err != nil {
		return nil, err
	}
	p := &Picture{Scene: source, Width: s.view.width, Height: s.view.height, Samples: samples}
	if size != "" {
		const want = "WIDTHxHEIGHT with sides from 1 to 4096, such as 640x480"
		w, h, _ := strings.Cut(size, "x")
		if p.Width, err = apps.Int("--size", w, 1, maxSide); err == nil {
			p.Height, err = apps.Int("--size", h, 1, maxSide)
		}
		if err != nil {
			return nil, &apps.InputError{What: "--size", Got: size, Want: want}
		}
	}
	return p, nil
}

// sourceOf makes the source of a scene that is made, or reads and checks a file.
func sourceOf(name string, factor int) (*Source, error) {
	if g, made := generators[name]; made {
		if factor == 0 {
			factor = g.standard
		}
		return &Source{Generator: name, Size: factor}, apps.IntRange("--factor", factor, 1, g.largest)
	}
	if factor != 0 {
		return nil, &apps.InputError{What: "--factor", Got: fmt.Sprint(factor),
			Want: "none for a scene that is read from a file"}
	}
	data, err := apps.ReadFile(name, maxFile)
	if err != nil {
		return nil, err
	}
	_, err = parse(name, string(data)) // once more than needed, for an error that names the file
	return &Source{Text: string(data)}, err
}

func problem(name string, p *Picture, threshold int, output string) *apps.Problem {
	whole := Rect{Width: p.Width, Height: p.Height}
	q := &apps.Problem{
		Title: fmt.Sprintf("%s in %d x %d pixels", filepath.Base(name), p.Width, p.Height),
		Root:  "raytracer.render",
		Arg:   Area{Picture: p, Rect: whole, Threshold: threshold},
		Sequential: func() any {
			t, err := renderAlone(p, whole)
			if err != nil { // the scene was built when the arguments were read
				panic(err)
			}
			return t
		},
		Check: func(result any) error { return check(p, result.(Tile)) },
		Answer: func(result any) apps.Answer {
			sum := fmt.Sprintf("%x", sha256.Sum256(result.(Tile).Pixels))
			a := apps.Answer{
				Text:   fmt.Sprintf("%s: %d x %d pixels with SHA-256 %.16s", name, p.Width, p.Height, sum),
				Fields: map[string]any{"scene": name, "width": p.Width, "height": p.Height, "sha256": sum},
			}
			if output != "" {
				a.Text += ", in " + output
				a.Fields["file"] = output
			}
			return a
		},
	}
	if output != "" {
		q.Save = func(result any) error {
			return apps.WriteFile(output, func(w io.Writer) error { return png.Encode(w, result.(Tile)) })
		}
	}
	return q
}

// check renders some pixels, spread over the picture, once more.
func check(p *Picture, t Tile) error {
	const checked = 400
	if t.Rect != (Rect{Width: p.Width, Height: p.Height}) || len(t.Pixels) != 3*p.Width*p.Height {
		return fmt.Errorf("the picture has %d bytes for %+v, not %d x %d pixels", len(t.Pixels), t.Rect, p.Width,
			p.Height)
	}
	n := p.Width * p.Height
	for i := 0; i < n; i += max(1, n/checked) {
		x, y := i%p.Width, i/p.Width
		again, err := renderAlone(p, Rect{x, y, 1, 1})
		if err != nil {
			return err
		}
		if got := t.row(y)[3*x : 3*x+3]; !slices.Equal(got, again.Pixels) {
			return fmt.Errorf("pixel %d, %d has the colour %d; rendered again it is %d", x, y, got, again.Pixels)
		}
	}
	return nil
}

// A Tile is an image.

// ColorModel is opaque colours.
func (t Tile) ColorModel() color.Model { return color.RGBAModel }

// Bounds is the rectangle of the picture that t covers.
func (t Tile) Bounds() image.Rectangle {
	return image.Rect(t.Rect.X, t.Rect.Y, t.Rect.X+t.Rect.Width, t.Rect.Y+t.Rect.Height)
}

// At returns the colour of a pixel.
func (t Tile) At(x, y int) color.Color {
	if !(image.Point{x, y}).In(t.Bounds()) {
		return color.RGBA{}
	}
	i := 3 * (x - t.Rect.X)
	row := t.row(y)
	return color.RGBA{row[i], row[i+1], row[i+2], 255}
}

// Opaque is true: it lets the PNG do without transparency.
func (t Tile) Opaque() bool { return true }
