package knapsack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/apptest"
)

const small = "small\nn 2\nc 5\nz 7\ntime 0.00\n1,3,2,1\n2,4,3,1\n-----\n"

// Files in Pisinger's form are read as they are meant.
func TestParse(t *testing.T) {
	second := "second\nn 1\nc 9\n1,8,9\n-----"
	for name, c := range map[string]struct {
		data    string
		number  int
		title   string
		optimum int64
	}{
		"as published":               {small + "\n", 1, "small", 7},
		"without a last new line":    {strings.TrimSpace(small), 1, "small", 7},
		"carriage returns":           {strings.ReplaceAll(small, "\n", "\r\n"), 1, "small", 7},
		"blank lines and blanks":     {"\n" + strings.ReplaceAll(small, "\n", " \n\n"), 1, "small", 7},
		"no z, time nor last column": {second, 1, "second", 0},
		"the second":                 {small + "\n\n" + second, 2, "second", 0},
		"the first of two":           {small + second, 1, "small", 7},
		"after one that is broken":   {"broken\n-----\n" + second, 2, "second", 0},
	} {
		f, err := parse(name, []byte(c.data), c.number)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if f.instance.Name != c.title || f.optimum != c.optimum {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A file that is not as Pisinger writes them, or has no instance of that number, is refused with the line and what
// belongs there.
func TestParseRefuses(t *testing.T) {
	const header = "x\nn 2\nc 5\n"
	for data, want := range map[string]string{
		"\x7fELF\x02\x01":                `f:1: got "\x7fELF\x02\x01", want the name of an instance`,
		" \n\n":                          `f: got "end of file", want the name of an instance`,
		"1,2,3,0\n":                      `f:1: got "1,2,3,0", want the name of an instance`,
		"x":                              `f: got "end of file", want "n" and a number`,
		"x\nc 5\n":                       `f:2: got "c 5", want "n" and a whole number from 1 to 100000`,
		"x\nn 0\n":                       `f:2: got "n 0", want "n" and a whole number from 1 to 100000`,
		"x\nn 100001\n":                  `f:2: got "n 100001", want "n" and a whole number from 1 to 100000`,
		"x\nn two\n":                     `f:2: got "n two", want "n" and a whole number from 1 to 100000`,
		"x\nn 2\nc -1\n":                 `f:3: got "c -1", want "c" and a whole number from 1 to 1000000000000000`,
		"x\nn 2\nc 99999999999999999999": `f:3: got "c 99999999999999999999", want "c" and a whole number from 1 to 1000000000000000`,
		header:                           `f: got "end of file", want the items`,
		header + "z -3\n":                `f:4: got "z -3", want "z" and a whole number from 0 to 9223372036854775807`,
		header + "z 3\n":                 `f: got "end of file", want the items`,
		header + "z 3\ntime 0.00":        `f: got "end of file", want the items`,
		header + "1,2\n":                 `f:4: got "1,2", want item 1 as number,profit,weight,taken`,
		header + "1;2;3;0\n":             `f:4: got "1;2;3;0", want item 1 as number,profit,weight,taken`,
		header + "1,x,3,0\n":             `f:4: got "1,x,3,0", want item 1 as number,profit,weight,taken`,
		header + "2,2,3,0\n":             `f:4: got "2,2,3,0", want item 1, as they are in order`,
		header + "1,0,3,0\n":             `f:4: got "1,0,3,0", want a profit and a weight from 1 to 1000000000`,
		header + "1,2,1000000001,0\n":    `f:4: got "1,2,1000000001,0", want a profit and a weight from 1 to 1000000000`,
		header + "1,2,3,2\n":             `f:4: got "1,2,3,2", want 0 or 1 at the end: whether the item is taken`,
		header + "1,2,3,0\n":             `f: got "end of file", want 2 items, not 1`,
		header + "1,2,3,0\n-----\n":      `f:5: got "-----", want item 2 as number,profit,weight,taken`,
		header + "1,2,3,0\n2,2,3,0\n":    `f: got "end of file", want ----- at the end of an instance`,
		header + "1,2,3\n2,2,3\n3,2,3,0": `f:6: got "3,2,3,0", want ----- after 2 items`,
	} {
		_, err := parse("f", []byte(data), 1)
		var input *apps.InputError
		if !errors.As(err, &input) || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", data, err, want)
		}
	}
	for number, want := range map[int]string{
		2: `--instance: got "2", want at most 1, the instances in f`,
		9: `--instance: got "9", want at most 1, the instances in f`,
	} {
		if _, err := parse("f", []byte(small), number); err == nil || err.Error() != want {
			t.Errorf("instance %d:\ngot  %v\nwant %s", number, err, want)
		}
	}
}

// A command line that makes no sense, or a file that cannot be read or written, is refused with what is wrong and what
// is allowed there.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, empty, truncated := write("good", small), write("empty", ""),
		write("truncated", small[:strings.Index(small, "2,4")])
	missing := filepath.Join(dir, "missing")
	const grain = ", want a whole number from 1 to 2147483647"
	apptest.Refuse(t, App, map[string]string{
		"":          `arguments: got "nothing", want exactly 1 (FILE, or N R I with --generate)`,
		"50 1000 1": `arguments: got "50 1000 1", want exactly 1 (FILE, or N R I with --generate)`,
		missing: missing +
			`: got "no such file or directory", want a file that can be read`,
		dir:                       dir + `: got "a directory", want a file`,
		empty:                     empty + `: got "an empty file", want some input`,
		truncated:                 truncated + `: got "end of file", want 2 items, not 1`,
		good + " --instance 0":    `--instance: got "0", want a whole number from 1 to 100000`,
		good + " --instance 2":    `--instance: got "2", want at most 1, the instances in ` + good,
		good + " --threshold 0":   `--threshold: got "0"` + grain,
		good + " --threshold -5":  `--threshold: got "-5"` + grain,
		good + " --output " + dir: dir + `: got "a directory", want a file that can be written`,
		good + " --output " + missing + "/x": missing +
			`/x: got "no such file or directory", want a file that can be written`,
		good + " --output " + dir + "/./good": dir +
			`/./good: got "a file that the run reads or writes", want another file to write to`,
		"--generate strong":                   `arguments: got "nothing", want exactly 3 (N R I)`,
		"--generate strong 1 2 3 4":           `arguments: got "1 2 3 4", want exactly 3 (N R I)`,
		"--generate strong 0 1000 1":          `N: got "0", want a whole number from 1 to 10000`,
		"--generate strong 10001 1000 1":      `N: got "10001", want a whole number from 1 to 10000`,
		"--generate strong 50 9 1":            `R: got "9", want a whole number from 10 to 1000000`,
		"--generate strong 50 1000 0":         `I: got "0", want a whole number from 1 to 100`,
		"--generate strong 50 1000 101":       `I: got "101", want a whole number from 1 to 100`,
		"--generate easy 50 1000 1":           `--generate: got "easy", want one of uncorrelated, weak, strong, inverse, almost, subset-sum, similar`,
		"--generate weak 5 50 1 --instance 2": `--instance: got "2", want a file to choose from, not --generate`,
	})
}

// FuzzParse looks for input that breaks the reader, or that is accepted and then cannot be written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small), 1)
	f.Add([]byte(small+small), 2)
	f.Add([]byte("x\nn 1\nc 1\n1,1,1\n-----"), 1)
	for _, name := range []string{"knapPI_1_50_1000.csv", "knapPI_11_20_1000.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, number int) {
		read, err := parse("f", data, number)
		if err != nil {
			var input *apps.InputError
			if !errors.As(err, &input) {
				t.Fatalf("%v is no InputError", err)
			}
			return
		}
		in := read.instance
		var b strings.Builder
		if err := in.write(&b, Solution{Taken: newSet(in.size())}); err != nil {
			t.Fatal(err)
		}
		again, err := parse("f", []byte(b.String()), 1)
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, b.String())
		}
		if again.instance.Name != in.Name || again.instance.Capacity != in.Capacity ||
			again.instance.size() != in.size() {
			t.Errorf("read %+v, then %+v", in, again.instance)
		}
	})
}
