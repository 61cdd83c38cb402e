package wan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of files; a scenario and everything it reads are refused past them.
const (
	MaxFileSize = 4 << 20 // bytes
	maxDepth    = 8       // files that read files
	maxCommands = 100_000 // commands, all files together
	maxSleep    = 24 * time.Hour
	leastSleep  = 0.01 // milliseconds, but for 0: a loop runs at most 100,000 times a second
	maxSeconds  = 1e7  // in traces: about four months
)

// A SyntaxError says where a scenario or trace is wrong and what would be right.
type SyntaxError struct {
	File string
	Line int // from 1; 0 = the file as a whole
	Text string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Text)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// fields reads the words of one line from left to right and keeps the first error.
type fields struct {
	file  string
	line  int
	words []string
	err   error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = &SyntaxError{f.file, f.line, fmt.Sprintf(format, args...)}
	}
}

// word takes the next word; what names it in errors.
func (f *fields) word(what string) string {
	if len(f.words) == 0 {
		f.fail("%s is missing", what)
		return ""
	}
	w := f.words[0]
	f.words = f.words[1:]
	return w
}

// number takes a decimal number within [low, high].
func (f *fields) number(what string, low, high float64) float64 {
	w := f.word(what)
	if f.err != nil {
		return low
	}
	x, err := strconv.ParseFloat(w, 64)
	if err != nil || math.IsNaN(x) || strings.ContainsAny(w, "xXpP_") {
		f.fail("%s %q is not a decimal number", what, clip(w))
		return low
	}
	if x < low || x > high {
		f.fail("%s %s is outside %s to %s", what, clip(w), plain(low), plain(high))
		return low
	}
	return x
}

// integer takes a whole number within [low, high].
func (f *fields) integer(what string, low, high int) int {
	w := f.word(what)
	if f.err != nil {
		return low
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < low || n > high {
		f.fail("%s %q is not a whole number from %d to %d", what, clip(w), low, high)
		return low
	}
	return n
}

// conditions takes a bandwidth in bytes per second and a latency in seconds.
func (f *fields) conditions() Conditions {
	bandwidth := f.number("bandwidth (bytes per second)", minBandwidth, maxBandwidth)
	latency := f.number("latency (seconds, one way)", 0, maxLatency.Seconds())
	return Conditions{bandwidth, seconds(latency)}
}

// end refuses words that are left over.
func (f *fields) end(command string) error {
	if f.err == nil && len(f.words) > 0 {
		f.fail("%s: %q is one word too many", command, clip(f.words[0]))
	}
	return f.err
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// clip keeps a foreign word short enough for an error line.
func clip(w string) string {
	const most = 40
	if len(w) > most {
		return w[:most] + "…"
	}
	return w
}

// lines splits a file into lines of words without comments, refusing what is too large or not text.
func lines(file string, data []byte) ([]fields, error) {
	if len(data) > MaxFileSize {
		return nil, &SyntaxError{file, 0, fmt.Sprintf("%d bytes; at most %d are read", len(data), MaxFileSize)}
	}
	var all []fields
	for i, text := range strings.Split(string(data), "\n") {
		if strings.ContainsRune(text, 0) {
			return nil, &SyntaxError{file, i + 1, "a zero byte: this is not a text file"}
		}
		text, _, _ = strings.Cut(text, "#")
		if words := strings.Fields(text); len(words) > 0 {
			all = append(all, fields{file: file, line: i + 1, words: words})
		}
	}
	return all, nil
}
