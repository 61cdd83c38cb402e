package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/cause"
)

// A Value is one setting as it is in force.
type Value struct {
	Key    string // its name in the file
	Text   string // its value as the file would have it
	Origin string // "default", "--workers", "SATIN_WORKERS", or the file and line
}

// Values lists all settings in the order of the commented file.
func (l *Loaded) Values() []Value {
	var values []Value
	for _, k := range keys() {
		origin := l.origins[k.name]
		if origin == "" {
			origin = "default"
		}
		values = append(values, Value{k.name, k.text(&l.Settings), origin})
	}
	return values
}

// text writes the key's value in TOML.
func (k *key) text(s *Settings) string {
	switch field := k.field(s).(type) {
	case *string:
		return quote(*field)
	case *bool:
		return strconv.FormatBool(*field)
	case *int:
		return strconv.Itoa(*field)
	case *time.Duration:
		return quote(field.String())
	case *[]string:
		quoted := make([]string, len(*field))
		for i, e := range *field {
			quoted[i] = quote(e)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	panic(fmt.Sprintf("key %s has a field of another type", k.name))
}

// quote writes a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// lineWidth is how wide the comments of the file are.
const lineWidth = 100

// Commented is a configuration file that changes nothing: every setting is explained and commented out, with
// its default.
func Commented(d Dirs) []byte {
	var b bytes.Buffer
	s := Defaults(d)
	b.WriteString(
		"# Settings of satin-peer. Take away the \"# \" before a key to set it; the values here are the defaults.\n")
	b.WriteString(
		"# Variables such as SATIN_WORKERS override this file, flags such as --workers override both. What is in force: satin-peer config.\n")
	for _, k := range keys() {
		if k.title != "" {
			fmt.Fprintf(&b, "\n\n## %s\n", k.title)
		}
		b.WriteByte('\n')
		for _, line := range wrap(strings.Join(k.about, " "), lineWidth) {
			b.WriteString("# " + line + "\n")
		}
		b.WriteString("# " + k.name + " = " + k.text(&s) + "\n")
	}
	return b.Bytes()
}

// wrap breaks a text into lines of at most width bytes, if no word is longer.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// ErrExists is what WriteCommented's error wraps when there is a file already.
var ErrExists = errors.New("there is one already")

// WriteCommented writes the commented file to path, making its directory. It never changes a file that is there.
func WriteCommented(path string, d Dirs) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", path, cause.Of(err))
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing %s: %w; move it away first", path, ErrExists)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, cause.Of(err))
	}
	_, err = file.Write(Commented(d))
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, cause.Of(err)), os.Remove(path))
	}
	return nil
}
