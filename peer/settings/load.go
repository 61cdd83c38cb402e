package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/xdg"
	"github.com/pelletier/go-toml/v2"
	"github.com/satin-peer/satin/internal/cause"
)

// Dirs are the directories of this program for one user.
type Dirs struct {
	Config string // of the configuration file; "": none
	State  string // of what a peer remembers; "": none
	Home   string // what "~" means in the file; "": nothing
}

const program = "satin-peer"

// FindDirs says where the system has such files: on Linux as the XDG Base Directory Specification says, with
// the variables XDG_CONFIG_HOME and XDG_STATE_HOME as they were when the program started. For a user without
// a home directory those are empty that no variable names: files would go to the root directory.
func FindDirs() Dirs {
	d := Dirs{filepath.Join(xdg.ConfigHome, program), filepath.Join(xdg.StateHome, program), xdg.Home}
	if _, err := os.UserHomeDir(); err != nil {
		d.Home = ""
		if !filepath.IsAbs(os.Getenv("XDG_CONFIG_HOME")) {
			d.Config = ""
		}
		if !filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) {
			d.State = ""
		}
	}
	return d
}

// fileName is the configuration file in Dirs.Config.
const fileName = "config.toml"

// FileVariable is the variable of the environment that names another configuration file.
const FileVariable = envPrefix + "CONFIG"

// Sources are what Load reads.
type Sources struct {
	Dirs    Dirs
	Environ []string            // as os.Environ gives it; an empty variable is as good as none
	Flags   map[string][]string // values given on the command line, by the name of the key; a list may have several
	File    string              // the configuration file, if the user named one on the command line; it must exist
}

// Loaded are settings with where they come from.
type Loaded struct {
	Settings
	File   string   // the path of the configuration file, absolute
	Found  bool     // it exists
	Strays []string // what is wrong with variables that begin with SATIN_ and are no settings, a line each

	origins map[string]string
}

// An Error is a value, or a key, that is not allowed, in one line.
type Error struct {
	Where string // "--workers", "SATIN_WORKERS", "/home/a/.config/satin-peer/config.toml:12: workers"
	Got   string // what stands there; may be empty
	Want  string // what is allowed
}

func (e *Error) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s: want %s", e.Where, e.Want)
	}
	return fmt.Sprintf("%s: got %s, want %s", e.Where, shorten(e.Got), e.Want)
}

func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return strconv.Quote(s)
}

// Load reads the settings. Errors are of type *Error where the user wrote something wrong, else they say
// which file could not be read.
func Load(from Sources) (*Loaded, error) {
	l := &Loaded{Settings: Defaults(from.Dirs), origins: map[string]string{}}
	env := map[string]string{}
	for _, e := range from.Environ {
		if name, value, _ := strings.Cut(e, "="); value != "" && strings.HasPrefix(name, envPrefix) {
			env[name] = value
		}
	}
	if err := l.readFile(from, env[FileVariable]); err != nil {
		return nil, err
	}
	delete(env, FileVariable)
	for _, k := range keys() {
		if value, ok := env[k.env()]; ok {
			if err := l.put(k, value, value, k.env(), k.env()); err != nil {
				return nil, err
			}
			delete(env, k.env())
		}
		if given := from.Flags[k.name]; len(given) > 0 {
			value := any(given[len(given)-1])
			if k.kind == listKind {
				value = given
			}
			if err := l.put(k, value, strings.Join(given, " "), "--"+k.flag(), "--"+k.flag()); err != nil {
				return nil, err
			}
		}
	}
	for name := range env {
		l.Strays = append(l.Strays, stray(name))
	}
	slices.Sort(l.Strays)
	return l, l.finish()
}

// put sets one key. Where names the place in an error, origin in a report.
func (l *Loaded) put(k *key, value any, shown, where, origin string) error {
	if k.kind == pathKind && value == "" {
		if strings.HasPrefix(origin, "--") { // a variable of a shell that was never set: another peer would be meant
			return &Error{where, "nothing", "the name of a directory, or none of this flag"}
		}
		return nil // as if it were not given
	}
	if !k.set(&l.Settings, value) {
		want := k.want
		if _, isText := value.(string); !isText && (k.kind == textKind || k.kind == pathKind ||
			k.kind == durationKind) {
			want += "; in quotes" // a number, say, in the file
		}
		return &Error{where, shown, want}
	}
	if k.kind == pathKind {
		field := k.field(&l.Settings).(*string)
		path, err := filepath.Abs(*field)
		if err != nil {
			return &Error{where, shown, k.want}
		}
		*field = path
	}
	l.origins[k.name] = origin
	return nil
}

// finish derives what was not given from the rest.
func (l *Loaded) finish() error {
	if !filepath.IsAbs(l.StateDir) {
		return &Error{"state_dir", "",
			"an absolute path, because there is no home directory: set HOME, or give --state-dir"}
	}
	if l.RuntimeDir == "" {
		l.RuntimeDir = filepath.Join(l.StateDir, "control")
	}
	return nil
}

// readFile finds the configuration file and reads it. Only one that the user named must be there.
func (l *Loaded) readFile(from Sources, variable string) error {
	path, named, err := from.file(variable)
	if err != nil {
		return err
	}
	l.File = path
	if path == "" {
		return nil
	}
	text, err := readLimited(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && named == "":
		return nil
	case err != nil && named != "":
		return &Error{named, path, "a file that can be read: " + cause.Of(err).Error()}
	case err != nil:
		return fmt.Errorf("reading the configuration file %s: %w", path, cause.Of(err))
	}
	l.Found = true
	return l.decode(text, from.Dirs.Home)
}

// FilePath is where the configuration file is, or would be.
func FilePath(from Sources) (string, error) {
	variable := ""
	for _, e := range from.Environ {
		if value, ok := strings.CutPrefix(e, FileVariable+"="); ok {
			variable = value
		}
	}
	path, _, err := from.file(variable)
	if err == nil && path == "" {
		err = &Error{"--config", "", "the name of a file, because there is no home directory: set HOME, or give it"}
	}
	return path, err
}

// file gives the path of the configuration file, absolute, and who named it; "" if nobody did. The path is
// empty if nobody did and there is no directory for one.
func (from Sources) file(variable string) (path, named string, err error) {
	switch {
	case from.File != "":
		path, named = from.File, "--config"
	case variable != "":
		path, named = variable, FileVariable
	case from.Dirs.Config == "":
		return "", "", nil
	default:
		path = filepath.Join(from.Dirs.Config, fileName)
	}
	path, err = filepath.Abs(path)
	return path, named, err
}

func readLimited(path string) ([]byte, error) {
	info, err := os.Stat(path) // opening a pipe would wait
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return text, err
}

// decode takes the values of a configuration file.
func (l *Loaded) decode(text []byte, home string) error {
	lines, err := positions(text)
	if err != nil {
		return l.syntax(err)
	}
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return l.syntax(err)
	}
	inOrder := func(a, b string) int { return lines[a] - lines[b] }
	for _, name := range slices.SortedFunc(maps.Keys(values), inOrder) {
		where := l.at(lines[name])
		k := keyNamed(name)
		if k == nil {
			return &Error{where, name, "a setting" + suggest(name, keyNames())}
		}
		value := values[name]
		if path, ok := value.(string); ok && k.kind == pathKind {
			if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
				path = filepath.Join(home, rest)
			}
			if path != "" && !filepath.IsAbs(path) {
				return &Error{where + ": " + name, path, "an absolute path, or one that begins with ~/"}
			}
			value = path
		}
		if err := l.put(k, value, fmt.Sprint(value), where+": "+name, where); err != nil {
			return err
		}
	}
	return nil
}

// at names a line of the file.
func (l *Loaded) at(line int) string { return l.File + ":" + strconv.Itoa(line) }

// syntax makes an error of one of the parser.
func (l *Loaded) syntax(err error) error {
	var d *toml.DecodeError
	if !errors.As(err, &d) {
		return fmt.Errorf("%s: %w", l.File, err)
	}
	line, column := d.Position()
	return fmt.Errorf("%s:%d:%d: %s", l.File, line, column, strings.TrimPrefix(d.Error(), "toml: "))
}

// positions gives the line of each top-level key. To a decoder that is strict, and has nowhere to put
// anything, every key is one too many, and it says where.
func positions(text []byte) (map[string]int, error) {
	lines := map[string]int{}
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&struct{}{})
	var strict *toml.StrictMissingError
	if !errors.As(err, &strict) {
		return lines, err
	}
	for _, e := range strict.Errors {
		if k := e.Key(); len(k) > 0 && lines[k[0]] == 0 {
			lines[k[0]], _ = e.Position()
		}
	}
	return lines, nil
}
