//go:build swarm

package swarm_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Guards the service under a real systemd, which is booted for it in namespaces: of the machine and of a user, it is
// installed by one command, computes within what its unit leaves to it, comes back when it is killed, and is gone when
// it is uninstalled.
func TestServiceOfSystemd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s := bootSystemd(t)
	t.Run("machine", func(t *testing.T) {
		m := &managed{t: t, ctx: ctx, enter: s, flag: "--system", state: "/var/lib/satin-peer",
			unit: "/etc/systemd/system/satin-peer.service"}
		m.lives()
	})
	t.Run("user", func(t *testing.T) {
		enter := append(s, "env", "HOME=/root", "XDG_RUNTIME_DIR=/run/user/0")
		run := &managed{t: t, ctx: ctx, enter: enter}
		run.must("mkdir", "-p", "/run/user/0")
		run.must("systemd-run", "--quiet", "--unit=manager", "--property=Delegate=yes", "--setenv=HOME=/root",
			"--setenv=XDG_RUNTIME_DIR=/run/user/0", "/usr/lib/systemd/systemd", "--user", "--unit=basic.target")
		m := &managed{t: t, ctx: ctx, enter: enter, flag: "--system=false", state: "/root/.local/state/satin-peer",
			unit: "/root/.config/systemd/user/satin-peer.service", user: true}
		until(t, ctx, "the user's systemd is there", func() bool {
			_, err := m.call("systemctl", "--user", "is-active", "--quiet", "basic.target")
			return err == nil
		})
		m.lives()
	})
}

// bootSystemd boots one that ends with the test, and returns what enters it.
func bootSystemd(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat("/usr/lib/systemd/systemd"); err != nil || os.Geteuid() != 0 {
		t.Skip("this takes root, and a machine that has systemd, whether it runs there or not")
	}
	cmd := exec.Command("sh", "testdata/systemd.sh", binary) // it ends when its input does, and cleans up
	var errs strings.Builder
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Errorf("%v: %s", err, errs.String())
		}
	})
	lines := bufio.NewScanner(out)
	lines.Scan()
	pid := lines.Text()
	if lines.Scan(); lines.Text() != "ready" {
		t.Fatalf("no systemd was booted: %s", errs.String())
	}
	return []string{"nsenter", "--target", pid, "--all"}
}

// managed is a service inside of a systemd.
type managed struct {
	t           *testing.T
	ctx         context.Context
	enter       []string
	flag, state string
	unit        string
	user        bool
}

// call runs a command there.
func (m *managed) call(line ...string) (string, error) {
	line = append(append([]string(nil), m.enter...), line...)
	out, err := exec.CommandContext(m.ctx, line[0], line[1:]...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (m *managed) must(line ...string) string {
	m.t.Helper()
	out, err := m.call(line...)
	if err != nil {
		m.t.Fatalf("%s: %v: %s", strings.Join(line, " "), err, out)
	}
	return out
}

const inside = "/run/bin/satin-peer"

// property is one of the unit's, as systemctl shows it.
func (m *managed) property(name string) string {
	m.t.Helper()
	line := []string{"systemctl", "show", "--value", "--property", name, "satin-peer"}
	if m.user {
		line = append(line, "--user")
	}
	return m.must(line...)
}

// answers says whether the daemon does.
func (m *managed) answers() bool {
	_, err := m.call(inside, "status", "--state-dir", m.state)
	return err == nil
}

func (m *managed) lives() {
	t := m.t
	out := m.must(inside, "service", "install", m.flag)
	if !strings.Contains(out, "installed and started by linux-systemd") {
		t.Errorf("install says %q", out)
	}
	if _, err := m.call(inside, "service", "install", m.flag); err == nil {
		t.Error("it is installed twice")
	}
	until(t, m.ctx, "the daemon answers", m.answers)
	if out := m.must(inside, "service", "status", m.flag); !strings.Contains(out, "installed, and runs") {
		t.Errorf("status says %q", out)
	}
	out = m.must(inside, "run", "nqueens", "12", "--state-dir", m.state)
	if !strings.Contains(out, "12 queens: 14200 solutions") || !strings.Contains(out, "1 peer") {
		t.Errorf("it computes: %s", out)
	}
	pid := m.property("MainPID")
	if who := m.must("stat", "--format=%u", "/proc/"+pid); (who == "0") != m.user {
		t.Errorf("it is run by user %s", who)
	}
	m.must("kill", "-9", pid)
	until(t, m.ctx, "it comes back", func() bool { return m.property("MainPID") != pid && m.answers() })
	m.must(inside, "service", "uninstall", m.flag)
	if m.answers() {
		t.Error("the daemon is still there")
	}
	if out, err := m.call(inside, "service", "status", m.flag); err == nil || !strings.Contains(out, "not installed") {
		t.Errorf("it is not installed any more: %q", out)
	}
	if out, err := m.call("ls", m.unit); err == nil {
		t.Errorf("%s is left", out)
	}
}
