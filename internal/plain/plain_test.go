package plain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/satin-peer/satin/internal/plain"
)

// hostile are texts that do something where they are shown raw.
var hostile = []string{"\x1b[2J", "\x1b]0;title\x07", "\u009b31m", "a\rb", "a\bb", "\u202eabc", "\u2066x", "\x00", "\x7f",
	"\U000e0041", "\xff\x1b[c", "\u2028"}

// Nothing that a terminal obeys is left of any text, and what can be printed stays as it is.
func TestHarmless(t *testing.T) {
	for _, s := range append(hostile, strings.Join(hostile, "ü\n")) {
		for name, made := range map[string]string{"name": plain.Name(s), "line": plain.Line(s), "text": plain.Text(s)} {
			for _, r := range made {
				if unicode.IsControl(r) && (name != "text" || r != '\n') || unicode.Is(unicode.Cf, r) {
					t.Errorf("%s of %q has %q: %q", name, s, r, made)
				}
			}
		}
	}
	for _, s := range []string{"", "fib 18", "Grüße\n\tan alle 木🌳"} {
		if got := plain.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := plain.Line("a\nb\x1b[2J\tü\u202e"); got != `a\nb\x1b[2J\tü\u202e` {
		t.Errorf("a line is %q", got)
	}
	if got := plain.Name("a\nb\xffü"); got != "a?b?ü" {
		t.Errorf("a name is %q", got)
	}
}

// A writer does what Text does, wherever it is cut, and JSON stays JSON with the same content.
func TestWriter(t *testing.T) {
	for _, s := range append(hostile, "Grüße\n\tan alle 木🌳") {
		value, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{s, string(value)} {
			for cut := range len(text) {
				var b bytes.Buffer
				w := plain.NewWriter(&b)
				for _, part := range []string{text[:cut], text[cut:]} {
					if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
						t.Fatalf("%d of %d bytes are written: %v", n, len(part), err)
					}
				}
				if got := b.String(); got != plain.Text(text) {
					t.Fatalf("%q, cut at %d, became %q, want %q", text, cut, got, plain.Text(text))
				}
				var back, want string
				if text == string(value) {
					if err := json.Unmarshal(b.Bytes(), &back); err != nil {
						t.Fatalf("%q: %v", b.String(), err)
					}
					if _ = json.Unmarshal(value, &want); back != want {
						t.Fatalf("%q became %q", want, back)
					}
				}
			}
		}
	}
}

// What is said in one line stays one, and names stay short.
func TestOneLine(t *testing.T) {
	if got := plain.OneLine(errors.Join(errors.New("a"), errors.New("b\n"))); got != "a; b" {
		t.Errorf("two errors are %q", got)
	}
	if plain.OneLine(nil) == "" {
		t.Error("no error is nothing")
	}
	if short, long := plain.Clip("short"), plain.Clip(strings.Repeat("x", 1000)); short != "short" || len(long) != 64 {
		t.Errorf("names are %q and %q", short, long)
	}
}
