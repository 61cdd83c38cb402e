package child

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What jobs print is for whoever reads the daemon's log, who has not asked for it: lines are cut, made printable, and
// so many at once are let through and then one in a while.
const (
	maxLine   = 400 // bytes
	lineBurst = 50
	lineEvery = time.Second
)

// lines makes lines of what a process prints.
type lines struct {
	begun   []byte    // of the next one
	spared  int       // lines that may come now
	since   time.Time // spared was counted up
	dropped int       // since the last line that was let through
}

// take gives the lines that end in b, which came now.
func (l *lines) take(b []byte, now time.Time) (list []string) {
	if l.since.IsZero() {
		l.spared, l.since = lineBurst, now
	}
	if more := int(now.Sub(l.since) / lineEvery); more > 0 {
		l.spared, l.since = min(l.spared+more, lineBurst), l.since.Add(time.Duration(more)*lineEvery)
	}
	for part := range bytes.Lines(b) {
		text, ended := bytes.CutSuffix(part, []byte("\n"))
		l.begun = append(l.begun, text[:min(len(text), maxLine-len(l.begun))]...)
		if !ended {
			break
		}
		whole := l.begun
		l.begun = l.begun[:0]
		switch {
		case len(whole) == 0 || bytes.HasPrefix(whole, []byte(ownMark)): // the child's own word is why it died
			continue
		case l.spared == 0: // at what is dropped nobody looks: there may be a flood of it
			l.dropped++
			continue
		}
		line := printable(whole)
		if line == "" {
			continue
		}
		if l.dropped > 0 {
			line += fmt.Sprintf(" (%d lines before it were dropped)", l.dropped)
			l.dropped = 0
		}
		l.spared--
		list = append(list, line)
	}
	return list
}

// printable puts question marks for what cannot be printed.
func printable(b []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) && r != '\t' {
			return '?'
		}
		return r
	}, string(b)))
}
