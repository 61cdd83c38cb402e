package peer

import (
	"fmt"
	"slices"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// helpers counts the members that can take part in a run, and says why the others cannot, as their cards tell.
func (s *swarm) helpers(m *runs.Manifest) *control.Help {
	h := &control.Help{}
	for _, c := range s.members.List() {
		why := s.apps.lacks(&c.Card, m)
		switch {
		case s.places.Silent(c.Peer):
			why = "do not answer"
		case why == "" && c.Cores == 0:
			why = "do not compute now: they are paused, or other programs or their settings have their cores"
		}
		if why == "" {
			h.Can++
			continue
		}
		i := slices.IndexFunc(h.Cannot, func(k control.Lack) bool { return k.Why == why })
		if i < 0 {
			h.Cannot = append(h.Cannot, control.Lack{Why: why})
			i = len(h.Cannot) - 1
		}
		h.Cannot[i].Peers++
	}
	return h
}

// lacks says what keeps a member from taking part in a run; "": nothing that is known.
func (c *catalog) lacks(card *statement.Card, m *runs.Manifest) string {
	other := slices.IndexFunc(card.Apps, func(a statement.App) bool { return a.Name == m.App })
	switch {
	case c.has(card, m, false):
		return ""
	case !allows(card, m):
		return "have not allowed an executable that it needs: their setting executables does"
	case m.Entry != module.Func && other >= 0:
		return fmt.Sprintf("have version %s of %s and the run needs %x: build both from the same sources",
			card.Apps[other].Version, m.App, m.Version[:min(4, len(m.Version))])
	case m.Entry != module.Func:
		return fmt.Sprintf("do not have %s: start a command there that has it", m.App)
	case runsModules(card, true):
		return "run published modules only: satin-peer publish signs one"
	}
	return "run no modules: the setting modules says so"
}
