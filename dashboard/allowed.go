package dashboard

import (
	"fmt"
	"net/http"

	"github.com/satin-peer/satin/internal/report"
)

// Preferences is where the owner of the machine says what he allows its jobs. Methods may be called from any goroutine.
type Preferences interface {
	// Preferences lists what there is to say.
	Preferences() ([]Preference, error)
	// Prefer sets one; without values it has its default again. The error is for the owner, in one line.
	Prefer(name string, values []string) error
}

// A Preference is one thing that the owner of the machine says.
type Preference struct {
	Name   string   `json:"name"`   // as in the configuration file
	About  string   `json:"about"`  // one or two sentences
	Kind   string   `json:"kind"`   // "number", "yes_or_no", "text" or "list"
	Values []string `json:"values"` // one, but of a list any number
	// From is what set it and wins over the page until the daemon is started again, such as "--workers"; or empty.
	From string `json:"from,omitempty"`
}

type preferBody struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// maxValues is how many values a preference may have.
const maxValues = 64

func (s *Server) getPreferences(*http.Request) (any, error) {
	if s.preferences == nil {
		return []Preference{}, nil
	}
	list, err := s.preferences.Preferences()
	return listed(list), err
}

func (s *Server) setPreference(r *http.Request) error {
	var b preferBody
	if err := receive(r, &b); err != nil {
		return err
	}
	if len(b.Values) > maxValues {
		return fmt.Errorf("%w: a preference has at most %d values", report.ErrBadInput, maxValues)
	}
	if s.preferences == nil {
		return fmt.Errorf("%w: this peer has no settings of its own", report.ErrBadInput)
	}
	return s.preferences.Prefer(b.Name, b.Values)
}
