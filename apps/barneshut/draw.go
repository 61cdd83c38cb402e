package barneshut

import (
	"image"
	"image/color"
	"math"
)

// Sizes of a picture, in pixels and in the unit of length: most stars are within 1 of the centre.
const (
	side  = 512
	shown = 2.5 // to the left and right of the centre
)

// draw looks at the stars along the third axis. The more there are in a pixel, the brighter it is.
func draw(all []Body) image.Image {
	var counts [side][side]int
	most := 1
	for i := range all {
		p := &all[i].At
		x, y := int((p[0]/shown+1)/2*side), int((1-p[1]/shown)/2*side)
		if math.Abs(p[0]) < shown && math.Abs(p[1]) < shown && x < side && y < side {
			counts[y][x]++
			most = max(most, counts[y][x])
		}
	}
	picture := image.NewGray(image.Rect(0, 0, side, side))
	const faintest = 96
	for y := range counts {
		for x, n := range counts[y] {
			if n > 0 {
				light := faintest + (255-faintest)*math.Log1p(float64(n-1))/math.Log1p(float64(most))
				picture.SetGray(x, y, color.Gray{uint8(min(light, 255))})
			}
		}
	}
	return picture
}
