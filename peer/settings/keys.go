package settings

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal/policy"
)

// A key is one setting: its name in the file, what it is for, and where its value goes.
type key struct {
	name  string
	title string   // heads the key and those after it in the commented file; may be empty
	about []string // sentences for the file; the first, without its full stop, also explains the flag
	word  string   // that the help shows for the flag's value; empty: one for the kind
	kind  kind
	want  string // what is allowed, for errors; after "want"
	owner bool   // a daemon that runs takes it up: the owner of the machine says it beside his own work

	// field is where the value is: a *string, *[]string, *bool, *int or *time.Duration, as kind says.
	field func(*Settings) any
	// check is nil, or says whether a value of the right kind is allowed.
	check func(s *Settings) bool
}

// A kind is the sort of values a key takes.
type kind int

const (
	textKind kind = iota
	pathKind      // a text that becomes an absolute path
	listKind
	boolKind
	numberKind
	durationKind
)

func (k *key) flag() string { return strings.ReplaceAll(k.name, "_", "-") }
func (k *key) env() string  { return envPrefix + strings.ToUpper(k.name) }

const envPrefix = "SATIN_"

// keys are all settings in the order of the commented file.
func keys() []*key {
	return slices.Concat(placeKeys(), swarmKeys(), networkKeys(), workKeys(), ownerKeys(), keepKeys(), daemonKeys())
}

func keyNamed(name string) *key {
	for _, k := range keys() {
		if k.name == name {
			return k
		}
	}
	return nil
}

func oneOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return "one of " + strings.Join(quoted, ", ")
}

// isName says whether a text can be shown as a name; empty is none at all.
func isName(s string) bool {
	strange := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
	return len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, strange)
}

// isLoopback says whether a text is a literal loopback address with a port.
func isLoopback(s string) bool {
	at, err := netip.ParseAddrPort(s)
	return err == nil && at.Addr().IsLoopback() && !at.Addr().Is4In6() && at.Addr().Zone() == ""
}

// choice makes a key whose value is one of some words.
func choice(name string, field func(*Settings) *string, words []string, about ...string) *key {
	return &key{
		name: name, about: append(about, "It is "+oneOf(words)+"."), kind: textKind, want: oneOf(words),
		word:  strings.ToUpper(name[strings.LastIndexByte(name, '_')+1:]),
		field: func(s *Settings) any { return field(s) },
		check: func(s *Settings) bool { return slices.Contains(words, *field(s)) },
	}
}

// nameKey makes a key whose value is one word, or empty.
func nameKey(name string, field func(*Settings) *string, about ...string) *key {
	return &key{name: name, about: about, kind: textKind, want: "a name of at most 64 bytes without blanks",
		field: func(s *Settings) any { return field(s) },
		check: func(s *Settings) bool { return isName(*field(s)) }}
}

func boolKey(name string, field func(*Settings) *bool, about ...string) *key {
	return &key{name: name, about: about, kind: boolKind, want: "true or false",
		field: func(s *Settings) any { return field(s) }}
}

// numberKey makes a key whose value is a whole number from least to most.
func numberKey(name string, field func(*Settings) *int, least, most int, about ...string) *key {
	return &key{name: name, about: about, kind: numberKind,
		want:  fmt.Sprintf("a whole number from %d to %d", least, most),
		field: func(s *Settings) any { return field(s) },
		check: func(s *Settings) bool { n := *field(s); return n >= least && n <= most }}
}

// orZero lets a number be 0 besides.
func (k *key) orZero() *key {
	within := k.check
	k.want, k.check = "0, or "+k.want, func(s *Settings) bool { return *k.field(s).(*int) == 0 || within(s) }
	return k
}

// durationKey makes a key whose value is a duration from least to most.
func durationKey(name string, field func(*Settings) *time.Duration, least, most time.Duration, such string,
	about ...string) *key {
	return &key{name: name, about: about, kind: durationKind,
		want:  fmt.Sprintf("a duration from %v to %v, such as %s", least, most, such),
		field: func(s *Settings) any { return field(s) },
		check: func(s *Settings) bool { d := *field(s); return d >= least && d <= most }}
}

func placeKeys() []*key {
	return []*key{{
		name: "state_dir", title: "Where things are", kind: pathKind, want: "an absolute path",
		about: []string{"Directory of the peer's identity and memory.",
			"Each peer has its own: a second one in it is refused."},
		field: func(s *Settings) any { return &s.StateDir },
	}, {
		name: "runtime_dir", kind: pathKind, want: "an absolute path",
		about: []string{"Directory of the control socket.",
			"Empty: the folder \"control\" of state_dir, so that whoever knows that finds the daemon. The socket's path has at most 103 bytes."},
		field: func(s *Settings) any { return &s.RuntimeDir },
	}}
}

func swarmKeys() []*key {
	name := nameKey("swarm", func(s *Settings) *string { return &s.Swarm }, "Name of the swarm.",
		"Empty: the one that state_dir belongs to; at first it is called \"satin\".")
	name.title = "The swarm"
	own := nameKey("name", func(s *Settings) *string { return &s.Name },
		"Name of this peer, which other members see.", "Empty: that of the machine. It need not be unique.")
	join := &key{
		name: "join", word: "ADDRESS", kind: listKind, want: "addresses or invitations, at most 64",
		about: []string{"Members to connect to at the start.",
			"They are given by address (a full multiaddr, with /p2p/ and the peer ID at the end) or by invitation."},
		field: func(s *Settings) any { return &s.Join },
	}
	trust := choice("trust", func(s *Settings) *string { return &s.Trust }, []string{TrustInvite, TrustOpen},
		"Who may join the swarm.",
		"With \"invite\" only those who were invited, with \"open\" anybody: for networks where all are friends.")
	trust.word = "WHO"
	trusted := &key{
		name: "trusted", word: "PEER", kind: listKind, want: "peer IDs as satin-peer status prints them, at most 64",
		about: []string{"Peers whose results are used uncompared in runs of this machine that are verified.",
			"They are your other machines, and those that you vouch for as for your own."},
		field: func(s *Settings) any { return &s.Trusted },
		check: func(s *Settings) bool {
			return !slices.ContainsFunc(s.Trusted, func(id string) bool { return len(id) < minPeerID || !isName(id) })
		},
	}
	return []*key{name, own, trust, join, trusted}
}

func networkKeys() []*key {
	listen := &key{
		name: "listen", title: "The network", word: "ADDRESS", kind: listKind,
		want: "multiaddrs such as /ip4/0.0.0.0/tcp/4001, at most 64",
		about: []string{"Multiaddrs to listen on, such as \"/ip4/0.0.0.0/udp/4001/quic-v1\".",
			"Empty: QUIC and TCP on all interfaces, on any free port. Give a port to open it in a firewall."},
		field: func(s *Settings) any { return &s.Listen },
		check: func(s *Settings) bool {
			return !slices.ContainsFunc(s.Listen, func(a string) bool { return !strings.HasPrefix(a, "/") })
		},
	}
	connections := numberKey("max_connections", func(s *Settings) *int { return &s.MaxConnections }, MinConnections,
		MaxConnections, "Connections to other peers at most.", "One costs about 0.2 MB.")
	return []*key{
		listen,
		boolKey("mdns", func(s *Settings) *bool { return &s.MDNS }, "Find members on the local network by multicast DNS."),
		boolKey("dht", func(s *Settings) *bool { return &s.DHT },
			"Find members through a Kademlia of the swarm's own, never the public one."),
		boolKey("nat", func(s *Settings) *bool { return &s.NAT },
			"Find out whether others can connect, ask the router for a port, punch holes, and use relays if need be."),
		boolKey("relay", func(s *Settings) *bool { return &s.Relay },
			"Pass on connections between members that cannot reach each other.",
			"Useful of a peer that is publicly reachable; it costs it bandwidth."),
		connections,
	}
}

func workKeys() []*key {
	cluster := nameKey("cluster", func(s *Settings) *string { return &s.Cluster },
		"Name of the cluster, the group of near peers that steal freely from each other.",
		"Empty: found out by local network and round-trip times.")
	cluster.title = "The work"
	workers := numberKey(workersKey, func(s *Settings) *int { return &s.Workers }, 0, MaxWorkers,
		"Cores to use; 0: all.", "More than the daemon was started with it has after its next start.")
	memory := numberKey("memory", func(s *Settings) *int { return &s.Memory }, MinMemory, MaxMemory,
		"MiB of memory that the jobs of one run may have; 0: half of the machine's, or of its container's.",
		"A run that needs more loses its process here, and is left alone after the second time. One that has begun keeps what it was given.").orZero()
	memory.word, workers.owner, memory.owner = "MIB", true, true
	modules := choice("modules", func(s *Settings) *string { return &s.Modules },
		[]string{ModulesMembers, ModulesPublished, ModulesOff},
		"Whose modules are run besides the applications that are built in.",
		"Modules are programs in WebAssembly, sandboxed. With \"members\" those that members run, with \"published\" those "+
			"that a member has published, with \"off\" none; native programs never come from others.")
	modules.word = "WHOSE"
	cache := numberKey("module_cache", func(s *Settings) *int { return &s.ModuleCache }, MinModuleCache, MaxModuleCache,
		"MiB of the disk that modules may take, with what was compiled of them.")
	cache.word = "MIB"
	return []*key{
		cluster,
		choice("policy", func(s *Settings) *string { return &s.Policy }, policy.Names(),
			"How victims are chosen when there is nothing to do."),
		workers,
		choice("priority", func(s *Settings) *string { return &s.Priority }, []string{PriorityIdle, PriorityNormal},
			"How much the workers yield to other programs.",
			"\"idle\" computes only when nothing else wants the core; the network part of the peer is never held back.",
			"Whichever it is, jobs are stopped while other programs leave next to nothing of all cores."),
		memory, objectsKey(), executablesKey(), modules, cache, provisionKey(),
		numberKey("provision_most", func(s *Settings) *int { return &s.ProvisionMost }, 1, maxProvision,
			"Machines that \"provision\" asks for at most for one run."),
	}
}

func provisionKey() *key {
	return &key{
		name: "provision", word: "ARGUMENT", kind: listKind,
		want: "a program by its whole path and its arguments, such as \"/home/me/bin/more\", \"--large\"",
		about: []string{"Command, with its arguments, that asks for machines when a run of this peer wants more than there are.",
			"It gets their number and the run's ID as its last arguments, and is ended after a minute. Empty: nobody is asked."},
		field: func(s *Settings) any { return &s.Provision },
		check: func(s *Settings) bool { return len(s.Provision) == 0 || filepath.IsAbs(s.Provision[0]) },
	}
}

func executablesKey() *key {
	return &key{
		name: "executables", word: "NAME=PATH", kind: listKind,
		want: fmt.Sprintf("at most %d like blast=/usr/bin/blastn, or with @ and the SHA-256 of the file in hexadecimal digits, each name once",
			maxExecutables),
		about: []string{"Programs of this machine that jobs may have run, as \"NAME=PATH\" or \"NAME=PATH@SHA256\".",
			"They get no files, no network and the memory of jobs. Other members' runs may have them run that need the very same file."},
		field: func(s *Settings) any { return &s.Executables },
		check: func(s *Settings) bool {
			names := map[string]bool{}
			return len(s.Executables) <= maxExecutables && !slices.ContainsFunc(s.Executables, func(x string) bool {
				name, _, _, ok := Executable(x)
				twice := names[name]
				names[name] = true
				return !ok || twice
			})
		},
	}
}

// Executable takes a value of Executables apart; the hash is "" if none is asked for.
func Executable(x string) (name, path, hash string, ok bool) {
	name, path, ok = strings.Cut(x, "=")
	if i := strings.LastIndexByte(path, '@'); i >= 0 && !strings.Contains(path[i:], "/") {
		path, hash = path[:i], path[i+1:]
		_, isHash := wire.ParseHash(hash)
		ok = ok && isHash
	}
	return name, path, hash, ok && name != "" && isName(name) && filepath.IsAbs(path)
}

func objectsKey() *key {
	k := numberKey("objects_memory", func(s *Settings) *int { return &s.ObjectsMemory }, MinObjects, MaxMemory,
		"MiB of memory that what the jobs of others' runs share may take: constants, objects and lattices.",
		"One run, own ones too, and all runs of one owner may have half of it. Jobs that read something larger are",
		"left to other peers; the log says so.")
	k.word = "MIB"
	return k
}

// keepKeys are about what is kept of runs, and how long.
func keepKeys() []*key {
	disk := numberKey("run_disk", func(s *Settings) *int { return &s.RunDisk }, MinRunDisk, MaxRunDisk,
		"MiB of the disk for checkpoints of other peers' runs and copies that members have kept here; 0: no bound.",
		"One owner's runs may have half of it, what one peer has computed too (also for",
		"runs of your own), all copies too, one run a quarter, and the copies of one member.").orZero()
	memory := numberKey("run_memory", func(s *Settings) *int { return &s.RunMemory }, MinRunMemory, MaxMemory,
		"MiB of the daemon's memory that what other members give it may take; 0: as much as there is.",
		"Half of it is for jobs and results, of which one run, one owner and one member may have half.").orZero()
	disk.word, memory.word, disk.owner = "MIB", "MIB", true
	life := &key{
		name: "longest_life", kind: durationKind, want: "0, or a duration of a minute at least, such as 48h",
		about: []string{"How old a run of another peer may become here; 0: as old as its owner lets it.",
			"Older ones are refused, and what is kept of them is removed."},
		field: func(s *Settings) any { return &s.LongestLife },
		check: func(s *Settings) bool { return s.LongestLife == 0 || s.LongestLife >= time.Minute },
	}
	checkpoint := boolKey("checkpoint", func(s *Settings) *bool { return &s.Checkpoint },
		"Keep what is computed of runs, own and those of others, in state_dir until they end.",
		"So a run survives the loss of all its peers, and can be suspended and resumed.")
	interval := durationKey("checkpoint_interval", func(s *Settings) *time.Duration { return &s.CheckpointInterval },
		MinInterval, MaxInterval, "60s",
		"How long a result may wait before it is written: what the loss of all peers costs at most.", "A longer one writes less.")
	return []*key{disk, memory, life, checkpoint, interval}
}

func daemonKeys() []*key {
	level := choice("log_level", func(s *Settings) *string { return &s.LogLevel },
		[]string{"debug", "info", "warn", "error"}, "What the daemon logs, on standard error.")
	level.title = "The daemon"
	leave := durationKey("leave_after", func(s *Settings) *time.Duration { return &s.LeaveAfter }, 0, MaxLeave, "10s",
		"How long leaving may take after SIGTERM.",
		"In that time work is given back and goodbye is said; then the daemon ends in any case.")
	patience := durationKey("leave_patience", func(s *Settings) *time.Duration { return &s.LeavePatience }, 0, MaxLeave,
		"5s", "How much of leave_after may be spent on handing results over to other peers.",
		"With little to hand over leaving takes no longer for it. 0s: nothing is handed over, and is computed again.")
	emulate := &key{
		name: "emulate", kind: pathKind, want: "an absolute path",
		about: []string{"Directory of a wide-area network to imitate between the peers of this machine, for experiments.", "Made by satin-peer emulate create; the cluster must be one of its names. Empty: none."},
		field: func(s *Settings) any { return &s.Emulate },
	}
	dashboard := &key{
		name: "dashboard", word: "WHERE", kind: textKind, want: "\"auto\", \"off\", or a loopback address and port, such as 127.0.0.1:0",
		about: []string{"Where browsers of this machine find the dashboard; \"off\" for none.",
			"\"auto\" is port 7746 of 127.0.0.1, or the next one that is free; port 0 is any. Other machines are not answered: forward the port to them, as ssh -L does."},
		field: func(s *Settings) any { return &s.Dashboard },
		check: func(s *Settings) bool {
			return s.Dashboard == DashboardAuto || s.Dashboard == DashboardOff || isLoopback(s.Dashboard)
		},
	}
	return []*key{
		level,
		choice("log_format", func(s *Settings) *string { return &s.LogFormat }, []string{LogText, LogJSON},
			"How log lines look."),
		leave, patience, dashboard, emulate,
	}
}

// set puts a value, as TOML has it or as a text, into the key's field; false if it is not of the right kind
// or not allowed.
func (k *key) set(s *Settings, value any) bool {
	ok := false
	switch field := k.field(s).(type) {
	case *string:
		*field, ok = value.(string)
		ok = ok && len(*field) <= maxText
	case *bool:
		*field, ok = value.(bool)
		if text, is := value.(string); is {
			*field, ok = text == "true", text == "true" || text == "false"
		}
	case *int:
		*field, ok = number(value)
	case *time.Duration:
		if text, is := value.(string); is {
			d, err := time.ParseDuration(text)
			*field, ok = d, err == nil
		}
	case *[]string:
		*field, ok = list(value)
	}
	return ok && (k.check == nil || k.check(s))
}

func number(value any) (int, bool) {
	switch v := value.(type) {
	case int64:
		return int(v), int64(int(v)) == v
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil
	}
	return 0, false
}

// list reads an array, or a text of addresses with commas or blanks between them.
func list(value any) (l []string, ok bool) {
	switch v := value.(type) {
	case string:
		l = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
	case []string:
		l = v
	case []any:
		for _, e := range v {
			text, is := e.(string)
			if !is {
				return nil, false
			}
			l = append(l, text)
		}
	default:
		return nil, false
	}
	tooLong := slices.ContainsFunc(l, func(s string) bool { return s == "" || len(s) > maxText })
	return l, len(l) <= maxList && !tooLong
}
