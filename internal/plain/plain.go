// Package plain makes text that others have written harmless where it is shown: on a terminal, in a log, on a page, in
// JSON. Escape sequences move the cursor, change titles and answer in the user's name; marks of direction show a
// name in another order.
//
// Whatever goes to the standard output or error of satin-peer goes through a Writer, so nothing has to be remembered
// where it is printed. What has to be a name, or one line, is made so where it comes in, by Name, or where it is
// printed, by Line. All of it is safe for concurrent use.
package plain

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Name puts question marks for what cannot be printed.
func Name(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, s)
}

// Clip cuts what a stranger calls something to 64 bytes.
func Clip(s string) string { return s[:min(len(s), 64)] }

// OneLine puts an error that has several lines into one.
func OneLine(err error) string {
	if err == nil {
		return "nobody knows why"
	}
	return strings.Join(strings.FieldsFunc(err.Error(), func(c rune) bool { return c == '\n' }), "; ")
}

// Line writes what would break a line, or make a terminal do something, as Go does in strings.
func Line(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// Text does the same but for ends of lines and tabs, in a way that stays valid in JSON.
func Text(s string) string {
	if harmless([]byte(s)) {
		return s
	}
	text, rest := escape(nil, []byte(s))
	return string(append(text, broken(rest)...))
}

// harmless says whether nothing has to be looked at more closely.
func harmless(p []byte) bool {
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\t' || c > '~' {
			return false
		}
	}
	return true
}

// escape appends p; rest is the beginning of a character that p ends with.
func escape(to, p []byte) (text, rest []byte) {
	for len(p) > 0 {
		if !utf8.FullRune(p) {
			return to, p
		}
		r, n := utf8.DecodeRune(p)
		switch {
		case r == '\n' || r == '\t' || strconv.IsPrint(r) && !(r == utf8.RuneError && n == 1):
			to = append(to, p[:n]...)
		case r == utf8.RuneError:
			to = append(to, broken(p[:1])...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			to = fmt.Appendf(to, `\u%04x\u%04x`, high, low)
		default:
			to = fmt.Appendf(to, `\u%04x`, r)
		}
		p = p[n:]
	}
	return to, nil
}

// broken is what stands for bytes that are no text.
func broken(p []byte) string { return strings.Repeat("\ufffd", len(p)) }

// A Writer passes text on as Text has it. What it is given may end in the middle of a character.
type Writer struct {
	mu   sync.Mutex
	to   io.Writer
	rest []byte // of a character that has begun
}

// NewWriter makes a writer.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer: if it fails, nothing is said of how much of p was written.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) == 0 && harmless(p) {
		return w.to.Write(p)
	}
	text, rest := escape(nil, append(w.rest, p...))
	w.rest = append([]byte(nil), rest...)
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
