// Package raytracer renders scenes of the Standard Procedural Databases by ray tracing, with shadows, reflection and
// refraction.
//
// It is divide and conquer without a join to speak of: a picture is cut into quarters, again and again, until
// they are small, and their pixels are put together. How long a pixel takes varies a hundredfold from the sky
// to a ball among balls, which is what stealing is for.
package raytracer

import (
	"fmt"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.RegisterErr("raytracer.render", render, satin.Checked(Area.check), satin.Rounded(),
		satin.Small(apps.Instance[Area](setup, "--size", "80x80", "--factor", "2", "balls")))
}

// Picture says what to render.
type Picture struct {
	Scene         *Source
	Width, Height int // pixels, 1 to maxSide
	Samples       int // rays per pixel, in each direction
}

// check refuses pictures that are larger than any that can be asked for.
func (p *Picture) check() error {
	if p == nil || p.Scene == nil || p.Width < 1 || p.Width > maxSide || p.Height < 1 || p.Height > maxSide ||
		p.Samples < 1 || p.Samples > maxSamples {
		return fmt.Errorf("no picture of 1 to %d by 1 to %d pixels and at most %d samples", maxSide, maxSide, maxSamples)
	}
	return nil
}

// check refuses areas that are in no such picture.
func (a Area) check() error {
	if err := a.Picture.check(); err != nil {
		return err
	}
	r := a.Rect
	if r.X < 0 || r.Y < 0 || r.Width < 1 || r.Height < 1 || r.Width > a.Picture.Width || r.Height > a.Picture.Height ||
		r.X > a.Picture.Width-r.Width || r.Y > a.Picture.Height-r.Height {
		return fmt.Errorf("%d by %d pixels at %d, %d, which the picture does not have", r.Width, r.Height, r.X, r.Y)
	}
	return nil
}

// Area is a rectangle of a picture, and the argument of a job.
type Area struct {
	Picture   *Picture
	Rect      Rect
	Threshold int // rectangles of at most so many pixels are not cut
}

// Rect is a rectangle of Width by Height pixels, of which X, Y is the upper left one.
type Rect struct{ X, Y, Width, Height int }

// Tile is a rendered rectangle: its pixels row by row, a byte each for red, green and blue.
type Tile struct {
	Rect   Rect
	Pixels []byte
}

// render renders an area. Its error is that there is no such scene.
func render(f *satin.Frame, a Area) (Tile, error) {
	if a.Rect.Width*a.Rect.Height <= a.Threshold {
		return renderAlone(a.Picture, a.Rect)
	}
	g := satin.ForkErr(f, render)
	for _, quarter := range a.Rect.quarters() {
		g.Spawn(Area{a.Picture, quarter, a.Threshold})
	}
	whole := newTile(a.Rect)
	for part, err := range g.Results() {
		if err != nil {
			return Tile{}, err
		}
		whole.paste(part)
	}
	return whole, nil
}

// quarters cuts a rectangle of more than one pixel in the middle of its sides, as far as they have one.
func (r Rect) quarters() []Rect {
	w, h := (r.Width+1)/2, (r.Height+1)/2
	all := [4]Rect{
		{r.X, r.Y, w, h},
		{r.X + w, r.Y, r.Width - w, h},
		{r.X, r.Y + h, w, r.Height - h},
		{r.X + w, r.Y + h, r.Width - w, r.Height - h},
	}
	some := all[:0]
	for _, q := range all {
		if q.Width > 0 && q.Height > 0 {
			some = append(some, q)
		}
	}
	return some
}

func newTile(r Rect) Tile { return Tile{r, make([]byte, 3*r.Width*r.Height)} }

// row returns the pixels of t in row y of the picture.
func (t Tile) row(y int) []byte {
	start := 3 * (y - t.Rect.Y) * t.Rect.Width
	return t.Pixels[start : start+3*t.Rect.Width]
}

// paste copies part to where it belongs in t.
func (t Tile) paste(part Tile) {
	for y := part.Rect.Y; y < part.Rect.Y+part.Rect.Height; y++ {
		copy(t.row(y)[3*(part.Rect.X-t.Rect.X):], part.row(y))
	}
}
