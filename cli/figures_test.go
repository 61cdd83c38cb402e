package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/apps"
)

// Figures are printed with units that people read, and no more digits than they know.
func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{percent(0), "0.0 %"}, {percent(0.1234), "12.3 %"}, {percent(0.99999), "99.9 %"}, {percent(1), "100.0 %"},
		{grouped(0), "0"}, {grouped(999), "999"}, {grouped(1000), "1,000"}, {grouped(1234567), "1,234,567"},
		{grouped(1<<64 - 1), "18,446,744,073,709,551,615"},
		{scaled(0), "0"}, {scaled(2.824), "2.82"}, {scaled(9.996), "10.0"}, {scaled(12.34), "12.3"},
		{scaled(999.4), "999"},
		{scaled(999.6), "1.00k"}, {scaled(12_340), "12.3k"}, {scaled(99_960), "100k"}, {scaled(4_560_000), "4.56M"},
		{scaled(7.89e9), "7.89G"}, {scaled(1e12), "1.00T"}, {scaled(1e18), "1000000T"},
		{seconds(1234567 * time.Microsecond), "1.235 s"},
		{brief(0), "0s"}, {brief(59_499 * time.Millisecond), "59s"}, {brief(59_500 * time.Millisecond), "1m00s"},
		{brief(303 * time.Second), "5m03s"}, {brief(3*time.Hour + 5*time.Minute), "3h05m"},
		{brief(100 * time.Hour), "100h00m"},
		{oneLine("a\nb\x1b[2J\tü\u202e"), `a\nb\x1b[2J\tü\u202e`},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// Whatever is printed, nothing of it is obeyed by the terminal, though nobody has made a line of it; only who draws on
// the screen gets through.
func TestConsoleIsHarmless(t *testing.T) {
	f := newFake()
	list := []apps.App{{Name: "mine", Summary: "a\x1b[2J\u009bb", Setup: testApps()[0].Setup}}
	if code := run([]string{"apps"}, list, f.console); code != 0 {
		t.Fatalf("exit code %d: %s", code, &f.err)
	}
	if got := f.out.String(); !strings.Contains(got, `a\u001b[2J\u009bb`) {
		t.Errorf("printed is %q", got)
	}
	f = newFake()
	run([]string{"apps", "\x1b]0;mine\x07"}, list, f.console)
	if got := f.err.String(); got == "" || strings.ContainsAny(got, "\x1b\x07") {
		t.Errorf("complained is %q", got)
	}
}
