package preferences

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Hours are a part of each of some days of the week. Those whose end is not after their begin end on the next day.
type Hours struct {
	days       [7]bool // of the begin, Sunday first, as time.Weekday counts
	begin, end int     // minutes since midnight, 0 to 24 hours
	text       string
}

var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// ParseHours reads hours as they are written in settings: "22:00-06:00" for every day, "mon-fri/18:00-08:00" or
// "sat/00:00-24:00" for some.
func ParseHours(s string) (h Hours, ok bool) {
	h.text = strings.ToLower(s)
	of, span, found := strings.Cut(h.text, "/")
	if !found {
		of, span = "mon-sun", h.text
	}
	first, last, several := strings.Cut(of, "-")
	if !several {
		last = first
	}
	from, to := slices.Index(days, first), slices.Index(days, last)
	begin, end, found := strings.Cut(span, "-")
	if from < 0 || to < 0 || !found {
		return h, false
	}
	for d := from; ; d = (d + 1) % len(days) {
		h.days[d] = true
		if d == to {
			break
		}
	}
	var began, ended bool
	h.begin, began = minutes(begin)
	h.end, ended = minutes(end)
	return h, began && ended && h.begin < dayMinutes
}

const dayMinutes = 24 * 60

// minutes reads a time of the day, from 00:00 to 24:00.
func minutes(s string) (int, bool) {
	var h, m int
	if len(s) != len("00:00") {
		return 0, false
	}
	if n, err := fmt.Sscanf(s, "%02d:%02d", &h, &m); n != 2 || err != nil || h < 0 || m < 0 || m > 59 {
		return 0, false
	}
	return h*60 + m, h*60+m <= dayMinutes
}

// at says whether a time is in the hours.
func (h *Hours) at(t time.Time) bool {
	now, today := t.Hour()*60+t.Minute(), t.Weekday()
	if h.begin < h.end {
		return h.days[today] && h.begin <= now && now < h.end
	}
	yesterday := (today + 6) % 7
	return h.days[today] && h.begin <= now || h.days[yesterday] && now < h.end
}

// within says whether a time is in any of the hours; none are always.
func within(of []Hours, t time.Time) bool {
	return len(of) == 0 || slices.ContainsFunc(of, func(h Hours) bool { return h.at(t) })
}

func describe(of []Hours) string {
	texts := make([]string, len(of))
	for i, h := range of {
		texts[i] = h.text
	}
	return strings.Join(texts, ", ")
}
