package apps

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What is refused is named, with what would be allowed.
func TestInputErrorNamesTheThingAndWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		err  InputError
		want string
	}{
		{InputError{"N", "0", "a whole number from 1 to 31"}, `N: got "0", want a whole number from 1 to 31`},
		{InputError{"a.tsp:12", "", "a DIMENSION"}, `a.tsp:12: want a DIMENSION`},
		{InputError{"a.tsp:1", "one\ntwo\x1b[31m", "a keyword"}, `a.tsp:1: got "one\ntwo\x1b[31m", want a keyword`},
		{InputError{"N", strings.Repeat("9", 1000), "less"}, `N: got "` + strings.Repeat("9", 60) + `"..., want less`},
		{InputError{"N", strings.Repeat("é", 1000), "less"}, `N: got "` + strings.Repeat("é", 30) + `"..., want less`},
		{InputError{"N", "x" + strings.Repeat("é", 1000), "less"},
			`N: got "x` + strings.Repeat("é", 29) + `"..., want less`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Whatever was given, the error that quotes it is one short line without anything that a terminal would obey.
func TestInputErrorIsOneShortPrintableLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := InputError{What: "N", Got: string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "got")), Want: "a number"}
		line := e.Error()
		if strings.ContainsAny(line, "\n\r\x1b\x00") || !utf8.ValidString(line) {
			t.Fatalf("does not print on one line: %q", line)
		}
		if len(line) > 300 { // 60 bytes, each written as \xNN at worst, and the words around them
			t.Fatalf("%d bytes: %s", len(line), line)
		}
	})
}
