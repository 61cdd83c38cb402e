package apps

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// wantInputError fails unless err is an *InputError with this message.
func wantInputError(t *testing.T, err error, want string) {
	t.Helper()
	var input *InputError
	if !errors.As(err, &input) {
		t.Errorf("got %v, want an InputError: %s", err, want)
	} else if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A number in range is read; any other text is refused with the range.
func TestInt(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "31": 31, "+7": 7, "007": 7} {
		if n, err := Int("N", text, 1, 31); n != want || err != nil {
			t.Errorf("Int(%q) = %d, %v", text, n, err)
		}
	}
	const allowed = ", want a whole number from 1 to 31"
	for text, got := range map[string]string{
		"0": "0", "-4": "-4", "32": "32", "": "nothing", "x": "x", "1.5": "1.5", "1e1": "1e1", " 5": " 5",
		"99999999999999999999": "99999999999999999999",
	} {
		_, err := Int("N", text, 1, 31)
		wantInputError(t, err, `N: got "`+got+`"`+allowed)
	}
}

// A number below the range, an infinite one and one that is not a number are refused, with the range.
func TestFloatRange(t *testing.T) {
	if err := FloatRange("--epsilon", 0.5, 0, 1); err != nil {
		t.Error(err)
	}
	wantInputError(t, FloatRange("--epsilon", -1, 1e-12, 1), `--epsilon: got "-1", want a number from 1e-12 to 1`)
	wantInputError(t, FloatRange("--epsilon", math.NaN(), 0, 1), `--epsilon: got "NaN", want a number from 0 to 1`)
	wantInputError(t, FloatRange("--epsilon", math.Inf(1), 0, 1), `--epsilon: got "+Inf", want a number from 0 to 1`)
}

// A wrong number of arguments is refused in one form: what was written, and what is wanted.
func TestArgCount(t *testing.T) {
	if err := ArgCount([]string{"8"}, 1, "N"); err != nil {
		t.Error(err)
	}
	wantInputError(t, ArgCount(nil, 1, "N"), `arguments: got "nothing", want exactly 1 (N)`)
	wantInputError(t, ArgCount([]string{"8", "9"}, 1, "N"), `arguments: got "8 9", want exactly 1 (N)`)
	wantInputError(t, ArgCount([]string{"8"}, 0, ""), `arguments: got "8", want none`)
}

// What is no file, is empty or longer than allowed, or cannot be read is refused with its name and the reason.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good", "12345")
	if data, err := ReadFile(good, 5); string(data) != "12345" || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
	_, err := ReadFile(good, 4)
	wantInputError(t, err, good+`: got "a larger file", want at most 4 bytes`)
	empty := write("empty", "")
	_, err = ReadFile(empty, 4)
	wantInputError(t, err, empty+`: got "an empty file", want some input`)
	_, err = ReadFile(dir, 4)
	wantInputError(t, err, dir+`: got "a directory", want a file`)
	missing := filepath.Join(dir, "missing")
	_, err = ReadFile(missing, 4)
	wantInputError(t, err, missing+`: got "no such file or directory", want a file that can be read`)
	_, err = ReadFile("", 4)
	wantInputError(t, err, `file name: got "nothing", want a file that can be read`)
	_, err = ReadFile(os.DevNull, 4)
	wantInputError(t, err, os.DevNull+`: got "a device, pipe or socket", want a file`)
	_, err = ReadFile("a\x00b", 4)
	wantInputError(t, err, `"a\x00b": got "invalid argument", want a file that can be read`)
}
