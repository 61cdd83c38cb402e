//go:build swarm

package swarm_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scripts gives the shell blocks of a section of a document.
func scripts(t *testing.T, path, section string) (list []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(b), "\n## "+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", path, section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for {
		_, rest, found := strings.Cut(text, "```sh\n")
		if !found {
			return list
		}
		script, after, _ := strings.Cut(rest, "```\n")
		list, text = append(list, script), after
	}
}

// A machine is a home directory, and a place on loopback.
type machine struct {
	home string
	env  []string
}

func newMachine(t *testing.T, n int) *machine {
	t.Helper()
	home, err := os.MkdirTemp("", "satin-docs-") // a short name: sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	env := []string{"HOME=" + home, "PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"),
		fmt.Sprintf("SATIN_LISTEN=/ip4/127.0.0.%d/udp/0/quic-v1", 10+n), "SATIN_MDNS=false"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	return &machine{home, env}
}

// run runs a script as a reader would, and gives what it prints.
func (m *machine) run(t *testing.T, ctx context.Context, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", script)
	cmd.Dir, cmd.Env = filepath.Join(m.home, dir), m.env
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s\n%v\n%s%s", script, err, out, errs.String())
	}
	return string(out) + errs.String()
}

// What the document says leads from an empty folder to three machines: each a home directory here.
func TestFromAnEmptyFolder(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	steps := scripts(t, "../../docs/writing-applications.md", "From an empty folder to three machines")
	if len(steps) != 3 {
		t.Fatalf("%d blocks of commands, want 3", len(steps))
	}
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var all []*machine
	for i := range 3 {
		m := newMachine(t, i)
		all = append(all, m)
		defer func() {
			if _, err := os.Stat(filepath.Join(m.home, "derange", "derange")); err == nil {
				m.run(t, ctx, "derange", "./derange leave || true")
			}
		}()
	}
	first := all[0].run(t, ctx, "", strings.ReplaceAll(steps[0], "~/src/satin", source))
	if !strings.Contains(first, "176214841\n") { // 12 things, OEIS A000166
		t.Errorf("the first run says\n%s", first)
	}
	invitation := ""
	for _, word := range strings.Fields(first) {
		if strings.HasPrefix(word, "satin-invite-1:") {
			invitation = word
		}
	}
	program, err := os.ReadFile(filepath.Join(all[0].home, "derange", "derange"))
	if err != nil || invitation == "" {
		t.Fatalf("there is no invitation in\n%s\n%v", first, err)
	}
	for _, m := range all[1:] {
		dir := filepath.Join(m.home, "derange")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "derange"), program, 0o700); err != nil {
			t.Fatal(err)
		}
		m.run(t, ctx, "derange", strings.ReplaceAll(steps[1], "INVITATION", invitation)+"./derange status\n")
	}
	for { // they meet
		list := all[0].run(t, ctx, "derange", "./derange peers --json")
		if strings.Count(list, `"peer"`) >= 2 {
			break
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the machines have not met:\n%s", list)
		case <-time.After(100 * time.Millisecond):
		}
	}
	last := all[0].run(t, ctx, "derange", steps[2])
	if !strings.Contains(last, "2290792932\n") { // 13 things
		t.Errorf("the last run says\n%s", last)
	}
	if !strings.Contains(last, "2 other peers can take part") {
		t.Errorf("the other machines had no part in\n%s", last)
	}
}
