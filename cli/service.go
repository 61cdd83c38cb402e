package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kardianos/service"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A manager is the system's: service.Service is one.
type manager interface {
	Install() error
	Uninstall() error
	Start() error
	Stop() error
	Status() (service.Status, error)
	Platform() string
}

const serviceName = "satin-peer"

// newManager finds the system's for a service.
func newManager(cfg *service.Config) (manager, error) { return service.New(nothing{}, cfg) }

// unserved are the managers, by the library's names of them, that could not start the daemon, not stop it, or only with
// all rights of the machine, and why.
var unserved = map[string]string{
	"freebsd":       "the daemon cannot be a service of FreeBSD: rc.d takes no name with a dash in it",
	"unix-systemv":  noSystemd,
	"linux-upstart": noSystemd,
	"linux-openrc":  noSystemd,
	"linux-rcs":     noSystemd,
	"linux-procd":   noSystemd,
}

const noSystemd = "on Linux the daemon is a service of systemd, which did not start this machine"

// nothing is what is run where only files are written.
type nothing struct{}

func (nothing) Start(service.Service) error { return nil }
func (nothing) Stop(service.Service) error  { return nil }

func newServiceCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Let the system start the daemon",
		Long: `service has the system start the daemon at each login, and again if it fails: systemd or launchd for this user, or systemd, with
--system, for the machine, whoever is logged in; that needs the rights of an administrator. On Windows it is always for the machine, by an account with
few rights. On FreeBSD it cannot: use start --background.`,
		Example: `  satin-peer service install
  satin-peer service status
  satin-peer service uninstall`,
		SuggestionsMinimumDistance: typoDistance,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return group("command", cmd, args) }
	cmd.AddCommand(
		serviceCommand(c, "install", "Install the service, and start it",
			`install writes the service's description for this system, and starts it. --config, --state-dir and
--runtime-dir are given to the daemon.`,
			func(m manager) error {
				if err := m.Install(); err != nil {
					return err
				}
				if err := m.Start(); err != nil {
					return fmt.Errorf("it is installed, but could not be started: %w", err)
				}
				_, err := fmt.Fprintf(c.err, "installed and started by %s\n", m.Platform())
				return err
			}),
		serviceCommand(c, "uninstall", "Stop the service, and remove it",
			"uninstall stops the daemon, which hands its work over, and removes the service. What the peer knows stays: see purge.",
			func(m manager) error {
				if _, err := m.Status(); errors.Is(err, service.ErrNotInstalled) {
					return err
				}
				_ = m.Stop() // it may not be running
				return m.Uninstall()
			}),
		serviceCommand(c, "status", "Say whether the service is installed, and runs",
			"status says whether the service is installed, and runs. The exit code is 1 if it does not.",
			func(m manager) error {
				s, err := m.Status()
				if err != nil {
					return err
				}
				if s != service.StatusRunning {
					return errors.New("the service is installed, and does not run")
				}
				_, err = fmt.Fprintln(c.out, "the service is installed, and runs")
				return err
			}))
	return cmd
}

func serviceCommand(c console, name, short, long string, do func(m manager) error) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: long, Example: "  satin-peer service " + name,
		Args: noArgs, ValidArgsFunction: cobra.NoFileCompletions}
	system := cmd.Flags().Bool("system", false, "for the machine, and not for this user")
	addPlaceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return failed("where this program is cannot be found out: %w", err)
		}
		place, err := placeArguments(cmd.Flags())
		if err != nil {
			return failed("%w", err)
		}
		m, err := c.manager(serviceConfig(self, place, *system))
		if err != nil {
			return failed("%w", err)
		}
		if why := unserved[m.Platform()]; why != "" {
			return failed("%s: start it by satin-peer start --background", why)
		}
		if why := forbids(m.Platform(), self, place); *system && name == "install" && why != "" {
			return failed("%s", why)
		}
		err = do(m)
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit): // what it said is lost
			return failed("%s refused, %w: its own command (systemctl, launchctl) says why", m.Platform(), err)
		case err != nil:
			return failed("%w", err)
		}
		return nil
	}
	return cmd
}

// machineState is all that the unit of the machine may write, and homes are what it does not see.
const machineState = "/var/lib/satin-peer"

var homes = []string{"/home", "/root", "/run/user"}

// forbids says why a system would not let a service of the machine live, or let it do anything: its managers say that
// it is started.
func forbids(platform, self string, place []string) (why string) {
	if platform == "darwin-launchd" {
		return "launchd would have it run with all rights of the machine: install it without --system"
	}
	if platform != "linux-systemd" {
		return ""
	}
	within := func(path string) func(dir string) bool {
		return func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
	}
	if slices.ContainsFunc(homes, within(self)) {
		return self + " is in a home, which a service of the machine does not see: put it into /usr/local/bin first"
	}
	for _, p := range place {
		switch flag, path, _ := strings.Cut(p, "="); {
		case slices.ContainsFunc(homes, within(path)):
			return p + " is in a home, which a service of the machine does not see"
		case flag != "--config" && !within(path)(machineState):
			return p + ": a service of the machine may write in " + machineState + " only"
		}
	}
	return ""
}

// placeArguments are the flags that were given and say where things are, from any directory: a service is started in
// another one.
func placeArguments(flags *pflag.FlagSet) (list []string, err error) {
	for _, name := range []string{"config", "state-dir", "runtime-dir"} {
		f := flags.Lookup(name)
		if !f.Changed || f.Value.String() == "" {
			continue
		}
		path, err := filepath.Abs(f.Value.String())
		if err != nil {
			return nil, err
		}
		list = append(list, "--"+name+"="+path)
	}
	return list, nil
}

// serviceConfig describes the service.
func serviceConfig(self string, place []string, system bool) *service.Config {
	args := append([]string{"start"}, place...)
	return &service.Config{
		UserName: serviceAccount(runtime.GOOS), Name: serviceName, DisplayName: "satin-peer",
		Description: "Computes for a swarm when nothing else wants the cores",
		Executable:  self, Arguments: args,
		Option: service.KeyValue{
			"UserService": !system, "OnFailure": "restart",
			"SystemdScript": systemdUnit(append([]string{self}, args...), system), "LaunchdConfig": agentText,
		},
	}
}

// serviceAccount is who runs it on Windows, where a service would have all rights otherwise; "" elsewhere.
func serviceAccount(system string) string {
	if system == "windows" {
		return `NT AUTHORITY\LocalService`
	}
	return ""
}

// systemdUnit is the unit, hardened as far as jobs and the network part can do with it: modules are compiled, so memory
// may be made executable; jobs give up files and network by themselves. A manager of one user may do less than that of
// the machine.
func systemdUnit(command []string, system bool) string {
	var words []string
	for _, w := range command {
		words = append(words, systemdWord(w))
	}
	target, more := "default.target", ""
	if system {
		target, more = "multi-user.target", systemOnly
	}
	return fmt.Sprintf(unitText, strings.Join(words, " "), more, target)
}

// systemdWord quotes a word of ExecStart. Braces, which the library's templates know, cannot be in it.
func systemdWord(w string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(w) + `"`
}

const unitText = `[Unit]
Description=satin-peer: computes for a swarm when nothing else wants the cores
Documentation=man:satin-peer(1)
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=%s
Restart=on-failure
RestartSec=10
# SIGTERM lets it hand its work over, within leave_after
KillMode=mixed
TimeoutStopSec=30
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
UMask=0077
%s
[Install]
WantedBy=%s
`

// agentText is the library's template for launchd, which would start a daemon again that was told to leave.
const agentText = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>{{Name | html}}</string>
	<key>ProgramArguments</key>
	<array>
		<string>{{Path | html}}</string>
{{range Arguments}}		<string>{{. | html}}</string>
{{end}}	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ExitTimeOut</key>
	<integer>30</integer>
	<key>StandardErrorPath</key>
	<string>{{StandardErrorPath | html}}</string>
</dict>
</plist>
`

const systemOnly = `DynamicUser=yes
StateDirectory=satin-peer
StateDirectoryMode=0700
Environment=SATIN_STATE_DIR=` + machineState + `
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectHostname=yes
RestrictNamespaces=yes
CapabilityBoundingSet=
`
