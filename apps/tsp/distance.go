package tsp

import "math"

// point is a city of an instance that is given by coordinates.
type point struct{ x, y float64 }

// metrics are the distances that TSPLIB defines by coordinates (Reinelt, "TSPLIB 95", section 2), down to the
// rounding on which the published lengths of tours depend. The conversions in them keep a compiler from
// fusing a product and a sum, which would round differently.
var metrics = map[string]func(a, b point) float64{
	"EUC_2D":  func(a, b point) float64 { return math.Floor(euclid(a, b) + 0.5) },
	"CEIL_2D": func(a, b point) float64 { return math.Ceil(euclid(a, b)) },
	"ATT":     pseudoEuclid,
	"GEO":     geographic,
}

func squares(a, b point) float64 {
	dx, dy := a.x-b.x, a.y-b.y
	return float64(dx*dx) + float64(dy*dy)
}

func euclid(a, b point) float64 { return math.Sqrt(squares(a, b)) }

// pseudoEuclid rounds a tenth of the square up, never down.
func pseudoEuclid(a, b point) float64 {
	r := math.Sqrt(squares(a, b) / 10)
	t := math.Floor(r + 0.5)
	if t < r {
		t++
	}
	return t
}

// geographic is the distance in km on TSPLIB's earth, a sphere with a radius of 6378.388 km and a pi of 3.141592, of
// points whose latitude (x) and longitude (y) are written as degrees.minutes.
func geographic(a, b point) float64 {
	const radius = 6378.388
	lat1, lat2 := radians(a.x), radians(b.x)
	q1 := math.Cos(radians(a.y) - radians(b.y))
	q2 := math.Cos(lat1 - lat2)
	q3 := math.Cos(lat1 + lat2)
	cos := 0.5 * (float64((1+q1)*q2) - float64((1-q1)*q3))
	arc := math.Acos(max(-1, min(cos, 1))) // rounding may lead past 1, where there is no arc
	return math.Floor(float64(radius*arc) + 1)
}

func radians(degreesMinutes float64) float64 {
	const pi = 3.141592
	degrees, minutes := math.Modf(degreesMinutes)
	return pi * (degrees + 5*minutes/3) / 180
}
