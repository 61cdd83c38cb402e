package cli

import (
	"cmp"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kardianos/service"
)

// A modelManager notes what it is told.
type modelManager struct {
	told    []string
	status  service.Status
	refuses error
	name    string
}

func (m *modelManager) tell(what string) error {
	m.told = append(m.told, what)
	return m.refuses
}
func (m *modelManager) Install() error   { return m.tell("install") }
func (m *modelManager) Uninstall() error { return m.tell("uninstall") }
func (m *modelManager) Start() error     { return m.tell("start") }
func (m *modelManager) Stop() error      { return m.tell("stop") }
func (m *modelManager) Platform() string { return cmp.Or(m.name, "a model") }
func (m *modelManager) Status() (service.Status, error) {
	return m.status, m.tell("status")
}

// Each command asks the manager of services what it should, and says what came of it.
func TestService(t *testing.T) {
	for _, c := range []struct {
		command string
		m       modelManager
		code    int
		told    string
		said    string
	}{
		{"install", modelManager{}, 0, "install start", "installed and started by a model"},
		{"install", modelManager{refuses: errors.New("no rights")}, exitFailed, "install", "no rights"},
		{"install", modelManager{refuses: &exec.ExitError{}}, exitFailed, "install", "a model refused, "},
		{"install", modelManager{name: "windows-service"}, 0, "install start", "started by windows-service"},
		{"install", modelManager{name: "freebsd"}, exitFailed, "", "start --background"},
		{"status", modelManager{name: "unix-systemv"}, exitFailed, "", "service of systemd"},
		{"uninstall", modelManager{name: "windows-service"}, 0, "status stop uninstall", ""},
		{"uninstall", modelManager{}, 0, "status stop uninstall", ""},
		{"uninstall", modelManager{refuses: service.ErrNotInstalled}, exitFailed, "status", "not installed"},
		{"status", modelManager{status: service.StatusRunning}, 0, "status", "and runs"},
		{"status", modelManager{status: service.StatusStopped}, exitFailed, "status", "does not run"},
		{"status", modelManager{refuses: service.ErrNotInstalled}, exitFailed, "status", "not installed"},
	} {
		f := newFake()
		var cfg *service.Config
		f.manager = func(given *service.Config) (manager, error) {
			cfg = given
			return &c.m, nil
		}
		code := f.run("service", c.command, "--state-dir", "/srv/satin", "--runtime-dir", "run")
		said := f.out.String() + f.err.String()
		if code != c.code || strings.Join(c.m.told, " ") != c.told || !strings.Contains(said, c.said) {
			t.Errorf("%s: exit code %d, the system was told %q, the user %q", c.command, code, c.m.told, said)
		}
		run, err := filepath.Abs("run") // the service is started in another directory
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"start", "--state-dir=/srv/satin", "--runtime-dir=" + run}; cfg.Option["UserService"] != true ||
			!slices.Equal(cfg.Arguments, want) {
			t.Errorf("%s: %+v", c.command, cfg)
		}
	}
}

// Guards that no service of the machine is said to be started that has all its rights, or cannot live in its unit.
func TestServiceOfTheMachine(t *testing.T) {
	for _, c := range []struct{ platform, self, place, why string }{
		{"linux-systemd", "/usr/bin/satin-peer", "--state-dir=/var/lib/satin-peer/two", ""},
		{"linux-systemd", "/usr/bin/satin-peer", "--config=/etc/satin.toml", ""},
		{"linux-systemd", "/home/ada/.local/bin/satin-peer", "", "is in a home"},
		{"linux-systemd", "/usr/bin/satin-peer", "--config=/root/satin.toml", "is in a home"},
		{"linux-systemd", "/usr/bin/satin-peer", "--state-dir=/var/lib/satin-peers", "may write in /var/lib/satin-peer only"},
		{"darwin-launchd", "/usr/local/bin/satin-peer", "", "all rights"},
		{"windows-service", `C:\satin-peer.exe`, `--state-dir=C:\satin`, ""},
	} {
		if got := forbids(c.platform, c.self, strings.Fields(c.place)); got != c.why && (c.why == "" ||
			!strings.Contains(got, c.why)) {
			t.Errorf("%+v: %q", c, got)
		}
	}
	f, m := newFake(), modelManager{name: "darwin-launchd"}
	f.manager = func(*service.Config) (manager, error) { return &m, nil }
	if code := f.run("service", "install", "--system"); code != exitFailed || len(m.told) > 0 {
		t.Errorf("exit code %d, launchd was told %q", code, m.told)
	}
	if code := f.run("service", "uninstall", "--system"); code != 0 {
		t.Errorf("one that an earlier version has installed stays: exit code %d", code)
	}
}

// Guards that launchd leaves a daemon alone that was told to leave, and starts one again that has failed.
func TestAgent(t *testing.T) {
	text := serviceConfig("/bin/x", nil, false).Option["LaunchdConfig"].(string)
	if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil {
		t.Error(err)
	}
	plain := strings.Join(strings.Fields(text), "")
	if !strings.Contains(plain, "<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>") {
		t.Error(text)
	}
}

// Guards that jobs of others do not run with all rights of a Windows machine.
func TestServiceAccount(t *testing.T) {
	if got := serviceAccount("windows"); got != `NT AUTHORITY\LocalService` || serviceAccount("linux") != "" {
		t.Errorf("on Windows it is run by %q, on Linux by %q", got, serviceAccount("linux"))
	}
}

// TestUnit has systemd itself look at both units, and checks that the library writes what it is given.
func TestUnit(t *testing.T) {
	if got, want := systemdWord(`/a b/50%"$x\`), `"/a b/50%%\"$$x\\"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []bool{false, true} {
		unit := systemdUnit([]string{self, "start", "--state-dir=/a b"}, system)
		for want, there := range map[string]bool{
			"WantedBy=default.target": !system, "DynamicUser=yes": system, "NoNewPrivileges=yes": true,
			`"start" "--state-dir=/a b"`: true, "{{": false, "%!": false,
		} {
			if strings.Contains(unit, want) != there {
				t.Errorf("system %v: %q in the unit: %v\n%s", system, want, !there, unit)
			}
		}
		analyze, err := exec.LookPath("systemd-analyze")
		if err != nil {
			t.Log("there is no systemd-analyze to verify the unit")
			continue
		}
		path := filepath.Join(t.TempDir(), "satin-peer.service")
		if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"verify", "--man=no", path}
		if !system {
			args = append([]string{"--user"}, args...)
		}
		verify := exec.Command(analyze, args...)
		verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := verify.CombinedOutput()
		if err != nil || strings.Contains(string(out), path) {
			t.Errorf("system %v: %v\n%s", system, err, out)
		}
	}
}
