package satin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("option.both", withBoth, satin.Certificate(func(n int, s string) (bool, error) {
		if s == "wrong" {
			return false, errors.New("it is wrong")
		}
		if s == "" {
			return false, satin.ErrNothing
		}
		return s == "proof", nil
	}), satin.Essence(func(n int, s string) (string, error) { return strings.ToLower(s), nil }))
	satin.RegisterErr("option.exact", withExact, satin.Exact(), satin.Unlike(func(n int) string {
		return map[bool]string{true: "it is odd"}[n%2 != 0]
	}), satin.Small(7))
}

func withBoth(_ *satin.Frame, n int) string { return fmt.Sprint(n) }

func withExact(_ *satin.Frame, n int) (int, error) { return n, nil }

func mistyped(_ *satin.Frame, n int) int { return n }

// What a function was registered with is what is done with its results: a proof or a refutation is the last word, the
// essence is compared, and Unlike is asked about arguments.
func TestOptions(t *testing.T) {
	f, _ := engine.Lookup("option.both")
	for said, want := range map[string]string{"proof": "proof true <nil>", "A": "a false <nil>",
		"wrong": "wrong false it is wrong", "": " false satin: the result says nothing"} {
		essence, proven, err := f.Judge(1, said)
		if got := fmt.Sprint(essence, " ", proven, " ", err); got != want {
			t.Errorf("%q is judged %q, want %q", said, got, want)
		}
	}
	if f, _ = engine.Lookup("option.exact"); f.Alike != engine.Exact || f.Essence != nil ||
		f.Unlike(3) != "it is odd" || f.Unlike(4) != "" || f.Small != 7 {
		t.Errorf("Exact, Unlike and Small: %+v", f)
	}
}

// An option about other types than the function's is refused where it is registered.
func TestMistypedOptions(t *testing.T) {
	for want, o := range map[string]satin.Option{
		"Checked is about string":       satin.Checked(func(string) error { return nil }),
		"Essence is about uint":         satin.Essence(func(int, uint) (uint, error) { return 0, nil }),
		"Certificate is about string":   satin.Certificate(func(string, int) (bool, error) { return true, nil }),
		"Unlike is about bool":          satin.Unlike(func(bool) string { return "" }),
		"Small is about string":         satin.Small("small"),
		"its small instance is refused": satin.Small(0),
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) || !strings.Contains(p, "option.mistyped") {
					t.Errorf("it panics with %s, want %s", p, want)
				}
			}()
			satin.Register("option.mistyped", mistyped, o, satin.Checked(func(n int) error {
				return map[int]error{0: errors.New("too small")}[n]
			}))
		}()
	}
}
