package house

// A room is a folder, or a pattern of folders as in path.Match, and what the package in it may import besides the
// standard library.
type room struct {
	dir     string
	knows   []string // folders of this module, or patterns; "." is package satin
	modules []string // other modules, by the beginning of the import path; "*" is any that is not libp2p
	tests   []string // folders that only its tests may import: what they try the room on
}

// rooms is the table that docs/architecture.md explains; the first entry that fits a folder counts. A room
// that does not exist yet is here to say what it will be allowed to know.
var rooms = []room{
	{dir: ".", knows: []string{"internal/engine", "job"}},
	{dir: "internal/engine", knows: []string{"job"}, tests: []string{"."}},
	{dir: "satintest", knows: []string{".", "internal/engine"}},
	{dir: "job"}, // knows nobody: whoever has to say which job is meant may know it
	{dir: "steal", knows: []string{"job", "steal/policy"},
		tests: []string{"internal/driver", "internal/port", "internal/transcript"}},
	{dir: "steal/policy"}, // whom to ask and what to give: names, numbers and times
	{dir: "adapt", tests: []string{"internal/transcript"}}, // names and shares of time
	{dir: "runs", knows: []string{"job", "internal/calendar"}, // a sibling of steal
		tests: []string{"internal/transcript", "internal/wallclock"}},
	{dir: "gossip", knows: []string{".", "internal/wire"},
		modules: append([]string{"golang.org/x/time/rate"}, libp2p...), tests: []string{"internal/virtualnet"}},
	{dir: "sharedobj", tests: []string{"internal/transcript"}}, // what is shared is bytes to it
	{dir: "verify"},        // what a stranger has computed: hashes to it
	{dir: "dashboard/web"}, // files
	{dir: "dashboard", knows: []string{".", "internal/*", "dashboard/web"},
		modules: []string{"github.com/gorilla/websocket", "github.com/prometheus/client_golang/prometheus",
			"golang.org/x/net/netutil"}},
	{dir: "peer", knows: []string{".", "adapt", "job", "steal", "steal/policy", "runs", "gossip", "sharedobj", "verify", "internal/*",
		"internal/compute/child",
		"peer/*"},
		modules: append([]string{"*"}, libp2p...), tests: []string{"internal/tab/visitor", "peer/vouching/vouchtest"}},
	{dir: "internal/tab", knows: []string{"job", "steal", "sharedobj", "internal/wire"}},
	{dir: "internal/tab/visitor", knows: []string{"job", "steal", "sharedobj", "steal/policy", "internal/compute",
		"internal/driver", "internal/module", "internal/tab", "internal/wire", "peer/session", "peer/statement", "verify"},
		modules: libp2p},
	{dir: "internal/tab/browser", knows: []string{"apps/all", "internal/module", "internal/tab", "internal/tab/visitor",
		"peer/statement"}},
	{dir: "internal/tab/pack", knows: []string{"apps/all", "peer/gateway", "peer/statement"}},
	{dir: "peer/gateway", knows: []string{"dashboard/web", "internal/tab", "internal/wire", "peer/statement"},
		modules: []string{"github.com/gorilla/websocket"}, tests: []string{"internal/swarm", "peer/control"}},
	{dir: "peer/control", knows: []string{"internal/cause", "internal/durable", "internal/report"},
		modules: []string{"github.com/gofrs/flock", "golang.org/x/net/netutil"}},
	{dir: "peer/preferences"},
	{dir: "peer/members", knows: []string{"internal/plain", "internal/report", "peer/statement"}, modules: libp2p},
	{dir: "peer/arbiter", knows: []string{"adapt"}},
	{dir: "peer/courtesy", knows: []string{"internal/report", "peer/preferences", "peer/senses"},
		tests: []string{"peer/arbiter"}},
	{dir: "peer/thrift"},
	{dir: "peer/base", knows: []string{"peer/cabinet"}},
	{dir: "peer/cabinet", knows: []string{"internal/checkpoint", "internal/durable", "internal/wire"}},
	{dir: "peer/vouching", knows: []string{"internal/compute", "internal/cputime", "internal/driver", "job",
		"peer/statement", "steal", "verify"}, modules: libp2p, tests: []string{"peer/vouching/vouchtest"}},
	{dir: "peer/vouching/vouchtest", knows: []string{"internal/driver", "job", "peer/vouching", "steal", "verify"},
		modules: libp2p},
	{dir: "peer/switchboard", knows: []string{"internal/wire", "peer/base"}, modules: libp2p},
	{dir: "peer/places", knows: []string{"peer/base", "peer/locality", "peer/members", "peer/statement",
		"peer/switchboard", "steal"}, modules: libp2p},
	{dir: "peer/ledger", knows: []string{"internal/checkpoint", "internal/plain", "internal/wire", "job", "peer/base",
		"peer/quota", "peer/statement", "peer/vouching", "runs", "steal"}, modules: libp2p,
		tests: []string{"peer/vouching/vouchtest"}},
	{dir: "peer/constants", knows: []string{"internal/checkpoint", "internal/durable", "internal/plain", "internal/wire",
		"job", "peer/base", "peer/control", "peer/statement", "sharedobj"}},
	{dir: "peer/depot", knows: []string{"internal/plain", "internal/port", "internal/wire", "job", "peer/base",
		"peer/cabinet", "peer/control", "peer/deposits", "peer/library", "peer/members", "peer/places", "peer/quota",
		"peer/statement", "peer/stream", "peer/switchboard", "sharedobj"}, modules: libp2p,
		tests: []string{"peer/vouching/vouchtest"}},
	{dir: "peer/presence", knows: []string{"internal/durable", "peer/control"}},
	{dir: "peer/provision", knows: []string{"internal/plain", "runs"}},
	{dir: "peer/quota", knows: []string{"job", "runs"}, modules: libp2p},
	{dir: "peer/senses", modules: []string{"github.com/shirou/gopsutil/v4", "github.com/godbus/dbus/v5", "github.com/go-ole/go-ole",
		"golang.org/x/sys"}},
	{dir: "peer/settings", knows: []string{"internal/cause", "internal/durable", "internal/wire", "steal/policy",
		"peer/preferences"},
		modules: []string{"github.com/adrg/xdg", "github.com/gofrs/flock", "github.com/pelletier/go-toml/v2", "github.com/spf13/pflag"}},
	{dir: "peer/session", knows: []string{"job", "steal", "steal/policy", "sharedobj", "verify", "internal/driver",
		"internal/port", "internal/report"},
		tests: []string{".", "internal/engine", "internal/checkpoint", "internal/compute", "internal/wire",
			"internal/module"}},
	{dir: "peer/statement", knows: []string{".", "job", "runs", "verify", "internal/plain", "internal/wire"}, modules: libp2p},
	{dir: "peer/host", knows: []string{"internal/calendar", "internal/durable", "internal/wire"},
		modules: append([]string{"golang.org/x/sys/windows", "golang.org/x/time/rate", "github.com/marcopolo/simnet",
			"github.com/quic-go/quic-go"}, libp2p...),
		tests: []string{"internal/virtualnet", "internal/wallclock"}},
	{dir: "peer/library", knows: []string{"sharedobj", "internal/durable", "internal/module", "internal/wire"}},
	{dir: "peer/deposits", knows: []string{"internal/calendar"}, tests: []string{"internal/wallclock"}},
	{dir: "peer/alarm"},
	{dir: "peer/locality", modules: []string{"github.com/hashicorp/serf/coordinate"}},
	{dir: "peer/stream", knows: []string{"job", "steal", "sharedobj", "internal/wire"},
		modules: append([]string{"golang.org/x/time/rate"}, libp2p...),
		tests:   []string{"internal/wan", "internal/virtualnet"}},
	{dir: "peer/emulate", knows: []string{"steal", "internal/wan"}, modules: []string{"golang.org/x/sys/unix"}},
	{dir: "internal/wire", modules: []string{"github.com/fxamacker/cbor/v2"},
		tests: []string{"job", "steal", "sharedobj"}},
	{dir: "internal/report", tests: []string{"internal/wire"}},
	{dir: "internal/wan"},
	{dir: "internal/cause"},
	{dir: "internal/durable"},
	{dir: "internal/plain"},
	{dir: "internal/wasm"},
	{dir: "internal/module/build"},
	{dir: "guest", knows: []string{"apps", "internal/engine", "internal/wire", "job"}},
	{dir: "guest/conform/go", knows: []string{".", "apps"}},
	{dir: "internal/module", knows: []string{".", "internal/durable", "internal/wasm", "internal/wire", "internal/engine", "job", "sharedobj"},
		modules: []string{"github.com/tetratelabs/wazero"}, tests: []string{"internal/module/build"}},
	{dir: "internal/campaign", tests: []string{"internal/lrat"}},
	{dir: "internal/lrat"},
	{dir: "internal/pace"},
	{dir: "internal/cputime", modules: []string{"golang.org/x/sys/unix"}},
	{dir: "internal/rup"},
	{dir: "internal/checkpoint", knows: []string{"internal/durable", "internal/wire"},
		modules: []string{"github.com/fxamacker/cbor/v2", "github.com/gofrs/flock"}},
	{dir: "internal/port", knows: []string{"job", "steal", "sharedobj", "internal/wire"}},
	{dir: "internal/compute", knows: []string{"internal/engine", "job", "steal", "sharedobj", "internal/port",
		"internal/wire"},
		tests: []string{".", "internal/port/porttest"}},
	{dir: "internal/compute/child", knows: []string{"job", "internal/compute", "internal/cputime", "internal/module", "internal/port",
		"internal/port/pipe", "internal/wire"},
		modules: []string{"github.com/landlock-lsm/go-landlock", "github.com/elastic/go-seccomp-bpf",
			"golang.org/x/sys/unix"},
		tests: []string{".", "steal", "internal/port", "internal/port/porttest"}},
	{dir: "internal/port/pipe", knows: []string{"job", "sharedobj", "steal", "internal/port", "internal/wire"},
		modules: []string{"golang.org/x/sys/unix"},
		tests:   []string{"internal/compute", "internal/port/porttest"}},
	{dir: "internal/port/porttest", knows: []string{".", "internal/compute", "internal/engine", "job", "sharedobj",
		"steal", "internal/port", "internal/wire"}},
	{dir: "internal/driver", knows: []string{"job", "steal", "sharedobj", "verify", "internal/port"},
		tests: []string{"steal/policy"}},
	{dir: "internal/sim", knows: []string{"adapt", "job", "sharedobj", "steal", "steal/policy", "internal/wan", "internal/driver",
		"internal/port", "verify"}},
	{dir: "internal/sim/paper", knows: []string{"adapt", "steal", "steal/policy", "internal/cputime", "internal/report", "internal/wan",
		"internal/sim", "internal/sim/volunteers", "apps/othello"}}, // its own code runs in the simulator
	{dir: "internal/sim/agenda"},
	{dir: "internal/sim/volunteers", knows: []string{"internal/campaign", "internal/sim/agenda"}},
	{dir: "internal/sim/objects", knows: []string{"internal/sim/agenda", "sharedobj", "internal/wan"}},
	{dir: "internal/sim/liars", knows: []string{"internal/sim/agenda", "peer/alarm", "verify"}},
	{dir: "internal/calendar", tests: []string{"internal/wallclock"}},
	{dir: "internal/wallclock"},
	{dir: "internal/sim/runlife", knows: []string{"internal/sim/agenda", "internal/wallclock", "job", "runs", "steal",
		"steal/policy", "internal/driver", "internal/port", "verify"}},
	{dir: "internal/sim/record", knows: []string{".", "internal/engine", "job", "internal/sim", "internal/wire"}},
	{dir: "apps", knows: []string{".", "internal/cause", "internal/durable"}},
	{dir: "apps/all", knows: []string{"apps", "apps/*"},
		tests: []string{"apps/apptest", "internal/compute", "internal/engine", "internal/port", "internal/wire", "sharedobj",
			"steal"}},
	{dir: "apps/sources", modules: []string{"golang.org/x/mod"}},
	{dir: "cmd/satinversion", knows: []string{"apps/sources"}},
	{dir: "apps/apptest", knows: []string{".", "apps", "internal/engine"}},
	{dir: "apps/sat", knows: []string{".", "apps", "internal/lrat"}, tests: []string{"apps/apptest", "internal/cputime",
		"internal/engine", "internal/rup", "satintest"}},
	{dir: "apps/*", knows: []string{".", "apps"}, tests: []string{"apps/apptest", "satintest"}},
	{dir: "examples/*", knows: []string{".", "apps"}, tests: []string{"satintest"}},
	{dir: "cmd/satin-sim", knows: []string{"internal/durable", "steal", "steal/policy", "internal/wan", "internal/sim", "internal/sim/liars", "internal/sim/runlife",
		"internal/sim/paper",
		"internal/sim/record", "apps", "apps/all"}},
	{dir: "cmd/satin-peer", knows: []string{"cli", "apps/all"}},
	{dir: "cli", knows: []string{".", "adapt", "apps", "apps/*", "peer", "peer/host", "peer/control",
		"peer/settings", "peer/preferences", "peer/emulate", "dashboard", "steal", "internal/wan", "internal/wire", "internal/module",
		"internal/module/build", "internal/pace", "internal/report",
		"internal/campaign", "internal/cause", "internal/compute", "internal/durable", "internal/lrat", "internal/plain", "internal/compute/child"},
		modules: []string{"*", "github.com/libp2p/go-libp2p/gologshim"}},

	// Tools of the house itself.
	{dir: "internal/satinvet", modules: []string{"golang.org/x/tools"}},
	{dir: "cmd/satinvet", knows: []string{"internal/satinvet"}, modules: []string{"golang.org/x/tools"}},
	// Attacks on a peer by one that speaks by hand; nothing but tests.
	{dir: "internal/hostile", knows: []string{".", "gossip", "internal/checkpoint", "internal/compute",
		"internal/compute/child", "internal/driver", "internal/module", "internal/port", "internal/port/pipe",
		"internal/wire", "job", "peer", "peer/control", "peer/host", "peer/statement", "peer/stream", "runs", "sharedobj",
		"steal", "steal/policy", "verify"}, tests: []string{"internal/cputime"}, modules: libp2p},
	{dir: "internal/swarm", knows: []string{"peer/control", "peer/emulate"}, tests: []string{"internal/report"}},
	{dir: "internal/swarm/chaos/liar", knows: []string{"cli", "apps/all", "internal/port", "internal/port/pipe",
		"internal/wire", "steal"}},
	{dir: "internal/swarm/chaos", knows: []string{"internal/swarm", "internal/module/build", "peer/control",
		"peer/settings"}},
	{dir: "internal/release"},
	{dir: "internal/wiregen", modules: []string{"golang.org/x/tools"}},
	{dir: "internal/transcript", modules: []string{"github.com/cockroachdb/datadriven"}},
	{dir: "internal/virtualnet", modules: append([]string{"github.com/marcopolo/simnet",
		"github.com/quic-go/quic-go"}, libp2p...)},
	{dir: "internal/house"},
	{dir: "internal/mutants"},
}

// libp2p is what only the rooms that name it may import.
var libp2p = []string{"github.com/libp2p/", "github.com/multiformats/"}

// testModules is what tests of any room may import besides what the room may.
// simnet and quic-go: libp2p in virtual time; wazero: what internal/wasm writes has to run
var testModules = []string{"pgregory.net/rapid", "github.com/cockroachdb/datadriven", "golang.org/x/tools",
	"github.com/marcopolo/simnet", "github.com/quic-go/quic-go", "github.com/tetratelabs/wazero"}

// nestedModules are the modules there may be inside this one: their dependencies stay out of its go.mod, and
// they may import anything.
var nestedModules = []string{"internal/bench"}

// stateAllowed names the package-level variables that may change, by folder.
var stateAllowed = map[string][]string{
	// the table of registered jobs, a memo of their types, and the pools that share GOMAXPROCS
	"internal/engine": {"registered", "registerMu", "handles", "processors"},
	// a module has one host that calls it, by functions without a receiver
	"guest": {"kept", "room", "served", "inside"},
	// the modules that this process may be asked to run, and tables of functions that nobody changes
	"internal/module": {"provided", "satin1", "satin1Shared", "hostModules", "wasi"},
	// memory that attempts at cubes use again, and branchings, and walks
	"apps/sat": {"spare", "solvers"},
	"apps/tsp": {"relaxations"},
	"apps/uts": {"walkers"},
	// a bounded memo of scenes, which are functions of their source
	"apps/raytracer":     {"scenes"},
	"internal/sim/paper": {"integrate", "queens", "tsp", "raytracer"}, // descriptions that nobody changes
	// a table that nobody changes, looked up in place
	"apps/integrate": {"integrands"},
	// an analyzer is a pointer to a description that nobody changes
	"internal/satinvet": {"Analyzer"},
}

// largeTypes are the types that may have more than maxMethods methods, those of what they embed included, how many, and
// why.
var largeTypes = map[string]struct {
	most int
	why  string
}{
	"internal/satinvet.checker": {65, "one analysis, a method for each form of expression"},
	"runs.Core":                 {58, "38 of its own, its inputs; the others are of the table that its machines share"},
	"runs.own":                  {50, "30 of its own; the others are of the table"},
	"sharedobj.Core":            {54, "37 of its own, its inputs; the others are of what its machines share"},
	"sharedobj.fetcher":         {50, "33 of its own; the others are of what the machines share"},
	"steal.Core":                {50, "40 of its own, its inputs; the others are of what its machines share"},
	"steal.book":                {48, "38 of its own; the others are of what the machines share"},
}
