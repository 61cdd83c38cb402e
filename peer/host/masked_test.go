package host_test

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/satin-peer/satin/peer/host"
)

// A record keeps what is logged and says when a text has come.
type record struct {
	mu    sync.Mutex
	lines bytes.Buffer
	text  string
	came  chan struct{}
}

func recording(text string) (*record, *slog.Logger) {
	r := &record{text: text, came: make(chan struct{}, 64)}
	return r, slog.New(slog.NewTextHandler(io.Writer(r), nil))
}

func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Contains(line, []byte(r.text)) {
		select {
		case r.came <- struct{}{}:
		default:
		}
	}
	return r.lines.Write(line)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

// Whoever may not join by an invitation is told why, once, and logs show no more of it than its beginning.
func TestUselessInvitationIsGivenUp(t *testing.T) {
	a := open(t, host.Config{})
	line := invite(t, a, host.InviteOptions{})
	join(t, open(t, host.Config{}), line)
	log, logger := recording("used up")
	b := open(t, host.Config{Bootstrap: []string{line}, Logger: logger})
	err := b.Join(patience(t), line) // at the same time
	wants(t, err, host.ErrInvitation)
	if !strings.Contains(err.Error(), "used up") {
		t.Errorf("another reason is told: %v", err)
	}
	await(t, log.came, "the reason in the log")
	if got := log.String(); strings.Contains(got, line) || !strings.Contains(got, host.Mask(line)) ||
		!strings.Contains(got, "not tried again") {
		t.Errorf("logged:\n%s", got)
	}
}

// A log that says that nobody can be joined yet shows no more of the invitation than its beginning.
func TestUnreachableInviterIsLoggedWithoutTheInvitation(t *testing.T) {
	a := open(t, host.Config{Listen: []string{"/ip4/127.0.0.1/tcp/0"}}) // a dead TCP port is noticed at once
	line := invite(t, a, host.InviteOptions{})
	a.Close()
	log, logger := recording("cannot join yet")
	open(t, host.Config{Bootstrap: []string{line}, Logger: logger})
	await(t, log.came, "the failure")
	if got := log.String(); strings.Contains(got, line) || !strings.Contains(got, host.Mask(line)) {
		t.Errorf("logged:\n%s", got)
	}
}

// Whoever has copied an invitation badly is told what is wrong with it, and no error shows its secret.
func TestErrorsQuoteLittleOfAnInvitation(t *testing.T) {
	a, b := open(t, host.Config{}), open(t, host.Config{})
	line := invite(t, a, host.InviteOptions{})
	secret := strings.TrimPrefix(line, "satin-invite-1:")
	for name, c := range map[string]struct{ line, says string }{
		"something before it": {"X" + line, `"X" before`},
		"a newer version":     {"satin-invite-2:" + secret, "newer version"},
		"no version":          {"satin-invite-:" + secret, "does not begin with satin-invite-1:"},
		"version 0":           {"satin-invite-0:" + secret, "does not begin with satin-invite-1:"},
		"half of it":          {line[:len(line)/2], "copied whole"},
		"no colon":            {"satin-invite-" + secret, "does not begin with satin-invite-1:"},
		"twice":               {line + line, "copied whole"},
		"too long":            {strings.Repeat(line, 40), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			err := b.Join(patience(t), c.line)
			wants(t, err, host.ErrInvitation)
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret[:8]) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("the error does not say %q, or tells the secret: %v", c.says, err)
			}
			wants(t, b.Connect(patience(t), c.line), host.ErrAddress)
			if strings.Contains(b.Connect(patience(t), c.line).Error(), secret[:8]) {
				t.Error("the secret is told")
			}
			if strings.Contains(host.Mask(c.line), secret[:8]) {
				t.Errorf("masked as %q", host.Mask(c.line))
			}
		})
	}
	const address = "/ip4/192.0.2.1/tcp/4001"
	if host.IsInvitation(address) || host.Mask(address) != address {
		t.Error("an address was masked")
	}
	if err := b.Connect(patience(t), "example.org"); strings.Count(err.Error(), "example.org") != 1 {
		t.Errorf("quoted more than once: %v", err)
	}
}

// Both sides log that a peer has become a member, and by whose invitation; once, and not again when it comes back.
func TestWhoCameByAnInvitationIsLogged(t *testing.T) {
	here, mine := recording("new member")
	there, theirs := recording("member now")
	a := open(t, host.Config{Logger: mine})
	line := invite(t, a, host.InviteOptions{})
	dir := t.TempDir()
	b := open(t, host.Config{Logger: theirs, StateDir: dir})
	join(t, b, line)
	b.Close()
	b = open(t, host.Config{Logger: theirs, StateDir: dir})
	join(t, b, line)
	for name, log := range map[string]*record{"inviter": here, "newcomer": there} {
		await(t, log.came, "the line of the "+name)
		if got := log.String(); strings.Count(got, log.text) != 1 ||
			!strings.Contains(got, "inviter="+a.ID().String()) || strings.Contains(got, line[15:]) {
			t.Errorf("the %s logged:\n%s", name, got)
		}
	}
	if !strings.Contains(here.String(), "peer="+b.ID().String()) {
		t.Errorf("logged without who it is:\n%s", here)
	}
}
