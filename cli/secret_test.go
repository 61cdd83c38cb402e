package cli

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/settings"
)

// TestMasked checks that invitations are in no log and no error message, whoever writes them.
func TestMasked(t *testing.T) {
	const secret = "satin-invite-1:pgFlAbCdEfGh_-0123456789"
	for _, format := range []string{settings.LogText, settings.LogJSON} {
		f := newFake()
		log := f.newLog(&settings.Loaded{Settings: settings.Settings{LogLevel: "info", LogFormat: format}})
		log.With("with", secret).Info("to "+secret, "address", secret, "error", errors.New("at "+secret+": no"),
			"list", []string{"a"}, "n", 7)
		if text := f.err.String(); strings.Contains(text, "AbCd") ||
			strings.Count(text, "satin-invite-1:pgFl…") != 4 || !strings.Contains(text, ": no") {
			t.Errorf("%s: %s", format, text)
		}
	}
	for _, err := range []error{errors.New("bad " + secret), failed("bad %s", secret)} {
		var b strings.Builder
		if exitCode(err, &b); b.String() != "satin-peer: bad satin-invite-1:pgFl…\n" {
			t.Errorf("got %q", &b)
		}
	}
	if got := masked("satin-invite-1:pGFz..."); got != "satin-invite-1:pGFz..." {
		t.Errorf("the documents' example became %q", got)
	}
	if code := exitCode(nil, io.Discard); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
