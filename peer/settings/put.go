package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
	"github.com/pelletier/go-toml/v2"
	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
)

// Put writes one setting into the configuration file at path, which is made with all settings explained if there is
// none: in place of its line, else after the one that explains it. Without values the setting is taken out. All other
// lines stay as they are. When says whether a daemon that runs takes it up.
//
// An *Error says what is allowed if the name or the value is not. Whatever happens, the file is whole: it is written
// beside and renamed. Several that write at once wait for each other, by a file beside it that stays.
func Put(path string, d Dirs, name string, values []string) (err error) {
	k := keyNamed(name)
	if k == nil {
		return &Error{"config", name, "a setting" + suggest(name, keyNames())}
	}
	line := ""
	if len(values) > 0 {
		if line, err = k.line(d, values); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", path, cause.Of(err))
	}
	lock := flock.New(LockPath(path)) // or two at once would both change what was there before, and one change be lost
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking %s: %w", path, cause.Of(err))
	}
	defer func() { _ = lock.Unlock() }()
	old, err := readLimited(path)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = Commented(d), nil
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, cause.Of(err))
	}
	l := &Loaded{Settings: Defaults(d), File: path, origins: map[string]string{}}
	changed, err := putLine(old, name, line)
	if err != nil {
		return l.syntax(err)
	}
	if err := l.decode(changed, d.Home); err != nil { // whoever comes next could not read it, to change it back
		return err
	}
	if err := replace(path, changed); err != nil {
		return fmt.Errorf("writing %s: %w", path, cause.Of(err))
	}
	return nil
}

// LockPath is the file beside a configuration file that whoever writes that has locked.
func LockPath(path string) string { return path + ".lock" }

// line is what the file says of a key with some values.
func (k *key) line(d Dirs, values []string) (string, error) {
	s := Defaults(d)
	var value any = values[0]
	if k.kind == listKind {
		value = values
	} else if len(values) > 1 {
		return "", &Error{k.name, values[1], "one value"}
	}
	if !k.set(&s, value) {
		return "", &Error{k.name, strings.Join(values, " "), k.want}
	}
	return k.name + " = " + k.text(&s), nil
}

// putLine replaces the line of a key; an empty one takes it out. What it makes is read again: all other keys must be as
// they were, else the file is written in a way that a line cannot change, such as an array over several lines.
func putLine(old []byte, name, line string) ([]byte, error) {
	at, err := positions(old)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(old), "\n")
	place, there := at[name]
	switch {
	case there && line == "":
		lines = slices.Delete(lines, place-1, place)
	case there:
		lines[place-1] = line
	case line != "":
		after := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "# "+name+" = ") })
		if after < 0 {
			after = len(lines) - 1
			for after > 0 && lines[after] == "" {
				after--
			}
		}
		lines = slices.Insert(lines, after+1, line)
	}
	changed := []byte(strings.Join(lines, "\n"))
	if !bytes.HasSuffix(changed, []byte("\n")) {
		changed = append(changed, '\n')
	}
	if !sameBut(name, old, changed, line) {
		return nil, fmt.Errorf("%s is written over several lines: change it by hand", name)
	}
	return changed, nil
}

// sameBut says whether two files differ in one key only, which the second has as a line says it.
func sameBut(name string, old, changed []byte, line string) bool {
	before, after, want := map[string]any{}, map[string]any{}, map[string]any{}
	if toml.Unmarshal(old, &before) != nil || toml.Unmarshal(changed, &after) != nil ||
		toml.Unmarshal([]byte(line), &want) != nil {
		return false
	}
	delete(before, name)
	maps.Copy(before, want)
	return fmt.Sprint(before) == fmt.Sprint(after) // maps are printed in the order of their keys
}

// replace writes a file beside another one and gives it its name and mode.
func replace(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the link stays
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return durable.Write(path, mode, true, durable.Bytes(text))
}
