// Package settings says how a peer of this machine is set up: a commented TOML file, environment variables
// and flags, each of which overrides the one before it, over defaults.
//
// A setting has one name in all three: "log_level" in the file, SATIN_LOG_LEVEL in the environment,
// --log-level as a flag. What is not known is refused: a key in the file with its line and the nearest one
// that is allowed, a value with where it stands and what would be right. Only variables of the environment
// that begin with SATIN_ and name no setting are let through, as Strays, because other programs may have
// their own.
//
// Load reads all of it once; nothing watches the file. Put changes a key in it.
package settings

import (
	"time"

	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/steal/policy"
)

// Settings are the values, checked one by one.
type Settings struct {
	// StateDir is where the identity of the peer is and what it must remember. Absolute. Two peers cannot share one.
	StateDir string
	// RuntimeDir is where the control socket is. Absolute.
	RuntimeDir string

	Name           string   // of this peer, for people; empty: the machine's
	Swarm          string   // the swarm's name; empty: the one that StateDir belongs to
	Trust          string   // who may join: TrustInvite or TrustOpen
	Trusted        []string // IDs of peers whose results are used uncompared in verified runs of this one
	Join           []string // members to connect to at the start: full multiaddrs and invitations
	Listen         []string // multiaddrs to listen on; empty: QUIC and TCP on all interfaces, any port
	MDNS           bool     // find members on the local network
	DHT            bool     // find members through the swarm's own Kademlia
	NAT            bool     // find out whether others can connect, and help them to
	Relay          bool     // relay connections of members that cannot reach each other
	MaxConnections int      // connections to other peers

	Cluster  string // label of the cluster; empty: found out by network and round-trip times
	Policy   string // how victims are chosen, one of policy.Names
	Workers  int    // cores to use; 0: all
	Priority string // of the workers' threads: PriorityIdle or PriorityNormal

	WorkersHere int           // cores to use while somebody is at the machine; preferences.Same: as many as else
	AwayAfter   time.Duration // how long nobody must have touched it to be away
	OnBattery   bool          // use cores on battery
	Hours       []string      // when, as preferences.ParseHours reads them; none: always
	YieldTo     []string      // programs beside which no core is used
	Hottest     int           // degrees Celsius from which on none is used; 0: any
	CPUShare    int           // percent of their time for which cores are used
	Upload      int           // kilobytes a second to other peers; 0: any
	Download    int           // and from them
	OnMetered   bool          // use cores while the network is metered

	Memory int // MiB that one run's jobs may have; 0: a share of the machine's
	// ObjectsMemory is how many MiB what the jobs of others' runs share may take; half of it is one run's.
	ObjectsMemory int

	// Executables are files that jobs may have run, as "NAME=PATH" or "NAME=PATH@HASH".
	Executables []string

	// Provision is a command that asks for machines, with its arguments; ProvisionMost is how many for one run.
	Provision     []string
	ProvisionMost int

	Modules     string // whose modules are run: ModulesOff, ModulesPublished or ModulesMembers
	ModuleCache int    // MiB of the disk that they may take

	Emulate string // directory of an emulated wide-area network; empty: none

	Dashboard string // DashboardAuto, DashboardOff, or loopback address and port of the page in the browser

	LogLevel   string        // "debug", "info", "warn" or "error"
	LogFormat  string        // LogText or LogJSON
	LeaveAfter time.Duration // how long leaving may take after SIGTERM
	// LeavePatience is how much of that may be spent on handing over results; 0: none.
	LeavePatience time.Duration

	RunDisk            int           // MiB that the checkpoints of others' runs may take
	RunMemory          int           // MiB of the daemon's memory that what others give it may take
	LongestLife        time.Duration // of others' runs here; 0: as their owners say
	Checkpoint         bool          // keep the results of runs on the disk
	CheckpointInterval time.Duration // how much of it may be lost
}

// Values of Trust, Priority, Modules, Dashboard and LogFormat.
const (
	TrustInvite = "invite"
	TrustOpen   = "open"

	PriorityIdle   = "idle"   // only when nothing else wants the core, as far as the system can
	PriorityNormal = "normal" // as other programs

	ModulesOff       = "off"
	ModulesPublished = "published" // what a member has published
	ModulesMembers   = "members"   // what members run

	DashboardOff  = "off"
	DashboardAuto = "auto" // of this machine, the port that is the same each time, or the next one that is free

	LogText = "text"
	LogJSON = "json"
)

// Bounds of numbers and lists.
const (
	MaxWorkers     = 1024
	MinConnections = 4
	MaxConnections = 4096
	MaxLeave       = 10 * time.Minute
	MinInterval    = time.Second // of checkpoints
	MaxInterval    = 24 * time.Hour
	MinMemory      = 128 // MiB, of a run's jobs
	MaxMemory      = 1 << 24
	MinObjects     = 16 // MiB, of what a run's jobs share
	MinRunDisk     = 16 // MiB
	MaxRunDisk     = 1 << 30
	MinRunMemory   = 64 // MiB
	MinModuleCache = 16 // MiB
	MaxModuleCache = 1 << 20
	MinAway        = 10 * time.Second
	MaxAway        = 24 * time.Hour
	MinHottest     = 30 // degrees Celsius
	MaxHottest     = 120
	MinTraffic     = 64 // kilobytes a second
	MaxTraffic     = 10_000_000
	maxList        = 64   // addresses in a list
	maxText        = 4096 // bytes of a text
	maxName        = 64   // bytes of a name
	minPeerID      = 46   // letters of a peer ID
	maxExecutables = 16
	maxProvision   = 1024
	maxFile        = 1 << 20
)

// Defaults are the values of settings that are given nowhere.
func Defaults(d Dirs) Settings {
	return Settings{
		StateDir: d.State,
		Trust:    TrustInvite, MDNS: true, DHT: true, NAT: true, MaxConnections: 256,
		Policy: policy.Names()[0], Priority: PriorityIdle, ObjectsMemory: 2048,
		WorkersHere: preferences.Same, AwayAfter: 5 * time.Minute, CPUShare: 100,
		Modules: ModulesMembers, ModuleCache: 256, RunDisk: 8192, RunMemory: 96, ProvisionMost: 8,
		Dashboard: DashboardAuto,
		LogLevel:  "info", LogFormat: LogText, LeaveAfter: 10 * time.Second,
		LeavePatience: 5 * time.Second, Checkpoint: true, CheckpointInterval: time.Minute,
	}
}
