package tsp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/apptest"
)

func read(t *testing.T, file string) *Instance {
	t.Helper()
	in, err := load(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TSPLIB files are read, with the distances that the library defines.
func TestFiles(t *testing.T) {
	pools := apptest.Pools(t)
	for file, optimum := range map[string]int64{"random60-1.tsp": 61263, "petersen.tsp": 11, "capitals15.tsp": 10316} {
		in := read(t, file)
		want := solveAlone(Problem{Map: in})
		if want.Length != optimum {
			t.Errorf("%s: tour of length %d, want %d", file, want.Length, optimum)
		}
		for workers, pool := range pools {
			t.Run(file+" "+workers, func(t *testing.T) {
				solved(t, pool, Problem{Map: in, Threshold: defaultThreshold}, want)
			})
		}
	}
	if got := heldKarp(read(t, "capitals15.tsp")); got != 10316 {
		t.Errorf("capitals15: %d by dynamic programming", got)
	}
	if in := read(t, "random60-1.tsp"); !slices.Equal(in.Dist, randomInstance(60, 1).Dist) {
		t.Error("random60-1.tsp is not what --random 60 --seed 1 makes")
	}
}

// TestDistances takes pairs of points whose distance the rules of TSPLIB make unequal to what others would.
func TestDistances(t *testing.T) {
	for _, c := range []struct {
		metric string
		a, b   point
		want   float64
	}{
		{"EUC_2D", point{0, 0}, point{1, 1}, 1},
		{"EUC_2D", point{0, 0}, point{1.5, 0}, 2},
		{"EUC_2D", point{-2, 3}, point{1, -1}, 5},
		{"CEIL_2D", point{0, 0}, point{1, 1}, 2},
		{"CEIL_2D", point{0, 0}, point{3, 4}, 5},
		{"ATT", point{0, 0}, point{10, 0}, 4},   // root of 10, 3.16, is rounded up
		{"ATT", point{0, 0}, point{30, 10}, 10}, // the root of 100 is 10 exactly
		{"ATT", point{0, 0}, point{12, 0}, 4},   // 3.79
		{"GEO", point{52.22, 4.54}, point{37.59, 23.44}, 2167},
		{"GEO", point{53.21, -6.16}, point{38.43, -9.08}, 1644},
		{"GEO", point{0, 179.59}, point{0, -179.59}, 4}, // minutes, and across the date line
		{"GEO", point{10.30, 20.30}, point{10.30, 20.30}, 1},
	} {
		if got := metrics[c.metric](c.a, c.b); got != c.want {
			t.Errorf("%s of %v and %v: %v, want %v", c.metric, c.a, c.b, got, c.want)
		}
	}
}

// TestFormats writes one matrix in every format; one city is far from itself, which must not matter.
func TestFormats(t *testing.T) {
	want := newInstance("m", 4, func(a, b int) int32 { return int32(10*a + b) })
	for format, columns := range formats {
		var b strings.Builder
		fmt.Fprintf(&b,
			"NAME : m\nTYPE : TSP\r\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : %s\nEDGE_WEIGHT_SECTION\n", format)
		for row := range 4 {
			from, to := columns(row, 4)
			for column := from; column < to; column++ {
				if row == column {
					b.WriteString("99999 ")
				} else {
					fmt.Fprint(&b, want.dist(uint8(row), uint8(column)), "\n\n"[:1+row%2])
				}
			}
		}
		b.WriteString("\nEOF\nwhatever follows")
		in, err := parse("m.tsp", []byte(b.String()))
		if err != nil {
			t.Errorf("%s: %v", format, err)
		} else if !slices.Equal(in.Dist, want.Dist) || in.Name != "m" {
			t.Errorf("%s: %s %v, want %v", format, in.Name, in.Dist, want.Dist)
		}
	}
}

// A file that is not an instance of the symmetric problem, or one that is too large, is refused with the line and what
// belongs there.
func TestBadFiles(t *testing.T) {
	const head = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
	const points = "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
	for text, want := range map[string]string{
		"\x7fELF\x02\x01":                                     `f.tsp:1: got "\x7fELF\x02\x01", want a keyword of a symmetric TSPLIB instance`,
		"TYPE: ATSP":                                          `f.tsp:1: got "ATSP", want TYPE: TSP, the symmetric problem`,
		"NAME: \x1b[2J":                                       `f.tsp:1: got "\x1b[2J", want a NAME of at most 60 printable characters`,
		"\nDIMENSION: 2":                                      `f.tsp:2: got "2", want a DIMENSION from 3 to 128`,
		"DIMENSION: 129":                                      `f.tsp:1: got "129", want a DIMENSION from 3 to 128`,
		"DIMENSION: -3":                                       `f.tsp:1: got "-3", want a DIMENSION from 3 to 128`,
		"DIMENSION: many":                                     `f.tsp:1: got "many", want a DIMENSION from 3 to 128`,
		"DIMENSION: 3\n":                                      `f.tsp:2: got "the end of the file", want an EDGE_WEIGHT_SECTION or a NODE_COORD_SECTION before it`,
		"EDGE_WEIGHT_TYPE: X":                                 `f.tsp:1: got "X", want an EDGE_WEIGHT_TYPE of EUC_2D, CEIL_2D, GEO, ATT or EXPLICIT`,
		"EDGE_WEIGHT_FORMAT:":                                 `f.tsp:1: want an EDGE_WEIGHT_FORMAT of FULL_MATRIX, {UPPER,LOWER}[_DIAG]_{ROW,COL}, or FUNCTION`,
		"FIXED_EDGES_SECTION":                                 `f.tsp:1: got "FIXED_EDGES_SECTION", want a keyword of a symmetric TSPLIB instance`,
		"NODE_COORD_SECTION":                                  `f.tsp:1: got "NODE_COORD_SECTION", want DIMENSION before it`,
		"DIMENSION: 3\nNODE_COORD_SECTION":                    `f.tsp:2: got "NODE_COORD_SECTION", want an EDGE_WEIGHT_TYPE of EUC_2D, CEIL_2D, GEO or ATT before it`,
		"DIMENSION: 3\nEDGE_WEIGHT_SECTION":                   `f.tsp:2: got "EDGE_WEIGHT_SECTION", want EDGE_WEIGHT_TYPE: EXPLICIT and the EDGE_WEIGHT_FORMAT of a matrix before it`,
		head + "0 1 2 1 0 3 2 3":                              `f.tsp:6: got "the end of the file", want a distance from 0 to 67108863`,
		head + "0 1 2\n1 0 3\n2 4 0":                          `f.tsp:8: got "4", want a symmetric matrix: from city 2 to 3 it is 3`,
		head + "0 1 2\n-1 0 3\n2 3 0":                         `f.tsp:7: got "-1", want a distance from 0 to 67108863`,
		head + "0 1 2\n1.5 0 3\n2 3 0":                        `f.tsp:7: got "1.5", want a distance that is a whole number`,
		head + "0 1e9 2\n":                                    `f.tsp:6: got "1e9", want a distance from 0 to 67108863`,
		head + "0 1 2\n1 0 3\n2 3 0 7":                        `f.tsp:8: got "7", want the end of the section for 3 cities`,
		head + "0 1 2\n1 0 3\nEOF":                            `f.tsp:8: got "EOF", want a distance from 0 to 67108863`,
		head + "0 1 2 1 0 3 2 3 0\nEDGE_WEIGHT_SECTION":       `f.tsp:7: got "EDGE_WEIGHT_SECTION", want one section with distances`,
		head + "0 1 2 1 0 3 2 3 0\nDIMENSION: 4":              `f.tsp:7: got "DIMENSION: 4", want DIMENSION before the sections`,
		points + "1 0 0\n2 1 1\n3 0 1\nEDGE_WEIGHT_TYPE: GEO": `f.tsp:7: got "EDGE_WEIGHT_TYPE: GEO", want EDGE_WEIGHT_TYPE before the sections`,
		"DIMENSION: 3\nDISPLAY_DATA_SECTION\n1 0 0\n2 1 1\n3 0 1\nDIMENSION: 3": `f.tsp:6: got "DIMENSION: 3", want DIMENSION before the sections`,
		points + "1 0 0\n2 1 1\n2 0 1\n":                                        `f.tsp:6: got "2", want each city once`,
		points + "1 0 0\n2 1 1\n4 0 1\n":                                        `f.tsp:6: got "4", want the number of a city from 1 to 3`,
		points + "1 0 0\n2 1 NaN\n":                                             `f.tsp:5: got "NaN", want a y coordinate from -1000000000 to 1000000000`,
		points + "1 0 0\n2 1 \n":                                                `f.tsp:6: got "the end of the file", want a y coordinate from -1000000000 to 1000000000`,
		points + "1 0 0\n2 1 1\n3 1e9 0\n":                                      `f.tsp:6: got "cities 1000000000 apart", want distances of at most 67108863`,
		"DIMENSION: 3\nDISPLAY_DATA_SECTION\n1 0 0\nx":                          `f.tsp:4: got "x", want the number of a city from 1 to 3`,
	} {
		_, err := parse("f.tsp", []byte(text))
		var input *apps.InputError
		if !errors.As(err, &input) || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// A command line that makes no sense, or a file that cannot be read or written, or would be read and written, is
// refused with what is wrong and what is allowed there.
func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	input, link := filepath.Join(dir, "in.tsp"), filepath.Join(dir, "link")
	text, err := os.ReadFile("testdata/petersen.tsp")
	if err := errors.Join(err, os.WriteFile(input, text, 0o600), os.Symlink(input, link)); err != nil {
		t.Fatal(err)
	}
	empty, big := filepath.Join(dir, "empty"), filepath.Join(dir, "big")
	for name, size := range map[string]int{empty: 0, big: maxFile + 1} {
		if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Refuse(t, App, map[string]string{
		"":                          `arguments: got "nothing", want exactly 1 (FILE, or --random N)`,
		"a b":                       `arguments: got "a b", want exactly 1 (FILE, or --random N)`,
		"--random=20 a":             `arguments: got "a and --random", want FILE or --random N, not both`,
		"--random=2":                `--random: got "2", want a whole number from 3 to 128`,
		"--random=-1":               `--random: got "-1", want a whole number from 3 to 128`,
		"--random=1000000":          `--random: got "1000000", want a whole number from 3 to 128`,
		"--random=9 --threshold=-1": `--threshold: got "-1", want a whole number from 0 to 16384`,
		"--seed 2 a":                `--seed: got "2", want none without --random`,
		"--weights random a":        `--weights: got "random", want none without --random`,
		"--random=9 --weights=even": `--weights: got "even", want square or random`,
		empty:                       empty + `: got "an empty file", want some input`,
		big:                         big + `: got "a larger file", want at most 1048576 bytes`,
		dir:                         dir + `: got "a directory", want a file`,
		filepath.Join(dir, "none"): filepath.Join(dir, "none") +
			`: got "no such file or directory", want a file that can be read`,
		input + " --tour=" + input:        input + `: got "a file that the run reads or writes", want another file to write to`,
		input + " --tour=" + link:         link + `: got "a file that the run reads or writes", want another file to write to`,
		"--random=9 --tour=" + dir:        dir + `: got "a directory", want a file that can be written`,
		"--random=9 --tour=/none/of/this": `/none/of/this: got "no such file or directory", want a file that can be written`,
	})
}

// An instance from a file is solved, passes the check and is saved as TSPLIB has it; a tour that visits not every city
// once, or is longer than it says, does not pass.
func TestApp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.tour")
	p, err := apptest.Setup(App, "testdata/petersen.tsp --threshold 0 --tour "+file)
	if err != nil {
		t.Fatal(err)
	}
	result := p.Sequential()
	if err := p.Check(result); err != nil {
		t.Error(err)
	}
	for what, wrong := range map[string]Tour{
		"the tour visits 2 cities of 10": {Length: 4, Order: []uint8{0, 1}},
		"the tour visits city 1 twice":   {Length: 15, Order: []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 0}},
		"the tour visits city 11 of 10":  {Length: 15, Order: []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 10}},
		"the tour is 16 long, not 11":    {Length: 11, Order: ascending(10)},
	} {
		if err := p.Check(wrong); err == nil || err.Error() != what {
			t.Errorf("check of %v: %v, want %s", wrong, err, what)
		}
	}
	if err := p.Save(result); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(saved), "\n")
	if lines[0] != "NAME: petersen.tour" || lines[1] != "COMMENT: length 11" || lines[5] != "1" ||
		len(lines) != 5+10+3 {
		t.Errorf("saved %q", saved)
	}
	apptest.Described(t, App, "berlin52.tsp", "att48.tsp --tour att48.tour")
	if a := p.Answer(result); !strings.HasPrefix(a.Text, "petersen: length 11\n1 ") || a.Fields["length"] != int64(11) {
		t.Errorf("answer %q %v", a.Text, a.Fields)
	}
}

// Whatever a file holds, it is refused in one printable line or has distances that are the same both ways; small ones
// get the shortest tour.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"random60-1.tsp", "petersen.tsp", "capitals15.tsp"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := parse("f.tsp", data)
		if err != nil {
			var input *apps.InputError
			if !errors.As(err, &input) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("not a line of input error: %q", err)
			}
			return
		}
		for a := range in.Cities {
			for b := range in.Cities {
				if d := in.Dist[a*in.Cities+b]; d < 0 || d > maxDistance || d != in.Dist[b*in.Cities+a] {
					t.Fatalf("from city %d to %d it is %d, back %d", a, b, d, in.Dist[b*in.Cities+a])
				}
			}
		}
		if in.Cities < 8 {
			if got, want := solveAlone(Problem{Map: in}).Length, heldKarp(in); got != want {
				t.Fatalf("tour of length %d, want %d", got, want)
			}
		}
	})
}
