package peer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/statement"
)

// A name that is shown is one word that a card takes, whatever the machine is called.
func TestShownNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "lab-7": "lab-7", "my\tlaptop\n": "my-laptop-", "\xff\x1b[31m": "--[31m", "b\u202ex": "b-x",
		strings.Repeat("é", 40): strings.Repeat("é", 32), strings.Repeat("x", 65): strings.Repeat("x", 64),
	} {
		got := shown(name)
		if got != want || plain.Name(got) != got || len(got) > statement.MaxCardName || !utf8.ValidString(got) {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
