package module

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// ABI is the version of the ABI that this package speaks.
const ABI = 1

// Consent is the name under which a peer says among its applications that it runs modules: its version begins with the
// ABI's, and has a 1 next if they may be any member's.
const Consent = "satin1"

// A Description is what a module says of itself, for a command that runs it.
type Description struct {
	ABI      int      `json:"abi"`
	Name     string   `json:"name"`
	Summary  string   `json:"summary"`
	Args     string   `json:"args"` // usage of the positional arguments, "N"
	Long     string   `json:"long"`
	Examples []string `json:"examples"`
	Flags    []Flag   `json:"flags"`
	// Executables are what it would have its host run: a module that names any is refused.
	Executables []string `json:"executables"`
}

// A Flag is one of a module's flags.
type Flag struct {
	Name    string `json:"name"`
	Usage   string `json:"usage"`
	Default string `json:"default"`
	Bool    bool   `json:"bool"` // it may stand without a value
}

const maxFlags = 64

// filesFlag is the flag of the command that gives files to a module.
const filesFlag = "file"

var word = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// ParseDescription reads what a module says of itself. All of it is fit to be shown then, but for defaults of flags,
// which the module is given as it has said them: they are to be quoted.
func ParseDescription(text []byte) (d Description, err error) {
	const most = 64 << 10
	if len(text) > most {
		return d, fmt.Errorf("its description has more than %d bytes", most)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return d, fmt.Errorf("its description: %s", printable(err.Error(), 100))
	}
	if d.ABI != ABI {
		return d, fmt.Errorf("it speaks version %d of the ABI, this program version %d", d.ABI, ABI)
	}
	if len(d.Executables) > 0 {
		return d, fmt.Errorf("it needs the executable %.40q, and modules have none: only applications of commands do",
			d.Executables[0])
	}
	if !word.MatchString(d.Name) {
		return d, fmt.Errorf("its name %.40q is no word of small letters, digits and hyphens", d.Name)
	}
	if len(d.Flags) > maxFlags || len(d.Examples) > maxFlags {
		return d, fmt.Errorf("it has more than %d flags or examples", maxFlags)
	}
	seen := map[string]bool{}
	for i, f := range d.Flags {
		if !word.MatchString(f.Name) || seen[f.Name] || f.Name == filesFlag {
			return d, fmt.Errorf("its flag %.40q is no word, there twice, or the command's own", f.Name)
		}
		seen[f.Name] = true
		d.Flags[i].Usage = printable(f.Usage, maxText)
	}
	for i, e := range d.Examples {
		d.Examples[i] = printable(e, maxText)
	}
	d.Summary, d.Args = printable(d.Summary, 200), printable(d.Args, 100)
	d.Long = Shown(d.Long)
	return d, nil
}

// Shown makes text of a module fit for a terminal: lines without control characters.
func Shown(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, printable(strings.TrimSuffix(line, "\n"), maxText))
	}
	return strings.Join(lines, "\n")
}

// A Root is the job that a run begins with.
type Root struct {
	Title string
	Call  Call
}

// An InputError is what a module refuses of its arguments.
type InputError struct{ What, Want string }

func (e *InputError) Error() string { return fmt.Sprintf("%s: want %s", e.What, e.Want) }

// ask calls an export of a fresh instance with b, and says what it named.
func (m *Module) ask(name string, b []byte, f *files) (out, names []byte, err error) {
	in, err := m.get()
	if err != nil {
		return nil, nil, err
	}
	in.shared = f
	if out, err = in.call(name, b); err == nil {
		names, _ = in.takeNames()
	}
	out, err = m.done(in, out, err)
	return out, names, err
}

// Setup turns positional arguments, the values of all flags, in the order of the description, and files into a root
// job. An error is an [*InputError], or an [*Error].
func (m *Module) Setup(args, flags []string, given []File) (Root, error) {
	var b []byte
	for _, s := range append(append([]string(nil), args...), flags...) {
		b = append(append(b, strings.ReplaceAll(s, "\x00", "")...), 0)
	}
	b = append(b, 0)
	fs := newFiles(m, given)
	out, names, err := m.ask(exportSetup, b, fs)
	if f, is := err.(*Failure); is {
		what, want, is := strings.Cut(f.Text, ": want ")
		if !is {
			return Root{}, &Error{m.Hash, f.Text}
		}
		return Root{}, &InputError{what, want}
	}
	if err != nil {
		return Root{}, err
	}
	title, rest, ok := bytes.Cut(out, []byte{0})
	if !ok || len(rest) < 4 {
		return Root{}, &Error{m.Hash, "it gives no job to begin with"}
	}
	return Root{printable(string(title), 100), Call{Module: m.Hash, Fn: binary.LittleEndian.Uint32(rest),
		Arg: rest[4:], Names: names, Files: fs.named(names)}}, nil
}

// answered is an argument and its result as the module is shown them.
func answered(arg, res []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(arg)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(res)))
	b = append(b, arg...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return append(b, res...)
}

// MaxShown is how many bytes text and fields may have: read, they take some thirty times as much.
const MaxShown = 1 << 20

// Render gives the result of a root job as it is shown: text, and fields for programs.
func (m *Module) Render(root Call, res []byte) (text string, fields map[string]any, err error) {
	out, _, err := m.ask(exportRender, answered(root.Arg, res), newFiles(m, root.Files))
	if err != nil {
		return "", nil, err
	}
	return m.shown(out)
}

// shown reads what a module has rendered.
func (m *Module) shown(out []byte) (text string, fields map[string]any, err error) {
	if len(out) > MaxShown {
		return "", nil, &Error{m.Hash, fmt.Sprintf("its answer reads as %d bytes, at most %d are shown", len(out),
			MaxShown)}
	}
	shown, extra, _ := bytes.Cut(out, []byte{0})
	if len(extra) > 0 {
		if fields, err = ReadFields(extra); err != nil {
			return "", nil, &Error{m.Hash, "its fields: " + printable(err.Error(), 100)}
		}
	}
	return Shown(string(shown)), fields, nil
}

// ReadFields reads a JSON object, whose values stay as they are written: a number may have more digits than a float64.
func ReadFields(text []byte) (map[string]any, error) {
	var written map[string]json.RawMessage
	err := json.Unmarshal(text, &written)
	fields := map[string]any{}
	for name, value := range written {
		fields[name] = value
	}
	return fields, err
}

// Check says whether a result is right, as far as the module can tell; a module that cannot says nothing.
func (m *Module) Check(root Call, res []byte) error {
	if !m.has(exportCheck) {
		return nil
	}
	_, _, err := m.ask(exportCheck, answered(root.Arg, res), newFiles(m, root.Files))
	return err
}
