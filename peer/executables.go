package peer

import (
	"fmt"
	"slices"

	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// Executables that jobs may have run, by the hashes of their files (package satin, Exec). The owner's peer says which
// a run needs: those that its application names, as they are there. Whoever has not allowed the same takes no part.

// executableApp stands on a card for an executable that its peer's owner has allowed: its version is the hash.
const executableApp = "satin.executable"

// needs names the executables of an application, as they are here; why says which one is not.
func (c *catalog) needs(app Application) (list []statement.Executable, why string) {
	for _, name := range app.Executables {
		i := slices.IndexFunc(c.programs, func(p child.Program) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Sprintf("%s needs the executable %q: allow it by executables = [\"%s=/its/path\"] in the "+
				"settings of this daemon, and start it again", app.Name, name, name)
		}
		list = append(list, statement.Executable{Name: name, Hash: c.programs[i].Hash[:]})
	}
	return list, ""
}

// lent are the executables that jobs of a run may have run, under the names that they have there; why says which one is
// not allowed here.
func (c *catalog) lent(m *statement.SignedManifest) (list []child.Program, why string) {
	for _, x := range m.Executables {
		i := slices.IndexFunc(c.programs, func(p child.Program) bool { return string(p.Hash[:]) == string(x.Hash) })
		if i < 0 {
			return nil, fmt.Sprintf("the run needs the executable %q with the hash %x, which the setting executables "+
				"does not allow here", x.Name, x.Hash[:4])
		}
		list = append(list, child.Program{Name: x.Name, Path: c.programs[i].Path, Hash: c.programs[i].Hash})
	}
	return list, ""
}

// allows says whether a member's owner has allowed all that a run needs.
func allows(card *statement.Card, m *runs.Manifest) bool {
	return !slices.ContainsFunc(m.Executables, func(hash string) bool {
		return !slices.Contains(card.Apps, statement.App{Name: executableApp, Version: statement.Version([]byte(hash))})
	})
}

// executables are these as they are shown.
func (c *catalog) executables() (list []control.Executable) {
	for _, p := range c.programs {
		list = append(list, control.Executable{Name: p.Name, Path: p.Path, Hash: fmt.Sprintf("%x", p.Hash)})
	}
	return list
}
