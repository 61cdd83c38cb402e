package cli

import (
	"encoding/hex"
	"strings"

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
		return nil, failed("setting executables: jobs have them run in %s: leave the setting out on this machine", how)
	}
	for _, x := range list {
		name, path, want, _ := settings.Executable(x)
		hash, err := computing.HashProgram(path)
		if err != nil {
			return nil, failed("setting executables: %s: %w", name, err)
		}
		if got := hex.EncodeToString(hash[:]); want != "" && got != strings.ToLower(want) {
			return nil, failed("setting executables: %s: %s has the SHA-256 %s, want %s", name, path, got, want)
		}
		programs = append(programs, computing.Program{Name: name, Path: path, Hash: hash})
	}
	return programs, nil
}

// executableTexts says which there are.
func executableTexts(list []control.Executable) []string {
	texts := []string{}
	for _, x := range list {
		texts = append(texts, oneLine(x.Name)+" ("+oneLine(x.Path)+", "+x.Hash[:min(len(x.Hash), 8)]+")")
	}
	return texts
}
