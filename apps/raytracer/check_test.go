package raytracer

import "testing"

// Every part of a picture is let in where it arrives; what would take all memory is not.
func TestChecks(t *testing.T) {
	p := &Picture{Scene: &Source{Generator: "balls", Size: 1}, Width: 33, Height: 17, Samples: 1}
	var cut func(r Rect)
	cut = func(r Rect) {
		if err := (Area{Picture: p, Rect: r}).check(); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		if r.Width*r.Height > 1 {
			for _, q := range r.quarters() {
				cut(q)
			}
		}
	}
	cut(Rect{0, 0, p.Width, p.Height})
	const huge = 1 << 62
	for name, a := range map[string]Area{
		"no picture":         {Rect: Rect{0, 0, 1, 1}},
		"no scene":           {Picture: &Picture{Width: 1, Height: 1, Samples: 1}, Rect: Rect{0, 0, 1, 1}},
		"a huge picture":     {Picture: &Picture{p.Scene, huge, huge, 1}, Rect: Rect{0, 0, 1, 1}},
		"many samples":       {Picture: &Picture{p.Scene, 1, 1, huge}, Rect: Rect{0, 0, 1, 1}},
		"a huge area":        {Picture: p, Rect: Rect{0, 0, huge, 1}},
		"one that overflows": {Picture: p, Rect: Rect{huge, huge, huge, huge}},
		"one beside it":      {Picture: p, Rect: Rect{33, 0, 1, 1}},
		"a negative one":     {Picture: p, Rect: Rect{0, 0, -1, -1}},
	} {
		if a.check() == nil {
			t.Errorf("%s is let in", name)
		}
	}
}
