package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
)

// TestTargets checks what people paste.
func TestTargets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "invitation.txt")
	if err := os.WriteFile(file, []byte("satin-peer join satin-invite-1:abc\ndef\n/ip4/1.2.3.4/tcp/1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ words, want []string }{
		{[]string{"satin-invite-1:abc"}, []string{"satin-invite-1:abc"}},
		{[]string{"satin-peer join satin-invite-1:abc"}, []string{"satin-invite-1:abc"}},
		{[]string{"satin-peer", "join", "satin-invite-1:abc"}, []string{"satin-invite-1:abc"}},
		{[]string{"$ bin/satin-peer join 'satin-invite-1:abc'\n"}, []string{"satin-invite-1:abc"}},
		{[]string{"satin-invite-1:ab c\n d"}, []string{"satin-invite-1:abcd"}},
		{[]string{"satin-invite-1:abc", "x"}, []string{"satin-invite-1:abc", "x"}},
		{[]string{"@" + file, "a"}, []string{"satin-invite-1:abcdef", "/ip4/1.2.3.4/tcp/1", "a"}},
		{[]string{"-"}, []string{"satin-invite-1:fromstdin"}},
		{nil, nil},
	} {
		if got, err := targets(c.words, newFake().in); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.words, got, err, c.want)
		}
	}
	blank := filepath.Join(t.TempDir(), "blank.txt")
	if err := os.WriteFile(blank, []byte("\n $ satin-peer join \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"join", ""}, {"join", "-"}, {"start", "--join", "-"}} {
		f := starter(t, newFakeMember())
		f.in = strings.NewReader("\n")
		if code := f.run(args...); code != exitBadInput ||
			!strings.Contains(f.err.String(), `got "nothing", want an address or an invitation`) {
			t.Fatalf("%q: exit code %d, %s", args, code, &f.err)
		}
	}
	for word, want := range map[string]string{
		"@" + blank:                                  "blank.txt: got \"nothing\", want an address or an invitation",
		"satin-invite-2:abcdefghijk":                 "newer version",
		"Xsatin-invite-1:abcdefghijk":                "nothing before it",
		"@" + filepath.Join(filepath.Dir(file), "x"): "no such file",
	} {
		for _, args := range [][]string{{"join", word}, {"start", "--join", word},
			{"run", "count", "3", "--join", word}} {
			f := starter(t, newFakeMember())
			if code := f.run(args...); code != exitBadInput || !strings.Contains(f.err.String(), want) ||
				strings.Contains(f.err.String(), "efghijk") {
				t.Errorf("%q: exit code %d, %s", args, code, &f.err)
			}
		}
	}
	for _, args := range [][]string{{"join", "-"}, {"run", "count", "3", "--join", "-"}} {
		m := newFakeMember()
		f := newFake().withDaemon(t, m)
		if code := f.run(args...); code != 0 || m.asked[0] != "join satin-invite-1:fromstdin" {
			t.Errorf("%q: exit code %d, asked %q, %s", args, code, m.asked, &f.err)
		}
	}
}

// TestStartRefused starts a daemon with an invitation that is refused: it ends and says why.
func TestStartRefused(t *testing.T) {
	m := newFakeMember()
	m.peers = nil
	m.refused = control.Errorf(control.ErrRefused, "used up")
	f := starter(t, m)
	if code := f.run("start", "--join", "satin-invite-1:abcdefghijk"); code != exitFailed ||
		!strings.Contains(f.err.String(),
			"satin-peer: used up: without another invitation this peer would be alone\n") || !m.closed {
		t.Errorf("exit code %d, %s", code, &f.err)
	}
	for _, c := range []struct {
		address string
		err     error
		final   bool
	}{
		{"satin-invite-1:abc", m.refused, true},
		{"satin-invite-1:abc", control.Errorf(control.ErrRefused, "12D3KooW: %v", host.ErrBusy), false},
		{"satin-invite-1:abc", control.Errorf(control.ErrUnavailable, "cannot be reached"), false},
		{"/ip4/1.2.3.4", control.Errorf(control.ErrRefused, "not on the list"), false},
	} {
		if got := isFinal(c.address, c.err); got != c.final {
			t.Errorf("%s, %v: final: %v", c.address, c.err, got)
		}
	}
	if !hasMembers(t.Context(), newFakeMember()) || hasMembers(t.Context(), m) {
		t.Error("members that are there, or are not, were not seen")
	}
}

// TestUsable checks that config and doctor find what would keep a daemon from starting.
func TestUsable(t *testing.T) {
	long := "/" + strings.Repeat("x", 120)
	for _, c := range []struct{ variable, want string }{
		{"SATIN_JOIN=x", "join: not a peer's address"},
		{"SATIN_JOIN=satin-invite-1:abcdefghijk", "join: invitation not valid"},
		{"SATIN_JOIN=@/nowhere/invitation", "join: "},
		{"SATIN_RUNTIME_DIR=" + long, "at most 103 bytes"},
		{"SATIN_EMULATE=/nowhere/wan", "emulate: "},
		{"SATIN_LISTEN=4001", "SATIN_LISTEN: got"},
		{"SATIN_LISTEN=/ip4/127.0.0.1/tcp/70000", "listen: not a peer's address"},
		{"SATIN_JOIN=-", ""},
	} {
		for _, command := range []string{"config", "doctor"} {
			f := newFake()
			f.dirs = home(t)
			f.environ = []string{c.variable}
			code := f.run(command)
			text := f.out.String() + f.err.String()
			if command == "config" && (code != 0) != (c.want != "") || !strings.Contains(text, c.want) ||
				strings.Contains(f.err.String(), "efghijk") {
				t.Errorf("%s, %s: exit code %d, %s", command, c.variable, code, text)
			}
			if strings.Contains(f.out.String(), "problem  settings") != (command == "doctor" && c.want != "" &&
				!strings.HasPrefix(c.want, "SATIN_")) {
				t.Errorf("%s, %s: %s", command, c.variable, text)
			}
		}
	}
}
