package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/report"
)

// PrefsFile is the file in Config.StateDir that has how the user likes the page, in JSON.
const PrefsFile = "dashboard.json"

// prefs keeps how the user likes the page: on the disk, if there is a folder for it.
type prefs struct {
	mu   sync.Mutex
	path string // "" for nowhere
	now  Prefs
}

// readPrefs reads what was kept. What cannot be read is as good as nothing: it will be written anew.
func readPrefs(dir string) *prefs {
	p := &prefs{now: Prefs{Theme: "system", Units: "decimal"}}
	if dir == "" {
		return p
	}
	p.path = filepath.Join(dir, PrefsFile)
	var kept Prefs
	if text, err := os.ReadFile(p.path); err == nil && json.Unmarshal(text, &kept) == nil && kept.check() == nil {
		p.now = kept
	}
	return p
}

func (p Prefs) check() error {
	if themes := []string{"system", "light", "dark"}; !slices.Contains(themes, p.Theme) {
		return fmt.Errorf("%w: the theme is %q, allowed are %q", report.ErrBadInput, clipped(p.Theme), themes)
	}
	if units := []string{"decimal", "binary"}; !slices.Contains(units, p.Units) {
		return fmt.Errorf("%w: the units are %q, allowed are %q", report.ErrBadInput, clipped(p.Units), units)
	}
	return nil
}

func (s *Server) getPrefs(*http.Request) (any, error) {
	s.prefs.mu.Lock()
	defer s.prefs.mu.Unlock()
	return s.prefs.now, nil
}

func (s *Server) setPrefs(r *http.Request) error {
	var next Prefs
	if err := receive(r, &next); err != nil {
		return err
	}
	if err := next.check(); err != nil {
		return err
	}
	p := s.prefs
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path != "" {
		text, err := json.Marshal(next)
		if err == nil {
			err = durable.Write(p.path, 0o600, false, durable.Bytes(append(text, '\n')))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: the preferences cannot be kept: %w", report.ErrUnavailable, err)
		}
		if err != nil {
			return err
		}
	}
	p.now = next
	return nil
}
