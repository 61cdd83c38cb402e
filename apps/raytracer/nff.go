package raytracer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// Limits of an NFF file.
const (
	maxFile       = 64 << 20 // bytes
	maxObjects    = 2_000_000
	maxLights     = 1000
	maxCorners    = 1000 // of one polygon
	maxCoordinate = 1e9
	maxColour     = 1e6 // of light; 1 is white
)

// parser reads a scene in the Neutral File Format (Haines, NFF 3.1, 1992): one entity a line, named by its
// first word; the view and polygons go on in the lines below. "#" begins a comment line.
type parser struct {
	file  string
	rest  string // not yet read
	line  int    // number of the line read last
	words []string
	scene *scene
	seen  bool // the view has been described
}

// parse reads the scene in text. What it refuses is an *apps.InputError that names the line.
func parse(file, text string) (*scene, error) {
	p := &parser{file: file, rest: text, scene: &scene{}}
	for p.next() {
		if err := p.entity(); err != nil {
			return nil, err
		}
	}
	if !p.seen {
		return nil, p.wants("the end of the file", "a view, \"v\"")
	}
	p.scene.finish()
	return p.scene, nil
}

func (p *parser) entity() error {
	switch p.words[0] {
	case "v":
		return p.view()
	case "b":
		n, err := p.numbers("b R G B", 0, maxColour, 3)
		if err == nil {
			p.scene.background = vec{n[0], n[1], n[2]}
		}
		return err
	case "l":
		return p.light()
	case "f":
		return p.surface()
	case "s", "c", "p", "pp":
		if len(p.scene.surfaces) == 0 {
			return p.wants(p.words[0], "a surface, \"f\", before the first object")
		}
		if len(p.scene.objects) >= maxObjects {
			return p.wants("more objects", fmt.Sprintf("at most %d", maxObjects))
		}
		return p.object()
	}
	return p.wants(p.words[0], "v, b, l, f, s, c, p or pp")
}

// view reads the six lines of a view.
func (p *parser) view() error {
	if p.seen {
		return p.wants("v", "one view")
	}
	p.seen = true
	v := &p.scene.view
	point := func(to *vec) func([]float64) { return func(n []float64) { *to = vec{n[0], n[1], n[2]} } }
	for _, line := range []struct {
		word, usage string
		lo, hi      float64
		count       int
		set         func(n []float64)
	}{
		{"from", "from X Y Z", -maxCoordinate, maxCoordinate, 3, point(&v.from)},
		{"at", "at X Y Z", -maxCoordinate, maxCoordinate, 3, point(&v.at)},
		{"up", "up X Y Z", -maxCoordinate, maxCoordinate, 3, point(&v.up)},
		{"angle", "angle DEGREES", 0.001, 179, 1, func(n []float64) { v.angle = n[0] }},
		{"hither", "hither DISTANCE", 0, maxCoordinate, 1, func(n []float64) { v.hither = n[0] }},
		{"resolution", "resolution WIDTH HEIGHT", 1, maxSide, 2,
			func(n []float64) { v.width, v.height = int(n[0]), int(n[1]) }},
	} {
		if !p.next() || p.words[0] != line.word {
			return p.wants(p.found(), line.usage)
		}
		n, err := p.numbers(line.usage, line.lo, line.hi, line.count)
		if err != nil {
			return err
		}
		line.set(n)
	}
	if side := v.at.sub(v.from).cross(v.up); side.length() == 0 {
		return p.wants("a view along its own up", "from, at and up that are not on a line")
	}
	return nil
}

func (p *parser) light() error {
	if len(p.scene.lights) >= maxLights {
		return p.wants("more lights", fmt.Sprintf("at most %d", maxLights))
	}
	const usage = "l X Y Z [R G B]"
	n, err := p.numbers(usage, -maxCoordinate, maxCoordinate, 3, 6)
	if err != nil {
		return err
	}
	l := light{position: vec{n[0], n[1], n[2]}, colour: vec{1, 1, 1}}
	if len(n) == 6 {
		l.colour = vec{n[3], n[4], n[5]}
		if lo, hi := min(n[3], n[4], n[5]), max(n[3], n[4], n[5]); lo < 0 || hi > maxColour {
			return p.wants(p.found(), fmt.Sprintf("%s with colours from 0 to %g", usage, maxColour))
		}
	}
	p.scene.lights = append(p.scene.lights, l)
	return nil
}

func (p *parser) surface() error {
	n, err := p.numbers("f R G B Kd Ks Shine T INDEX", 0, maxColour, 8)
	if err != nil {
		return err
	}
	f := &surface{colour: vec{n[0], n[1], n[2]}, diffuse: n[3], mirror: n[4], shine: n[5], through: n[6], index: n[7]}
	if f.index == 0 { // as SPD writes for what nothing passes
		f.index = 1
	}
	p.scene.surfaces = append(p.scene.surfaces, f)
	return nil
}

// object reads a sphere, cone, cylinder, polygon or patch. The sign of a radius, which tells the side that is
// seen, is ignored: both are. Objects without a surface, which programs do write, are left out.
func (p *parser) object() error {
	s := p.scene
	switch p.words[0] {
	case "s":
		n, err := p.numbers("s X Y Z RADIUS", -maxCoordinate, maxCoordinate, 4)
		if err != nil {
			return err
		}
		if n[3] != 0 {
			s.add(&sphere{vec{n[0], n[1], n[2]}, math.Abs(n[3])})
		}
	case "c":
		const usage = "c and, on each of two lines, X Y Z RADIUS"
		words := p.words[1:]
		if len(words) == 0 && p.next() { // some programs write the first line behind the c
			words = p.words
		}
		base, err := p.coordinates(words, usage, 4)
		if err != nil {
			return err
		}
		if !p.next() {
			return p.wants(p.found(), usage)
		}
		apex, err := p.coordinates(p.words, usage, 4)
		if err != nil {
			return err
		}
		from, to := vec{base[0], base[1], base[2]}, vec{apex[0], apex[1], apex[2]}
		if c := newCone(from, math.Abs(base[3]), to, math.Abs(apex[3])); c != nil {
			s.add(c)
		}
	case "p":
		return p.polygon()
	case "pp":
		return p.patch()
	}
	return nil
}

// polygon reads a flat polygon.
func (p *parser) polygon() error {
	rows, err := p.corners("p CORNERS and, on as many lines, X Y Z", 3)
	if err != nil {
		return err
	}
	points := make([]vec, len(rows))
	for i, n := range rows {
		points[i] = vec{n[0], n[1], n[2]}
	}
	if len(points) == 3 {
		if t := newTriangle(points[0], points[1], points[2], nil); t != nil {
			p.scene.add(t)
		}
	} else if g := newPolygon(points); g != nil {
		p.scene.add(g)
	}
	return nil
}

// patch reads a polygon with a normal at each corner, as triangles around the first.
func (p *parser) patch() error {
	rows, err := p.corners("pp CORNERS and, on as many lines, X Y Z NX NY NZ", 6)
	if err != nil {
		return err
	}
	point := func(i int) vec { return vec{rows[i][0], rows[i][1], rows[i][2]} }
	normals := make([]vec, len(rows))
	for i, n := range rows {
		normal := vec{n[3], n[4], n[5]}
		if normal.length() == 0 {
			return p.wants("a normal of length 0", "normals that point somewhere")
		}
		normals[i] = normal.unit()
	}
	for i := 1; i+1 < len(rows); i++ {
		n := [3]vec{normals[0], normals[i], normals[i+1]}
		if t := newTriangle(point(0), point(i), point(i+1), &n); t != nil {
			p.scene.add(t)
		}
	}
	return nil
}

// corners reads the number of corners and their lines of count numbers each.
func (p *parser) corners(usage string, count int) ([][]float64, error) {
	n, err := p.numbers(usage, 3, maxCorners, 1)
	if err != nil {
		return nil, err
	}
	if n[0] != math.Trunc(n[0]) {
		return nil, p.wants(p.words[1], "a whole number of corners")
	}
	rows := make([][]float64, int(n[0]))
	for i := range rows {
		if !p.next() {
			return nil, p.wants(p.found(), usage)
		}
		if rows[i], err = p.coordinates(p.words, usage, count); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// next reads the words of the next line that has any; false at the end of the file.
func (p *parser) next() bool {
	for p.rest != "" {
		var text string
		text, p.rest, _ = strings.Cut(p.rest, "\n")
		p.line++
		p.words = strings.Fields(text)
		if len(p.words) > 0 && !strings.HasPrefix(p.words[0], "#") {
			return true
		}
	}
	p.words = nil
	return false
}

// found names what has been read, for an error.
func (p *parser) found() string {
	if p.words == nil {
		return "the end of the file"
	}
	return strings.Join(p.words, " ")
}

// numbers reads the words after the first one of the line: one of counts numbers from lo to hi.
func (p *parser) numbers(usage string, lo, hi float64, counts ...int) ([]float64, error) {
	return p.read(p.words[1:], usage, lo, hi, counts...)
}

func (p *parser) coordinates(words []string, usage string, count int) ([]float64, error) {
	return p.read(words, usage, -maxCoordinate, maxCoordinate, count)
}

func (p *parser) read(words []string, usage string, lo, hi float64, counts ...int) ([]float64, error) {
	for _, count := range counts {
		if len(words) != count {
			continue
		}
		n := make([]float64, count)
		for i, word := range words {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil || !(x >= lo && x <= hi) {
				return nil, p.wants(word, fmt.Sprintf("%s with numbers from %g to %g", usage, lo, hi))
			}
			n[i] = x
		}
		return n, nil
	}
	return nil, p.wants(p.found(), usage)
}

func (p *parser) wants(got, want string) error {
	return &apps.InputError{What: fmt.Sprintf("%s:%d", p.file, p.line), Got: got, Want: want}
}
