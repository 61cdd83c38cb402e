package raytracer

import (
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/apptest"
)

// A scene that cannot be read is refused with its line and what is allowed there.
func TestBadFiles(t *testing.T) {
	const view = "v\nfrom 0 0 10\nat 0 0 0\nup 0 1 0\nangle 30\nhither 1\nresolution 3 3\n"
	for text, want := range map[string]string{
		"\x7fELF\x02":               `f.nff:1: got "\x7fELF\x02", want v, b, l, f, s, c, p or pp`,
		"# nothing but a comment\n": `f.nff:1: got "the end of the file", want a view, "v"`,
		"v\n":                       `f.nff:1: got "the end of the file", want from X Y Z`,
		"v\nfrom 1 2\n":             `f.nff:2: got "from 1 2", want from X Y Z`,
		"v\nat 1 2 3\n":             `f.nff:2: got "at 1 2 3", want from X Y Z`,
		"v\nfrom 1 2 x\n":           `f.nff:2: got "x", want from X Y Z with numbers from -1e+09 to 1e+09`,
		"v\nfrom 1 2 NaN\n":         `f.nff:2: got "NaN", want from X Y Z with numbers from -1e+09 to 1e+09`,
		"v\nfrom 1 2 1e10\n":        `f.nff:2: got "1e10", want from X Y Z with numbers from -1e+09 to 1e+09`,
		strings.Replace(view, "30", "180",
			1): `f.nff:5: got "180", want angle DEGREES with numbers from 0.001 to 179`,
		strings.Replace(view, "3 3", "0 3",
			1): `f.nff:7: got "0", want resolution WIDTH HEIGHT with numbers from 1 to 4096`,
		strings.Replace(view, "3 3", "3 99999",
			1): `f.nff:7: got "99999", want resolution WIDTH HEIGHT with numbers from 1 to 4096`,
		strings.Replace(view, "0 1 0", "0 0 4",
			1): `f.nff:7: got "a view along its own up", want from, at and up that are not on a line`,
		strings.Replace(view, "0 0 10", "0 0 0",
			1): `f.nff:7: got "a view along its own up", want from, at and up that are not on a line`,
		view + view:                               `f.nff:8: got "v", want one view`,
		view + "b 1 1\n":                          `f.nff:8: got "b 1 1", want b R G B`,
		view + "b 1 1 -1\n":                       `f.nff:8: got "-1", want b R G B with numbers from 0 to 1e+06`,
		view + "l 1 1 1 1\n":                      `f.nff:8: got "l 1 1 1 1", want l X Y Z [R G B]`,
		view + "l 1 1 1 1 1 -1\n":                 `f.nff:8: got "l 1 1 1 1 1 -1", want l X Y Z [R G B] with colours from 0 to 1e+06`,
		view + "f 1 1 1 1 1 1 1\n":                `f.nff:8: got "f 1 1 1 1 1 1 1", want f R G B Kd Ks Shine T INDEX`,
		view + "s 0 0 0 1\n":                      `f.nff:8: got "s", want a surface, "f", before the first object`,
		view + "f 1 1 1 1 1 1 1 1\ns 1 2 3\n":     `f.nff:9: got "s 1 2 3", want s X Y Z RADIUS`,
		view + "f 1 1 1 1 1 1 1 1\nc 1 2 3 4\n":   `f.nff:9: got "the end of the file", want c and, on each of two lines, X Y Z RADIUS`,
		view + "f 1 1 1 1 1 1 1 1\nc\n":           `f.nff:9: got "the end of the file", want c and, on each of two lines, X Y Z RADIUS`,
		view + "f 1 1 1 1 1 1 1 1\nc\n1 2 3\n":    `f.nff:10: got "1 2 3", want c and, on each of two lines, X Y Z RADIUS`,
		view + "f 1 1 1 1 1 1 1 1\nc 1 2 3\n":     `f.nff:9: got "c 1 2 3", want c and, on each of two lines, X Y Z RADIUS`,
		view + "f 1 1 1 1 1 1 1 1\np 2\n":         `f.nff:9: got "2", want p CORNERS and, on as many lines, X Y Z with numbers from 3 to 1000`,
		view + "f 1 1 1 1 1 1 1 1\np 1e6\n":       `f.nff:9: got "1e6", want p CORNERS and, on as many lines, X Y Z with numbers from 3 to 1000`,
		view + "f 1 1 1 1 1 1 1 1\np 3.5\n":       `f.nff:9: got "3.5", want a whole number of corners`,
		view + "f 1 1 1 1 1 1 1 1\np 3\n0 0 0\n":  `f.nff:10: got "the end of the file", want p CORNERS and, on as many lines, X Y Z`,
		view + "f 1 1 1 1 1 1 1 1\np 3\n0 0\n":    `f.nff:10: got "0 0", want p CORNERS and, on as many lines, X Y Z`,
		view + "f 1 1 1 1 1 1 1 1\npp 3\n0 0 0\n": `f.nff:10: got "0 0 0", want pp CORNERS and, on as many lines, X Y Z NX NY NZ`,
		view + "f 1 1 1 1 1 1 1 1\npp 3\n1 1 1 0 0 0\n2 2 2 1 1 1\n3 3 3 1 1 1": `f.nff:12: got "a normal of length 0", want normals that point somewhere`,
		view + strings.Repeat("l 1 1 1\n",
			maxLights+1): `f.nff:1008: got "more lights", want at most 1000`,
	} {
		_, err := parse("f.nff", text)
		var input *apps.InputError
		if !errors.As(err, &input) || err.Error() != want {
			t.Errorf("%.100q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// A cone is written as the format has it, three lines, or with its base behind its letter.
func TestLayoutsOfACone(t *testing.T) {
	const before = "v\nfrom 0 0 10\nat 0 0 0\nup 0 1 0\nangle 30\nhither 1\nresolution 3 3\nf 1 1 1 1 1 1 1 1\n"
	var trees [3]any
	for i, cone := range []string{"", "c 1 2 3 0.5\n4 5 6 0\n", "c\n1 2 3 0.5\n# its apex\n4 5 6 0\n"} {
		s, err := parse("f.nff", before+cone)
		if err != nil {
			t.Fatal(err)
		}
		trees[i] = s.tree
	}
	if !reflect.DeepEqual(trees[1], trees[2]) || reflect.DeepEqual(trees[0], trees[1]) {
		t.Errorf("%+v in three lines, %+v in two", trees[2], trees[1])
	}
}

// A command line that makes no sense, or a scene or picture that cannot be read or written, is refused with what is
// wrong and what is allowed there.
func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	empty, broken := filepath.Join(dir, "empty"), filepath.Join(dir, "broken.nff")
	for name, text := range map[string]string{empty: "", broken: "v\nfrom 1 2 3\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Refuse(t, App, map[string]string{
		"":                                 `arguments: got "nothing", want exactly 1 (SCENE: balls, mount, or an NFF file)`,
		"balls mount":                      `arguments: got "balls mount", want exactly 1 (SCENE: balls, mount, or an NFF file)`,
		"--factor=-1 balls":                `--factor: got "-1", want a whole number from 1 to 6`,
		"--factor=7 balls":                 `--factor: got "7", want a whole number from 1 to 6`,
		"--factor=10 mount":                `--factor: got "10", want a whole number from 1 to 9`,
		"--factor=2 " + broken:             `--factor: got "2", want none for a scene that is read from a file`,
		"--samples=0 balls":                `--samples: got "0", want a whole number from 1 to 16`,
		"--threshold=0 balls":              `--threshold: got "0", want a whole number from 1 to 16777216`,
		"--size=640 balls":                 `--size: got "640", want WIDTHxHEIGHT with sides from 1 to 4096, such as 640x480`,
		"--size=0x480 balls":               `--size: got "0x480", want WIDTHxHEIGHT with sides from 1 to 4096, such as 640x480`,
		"--size=640x5000 balls":            `--size: got "640x5000", want WIDTHxHEIGHT with sides from 1 to 4096, such as 640x480`,
		empty:                              empty + `: got "an empty file", want some input`,
		broken:                             broken + `:2: got "the end of the file", want at X Y Z`,
		dir:                                dir + `: got "a directory", want a file`,
		"teapot":                           `teapot: got "no such file or directory", want a file that can be read`,
		broken + " --output " + broken:     broken + `: got "a file that the run reads or writes", want another file to write to`,
		"balls --output " + dir:            dir + `: got "a directory", want a file that can be written`,
		"balls --output /none/of/this.png": `/none/of/this.png: got "no such file or directory", want a file that can be written`,
	})
}

// A scene that was read from a file is rendered, passes the check and is saved, pixel by pixel; a picture that is
// changed or empty does not pass, and the answer says where the picture is.
func TestApp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shapes.png")
	p, err := apptest.Setup(App, "testdata/shapes.nff --size 40x30 --output "+file)
	if err != nil {
		t.Fatal(err)
	}
	result := p.Sequential().(Tile)
	if err := p.Check(result); err != nil {
		t.Error(err)
	}
	if err := p.Save(result); err != nil {
		t.Fatal(err)
	}
	saved, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	picture, err := png.Decode(saved)
	if err != nil {
		t.Fatal(err)
	}
	if picture.Bounds() != result.Bounds() {
		t.Fatalf("saved %v", picture.Bounds())
	}
	for y := range 30 {
		for x := range 40 {
			r, g, b, a := picture.At(x, y).RGBA()
			if wr, wg, wb, wa := result.At(x, y).RGBA(); r != wr || g != wg || b != wb || a != wa {
				t.Fatalf("pixel %d, %d was saved as %v", x, y, picture.At(x, y))
			}
		}
	}
	result.Pixels[0]++
	if err := p.Check(result); err == nil || !strings.HasPrefix(err.Error(), "pixel 0, 0 has the colour [") {
		t.Errorf("check of a changed picture: %v", err)
	}
	if err := p.Check(Tile{Rect: result.Rect}); err == nil {
		t.Error("check of a picture without pixels")
	}
	apptest.Described(t, App, "scene.nff --output scene.png")
	if a := p.Answer(result); !strings.HasSuffix(a.Text, ", in "+file) || len(a.Fields["sha256"].(string)) != 64 {
		t.Errorf("answer %q %v", a.Text, a.Fields)
	}
}

// Whatever a file holds, it is refused in one printable line or is a scene that can be rendered.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"shapes.nff", "balls1.nff"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse("f.nff", text)
		if err != nil {
			var input *apps.InputError
			if !errors.As(err, &input) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("not a line of input error: %q", err)
			}
			return
		}
		c := newCamera(s.view, 3, 3, 1)
		for i := range 9 {
			level(s.pixel(c, i%3, i/3).x)
		}
	})
}
