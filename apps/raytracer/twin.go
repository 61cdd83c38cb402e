package raytracer

// renderAlone is the sequential twin of render, and its leaf: one pixel after the other.
func renderAlone(p *Picture, r Rect) (Tile, error) {
	s, err := scenes.get(p.Scene)
	if err != nil {
		return Tile{}, err
	}
	c := newCamera(s.view, p.Width, p.Height, p.Samples)
	t := newTile(r)
	for y := r.Y; y < r.Y+r.Height; y++ {
		row := t.row(y)
		for x := range r.Width {
			colour := s.pixel(c, r.X+x, y)
			row[3*x], row[3*x+1], row[3*x+2] = level(colour.x), level(colour.y), level(colour.z)
		}
	}
	return t, nil
}

// level is the byte for a brightness: 255 for 1 and more.
func level(brightness float64) byte {
	if !(brightness > 0) { // not a number: where a normal cannot be told
		return 0
	}
	return byte(255*min(brightness, 1) + 0.5)
}
