package cli

import (
	"fmt"
	"strconv"
	"time"
)

// percent writes a share of 0 to 1. Nothing but all is 100 %.
func percent(share float64) string {
	if share < 1 {
		share = min(share, 0.999)
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// grouped writes n with its digits in groups of three.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// scaled writes a number of at least 0 with three digits and a unit: 950, 12.3k, 4.56M.
func scaled(x float64) string {
	units := []string{"", "k", "M", "G", "T"}
	for x >= 999.5 && len(units) > 1 {
		x, units = x/1000, units[1:]
	}
	digits := 2
	switch {
	case x == 0 || x >= 99.95:
		digits = 0
	case x >= 9.995:
		digits = 1
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + units[0]
}

// seconds writes how long something took.
func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// clock writes a time of day with its zone, for people.
func clock(t time.Time) string { return t.Local().Format(time.DateTime + " MST") }

// brief writes a time for people: 42s, 5m03s, 3h05m.
func brief(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}
