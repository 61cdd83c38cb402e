package cli

import (
	"log/slog"
	"regexp"
)

// invitation is the beginning of a line that lets in whoever has it, and the rest of it.
var invitation = regexp.MustCompile(`(satin-invite-\d+:[A-Za-z0-9_-]{4})[A-Za-z0-9_-]{4,}`)

// masked leaves of invitations in a text what tells them apart: logs and error messages are sent to others.
func masked(text string) string { return invitation.ReplaceAllString(text, "${1}…") }

// maskedAttr masks what the log is told, also by the network.
func maskedAttr(_ []string, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(masked(v.String()))
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			a.Value = slog.StringValue(masked(err.Error()))
		}
	}
	return a
}
