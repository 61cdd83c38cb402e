package tsp

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// maxFile is more than the largest instance needs as a full matrix.
const maxFile = 1 << 20

// formats are the ways to write a symmetric matrix row by row: which columns a row of n has. A triangle
// written by columns is the other triangle written by rows.
var formats = map[string]func(row, n int) (from, to int){
	"FULL_MATRIX":    func(row, n int) (int, int) { return 0, n },
	"UPPER_ROW":      func(row, n int) (int, int) { return row + 1, n },
	"LOWER_ROW":      func(row, n int) (int, int) { return 0, row },
	"UPPER_DIAG_ROW": func(row, n int) (int, int) { return row, n },
	"LOWER_DIAG_ROW": func(row, n int) (int, int) { return 0, row + 1 },
	"UPPER_COL":      func(row, n int) (int, int) { return 0, row },
	"LOWER_COL":      func(row, n int) (int, int) { return row + 1, n },
	"UPPER_DIAG_COL": func(row, n int) (int, int) { return 0, row + 1 },
	"LOWER_DIAG_COL": func(row, n int) (int, int) { return row, n },
}

// parser reads one TSPLIB file (Reinelt, "TSPLIB 95"): lines "KEYWORD: value", and sections, a keyword on a
// line of its own and then numbers, however they are spread over the lines.
type parser struct {
	file   string
	lines  [][]byte // not yet read
	line   int      // number of the one read last
	tokens []string // of that line, not yet read

	name, weights, format string
	cities                int
	sections              int // that were read: what they were read by must not change behind them
	in                    *Instance
}

// parse reads the instance in data. What it refuses is an *apps.InputError that names the line.
func parse(file string, data []byte) (*Instance, error) {
	p := &parser{file: file, lines: bytes.Split(data, []byte("\n")), name: filepath.Base(file)}
	for {
		text, more := p.next()
		if !more || text == "EOF" {
			break
		}
		key, value, _ := strings.Cut(text, ":")
		if err := p.entry(strings.TrimSpace(key), strings.TrimSpace(value), text); err != nil {
			return nil, err
		}
	}
	if p.in == nil {
		return nil, p.wants("the end of the file", "an EDGE_WEIGHT_SECTION or a NODE_COORD_SECTION before it")
	}
	p.in.Name = p.name
	return p.in, nil
}

// entry reads what begins with the given keyword.
func (p *parser) entry(key, value, text string) error {
	switch key {
	case "NAME":
		if !printable(value) {
			return p.wants(value, "a NAME of at most 60 printable characters")
		}
		p.name = value
	case "COMMENT", "DISPLAY_DATA_TYPE", "NODE_COORD_TYPE":
	case "DIMENSION", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT":
		if p.sections > 0 {
			return p.wants(text, key+" before the sections")
		}
		return p.shape(key, value)
	case "TYPE":
		if value != "TSP" {
			return p.wants(value, "TYPE: TSP, the symmetric problem")
		}
	case "EDGE_WEIGHT_SECTION", "NODE_COORD_SECTION", "DISPLAY_DATA_SECTION":
		if err := p.section(key); err != nil {
			return err
		}
		p.sections++
		if len(p.tokens) > 0 {
			return p.wants(p.tokens[0], fmt.Sprintf("the end of the section for %d cities", p.cities))
		}
	default:
		return p.wants(text, "a keyword of a symmetric TSPLIB instance")
	}
	return nil
}

// shape reads how many cities there are, or how their distances are written.
func (p *parser) shape(key, value string) error {
	switch key {
	case "DIMENSION":
		n, err := strconv.Atoi(value)
		if err != nil || n < minCities || n > maxCities {
			return p.wants(value, fmt.Sprintf("a DIMENSION from %d to %d", minCities, maxCities))
		}
		p.cities = n
	case "EDGE_WEIGHT_TYPE":
		if metrics[value] == nil && value != "EXPLICIT" {
			return p.wants(value, "an EDGE_WEIGHT_TYPE of EUC_2D, CEIL_2D, GEO, ATT or EXPLICIT")
		}
		p.weights = value
	case "EDGE_WEIGHT_FORMAT":
		if formats[value] == nil && value != "FUNCTION" {
			return p.wants(value, "an EDGE_WEIGHT_FORMAT of FULL_MATRIX, {UPPER,LOWER}[_DIAG]_{ROW,COL}, or FUNCTION")
		}
		p.format = value
	}
	return nil
}

// section reads the numbers of a section.
func (p *parser) section(key string) error {
	if p.cities == 0 {
		return p.wants(key, "DIMENSION before it")
	}
	if key == "DISPLAY_DATA_SECTION" { // where to draw the cities: not used
		_, err := p.coordinates()
		return err
	}
	if p.in != nil {
		return p.wants(key, "one section with distances")
	}
	if key == "EDGE_WEIGHT_SECTION" {
		if p.weights != "EXPLICIT" || p.format == "" || p.format == "FUNCTION" {
			return p.wants(key, "EDGE_WEIGHT_TYPE: EXPLICIT and the EDGE_WEIGHT_FORMAT of a matrix before it")
		}
		return p.matrix(formats[p.format])
	}
	metric := metrics[p.weights]
	if metric == nil {
		return p.wants(key, "an EDGE_WEIGHT_TYPE of EUC_2D, CEIL_2D, GEO or ATT before it")
	}
	points, err := p.coordinates()
	if err != nil {
		return err
	}
	longest := 0.0
	p.in = newInstance("", p.cities, func(a, b int) int32 {
		d := metric(points[a], points[b])
		longest = max(longest, d)
		return int32(min(d, maxDistance))
	})
	if longest > maxDistance {
		return p.wants(fmt.Sprintf("cities %.0f apart", longest), fmt.Sprintf("distances of at most %d", maxDistance))
	}
	return nil
}

// coordinates reads a number, an x and a y for each city.
func (p *parser) coordinates() ([]point, error) {
	points := make([]point, p.cities)
	seen := make([]bool, p.cities)
	for range p.cities {
		city, err := p.number("the number of a city", 1, float64(p.cities))
		if err != nil {
			return nil, err
		}
		i := int(city) - 1
		if float64(int(city)) != city || seen[i] {
			return nil, p.wants(fmt.Sprint(city), "each city once")
		}
		seen[i] = true
		const farthest = 1e9
		if points[i].x, err = p.number("an x coordinate", -farthest, farthest); err != nil {
			return nil, err
		}
		if points[i].y, err = p.number("a y coordinate", -farthest, farthest); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// matrix reads the distances of which columns gives the order.
func (p *parser) matrix(columns func(row, n int) (from, to int)) error {
	n := p.cities
	const unread = -1
	dist := slices.Repeat([]int32{unread}, n*n)
	for a := range n {
		dist[a*n+a] = 0
		from, to := columns(a, n)
		for b := from; b < to; b++ {
			d, err := p.number("a distance", 0, maxDistance)
			if err != nil {
				return err
			}
			switch w := int32(d); {
			case float64(w) != d:
				return p.wants(fmt.Sprint(d), "a distance that is a whole number")
			case a == b: // said to be far, or 0, or anything: no tour uses it
			case dist[a*n+b] != unread && dist[a*n+b] != w:
				return p.wants(fmt.Sprint(d), fmt.Sprintf("a symmetric matrix: from city %d to %d it is %d", b+1,
					a+1, dist[a*n+b]))
			default:
				dist[a*n+b], dist[b*n+a] = w, w
			}
		}
	}
	p.in = &Instance{Cities: n, Dist: dist}
	return nil
}

// number reads one number of a section.
func (p *parser) number(what string, lo, hi float64) (float64, error) {
	want := fmt.Sprintf("%s from %.0f to %.0f", what, lo, hi)
	for len(p.tokens) == 0 {
		text, more := p.next()
		if !more {
			return 0, p.wants("the end of the file", want)
		}
		p.tokens = strings.Fields(text)
	}
	token := p.tokens[0]
	p.tokens = p.tokens[1:]
	x, err := strconv.ParseFloat(token, 64)
	if err != nil || math.IsNaN(x) || x < lo || x > hi {
		return 0, p.wants(token, want)
	}
	return x, nil
}

// next reads the next line that is not empty.
func (p *parser) next() (text string, more bool) {
	for len(p.lines) > 0 {
		text := strings.TrimSpace(string(p.lines[0]))
		p.lines = p.lines[1:]
		p.line++
		if text != "" {
			return text, true
		}
	}
	return "", false
}

// printable tells whether a name from a file may be shown on a terminal.
func printable(name string) bool {
	return len(name) <= 60 && strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}

func (p *parser) wants(got, want string) error {
	return &apps.InputError{What: fmt.Sprintf("%s:%d", p.file, p.line), Got: got, Want: want}
}
