package cli

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/gologshim"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/settings"
)

// openPeer makes a real peer of the settings, whose jobs run in processes of their own, started with a command, or if
// that is nil in this one.
func openPeer(compute []string) opener {
	return func(ctx context.Context, l *settings.Loaded, list []apps.App, log *slog.Logger) (member, error) {
		cfg := peerConfig(l, log)
		cfg.Compute = compute
		p, err := openWith(ctx, cfg, l, list, log)
		if err == nil && compute != nil {
			runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), processorsFor(runtime.NumCPU())))
		}
		return p, err
	}
}

// processorsFor is how many cores a process uses at once that has its jobs run by others. What comes over the network
// is little work and often; with more of them free, Go wakes a thread for each packet, which looks for more and
// sleeps again: on two cores that was a sixth of all that a short run cost six daemons.
func processorsFor(cores int) int { return max(1, cores/4) }

// processes is the command that starts this program again to run jobs: the file that runs, for an upgrade may put
// another in its place, whose jobs are those of another version. Only Linux has a name for it, and has it in /proc.
func processes() []string { return processesOn(runtime.GOOS) }

func processesOn(system string) []string {
	const running = "/proc/self/exe" // on Windows anybody may make such a file
	if _, err := os.Stat(running); err == nil && system == "linux" {
		return []string{running, computeCommand}
	}
	self, err := os.Executable()
	if err != nil { // a Linux without /proc: how it was called has to do, as no job is to run in this process
		if self, err = exec.LookPath(os.Args[0]); err == nil {
			self, _ = filepath.Abs(self)
		}
	}
	return []string{self, computeCommand}
}

func openWith(ctx context.Context, cfg peer.Config, l *settings.Loaded, list []apps.App, log *slog.Logger) (member,
	error) {
	var err error
	if cfg.Executables, err = executables(l.Executables); err != nil {
		return nil, err
	}
	sources := map[string]string{}
	for _, a := range list {
		sources[a.Name] = a.Version
	}
	built, err := peer.Built(sources)
	if err != nil {
		return nil, failed("%w", err)
	}
	for i := range built {
		a := slices.IndexFunc(list, func(a apps.App) bool { return a.Name == built[i].Name })
		built[i].Executables = list[a].Executables
	}
	gologshim.SetDefaultHandler(networkLog(l, log))
	p, err := peer.Open(ctx, cfg, built)
	if errors.Is(err, host.ErrAddress) || errors.Is(err, host.ErrInvitation) {
		return nil, err
	}
	if err != nil {
		return nil, failed("%w", err)
	}
	return p, nil
}

func peerConfig(l *settings.Loaded, log *slog.Logger) peer.Config {
	trust, prefer := host.TrustInvite, l.Prefers(settings.MaxWorkers)
	if l.Trust == settings.TrustOpen {
		trust = host.TrustOpen
	}
	return peer.Config{
		Host: host.Config{
			StateDir: l.StateDir, Listen: l.Listen, Swarm: l.Swarm, Trust: trust, Bootstrap: l.Join,
			MDNS: l.MDNS, DHT: l.DHT, NAT: l.NAT, Relay: l.Relay, MaxConns: l.MaxConnections,
			Agent: "satin-peer " + software(), Logger: log,
		},
		Workers: l.Workers, Prefer: &prefer, FullPriority: l.Priority == settings.PriorityNormal, Cluster: l.Cluster,
		ObjectsMemory: int64(l.ObjectsMemory) << 20,
		Modules:       l.Modules, ModuleCache: int64(l.ModuleCache) << 20,
		LongestLife: l.LongestLife, RunMemory: int64(l.RunMemory) << 20,
		Policy: l.Policy, Emulate: l.Emulate, Trusted: l.Trusted,
		Provision: l.Provision, ProvisionMost: l.ProvisionMost,
		LeavePatience: l.LeavePatience, Checkpoint: checkpointEvery(l),
		Name: cmp.Or(l.Name, machineName()), Software: software(), Log: log,
	}
}

// machineName is the host's, without its domain; "" if it has none.
func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// checkpointEvery is how often results are written; 0: never.
func checkpointEvery(l *settings.Loaded) time.Duration {
	if !l.Checkpoint {
		return 0
	}
	return l.CheckpointInterval
}

// networkLog is where libp2p's own messages go. It calls much an error that is the life of a network, so they
// are only for those who look for one; what matters to users the peer itself logs, or returns.
func networkLog(l *settings.Loaded, log *slog.Logger) slog.Handler {
	if l.LogLevel != "debug" {
		return slog.DiscardHandler
	}
	return quieter{log.Handler()}
}

// A quieter handler drops what is less than a warning.
type quieter struct{ slog.Handler }

func (q quieter) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}
func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }

// software is the program's version, for people.
func software() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return version(info)
}
