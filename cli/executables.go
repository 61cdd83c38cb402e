package cli

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
	computing "github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

// executables reads the files of the setting: what they contain now is what is allowed.
func executables(list []string) (programs []computing.Program, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if how, whole := computing.Protection(); !whole {
		return nil, fmt.Errorf("setting executables: jobs have them run in %s: leave the setting out on this machine", how)
	}
	for _, x := range list {
		name, path, want, _ := settings.Executable(x)
		hash, err := computing.HashProgram(path)
		if err != nil {
			return nil, fmt.Errorf("setting executables: %s: %w", name, err)
		}
		if got := hex.EncodeToString(hash[:]); want != "" && got != strings.ToLower(want) {
			return nil, fmt.Errorf("setting executables: %s: %s has the SHA-256 %s, want %s", name, path, got, want)
		}
		programs = append(programs, computing.Program{Name: name, Path: path, Hash: hash})
	}
	return programs, nil
}

// executablesKey is the setting.
const executablesKey = "executables"

// usableExecutables says which value of the setting a daemon would refuse although its form is right.
func usableExecutables(values []string) error {
	if slices.ContainsFunc(values, func(x string) bool { _, _, _, ok := settings.Executable(x); return !ok }) {
		return nil // what is written says what is wrong
	}
	_, err := executables(values)
	return err
}

// A foreign runs executables for jobs: see satin.Config.Exec.
type foreign = func(name string, input []byte, args []string, aborted func() bool) ([]byte, error)

// executor runs those executables for jobs in this process that the application names; nil if it names none. The files
// are those of the setting, as a daemon's.
func executor(c console, app apps.App, flags *pflag.FlagSet) (foreign, error) {
	if len(app.Executables) == 0 {
		return nil, nil
	}
	l, err := c.load(flags)
	if err != nil {
		return nil, err
	}
	allowed, err := executables(l.Executables)
	if err != nil {
		return nil, failed("%w", err)
	}
	var list []computing.Program
	for _, name := range app.Executables {
		i := slices.IndexFunc(allowed, func(p computing.Program) bool { return p.Name == name })
		if i < 0 {
			return nil, failed("%s needs the executable %q: allow it by executables = [\"%s=/its/path\"] in the settings",
				app.Name, name, name)
		}
		list = append(list, allowed[i])
	}
	return computing.Executor(processes(), int64(l.Memory)<<20, list), nil
}

// executableTexts says which there are.
func executableTexts(list []control.Executable) []string {
	texts := []string{}
	for _, x := range list {
		texts = append(texts, oneLine(x.Name)+" ("+oneLine(x.Path)+", "+x.Hash[:min(len(x.Hash), 8)]+")")
	}
	return texts
}
