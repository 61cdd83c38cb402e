package control

import (
	"encoding/json"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// Times are in UTC, as RFC 3339 in JSON. Durations are seconds as a fraction. Peers are named by their libp2p
// peer IDs in base58, runs by 32 hexadecimal digits. Names and other texts from peers are to be shown
// escaped: they may contain anything.

// A Status is one peer at one glance.
type Status struct {
	Peer        string    `json:"peer"`
	Name        string    `json:"name,omitempty"` // what it calls itself, at most 64 bytes, not unique
	Version     string    `json:"version"`        // of the program, "v0.2.0"
	PID         int       `json:"pid"`
	Started     time.Time `json:"started"`
	Incarnation uint64    `json:"incarnation"` // how often this identity has been started, 1 for the first time
	StateDir    string    `json:"state_dir"`

	Swarm string `json:"swarm"` // its name
	Trust string `json:"trust"` // who may join: "invite" or "open"

	State       PeerState  `json:"state"`
	WhyIdle     string     `json:"why_idle,omitempty"`     // one line, when State is PeerIdle
	Works       string     `json:"works_for,omitempty"`    // names of runs whose jobs run here now
	Trouble     string     `json:"trouble,omitempty"`      // one line: what somebody should see to
	PausedUntil *time.Time `json:"paused_until,omitempty"` // when State is PeerPaused; null: until it is resumed

	Workers int `json:"workers"` // cores the peer may use at most
	// one line: why it may use fewer at the moment, or none; empty when it may use all
	Limit string `json:"limit,omitempty"`
	Left  int    `json:"jobs_left,omitempty"` // that others wait for, when State is PeerFinishing
	Busy  int    `json:"busy"`                // of those, running a job now

	Addresses    []string     `json:"addresses"` // full multiaddrs that others may join by, the most useful first
	Reachability Reachability `json:"reachability"`

	Cluster  string           `json:"cluster"`  // the one this peer is in
	Clusters []report.Cluster `json:"clusters"` // all that are known, its own first
	Peers    int              `json:"peers"`    // other members connected
	Runs     []RunInfo        `json:"runs"`     // in progress

	Modules Modules `json:"modules"`
	// Executables are those that jobs may have run here.
	Executables []Executable `json:"executables,omitempty"`

	Work report.Work `json:"work"` // since it was started

	Refused []Refused `json:"refused,omitempty"` // runs and owners that are refused here

	Goroutines int `json:"goroutines"` // of the daemon, now: what grows from run to run is a leak
}

// An Executable is a file that its owner lets jobs have run, for what it contained when the peer was started.
type Executable struct {
	Name string `json:"name"` // by which an application of this peer's owner calls it
	Path string `json:"path"`
	Hash string `json:"hash"` // SHA-256 of its bytes, 64 hexadecimal digits
}

// A Refused is a run, or an owner, that a peer takes no part in because its user says so.
type Refused struct {
	Run   string `json:"run,omitempty"`
	Owner string `json:"owner,omitempty"` // of all whose runs
	Lift  bool   `json:"lift,omitempty"`  // in a command: not any more
}

// A PeerState says what a peer does.
type PeerState string

// The states of a peer.
const (
	PeerWorking PeerState = "working" // at least one worker runs a job
	PeerIdle    PeerState = "idle"
	PeerPaused  PeerState = "paused"
	// PeerFinishing: it takes nothing more from others, and is paused when it holds nothing any more.
	PeerFinishing PeerState = "finishing"
	PeerLeaving   PeerState = "leaving"
	// PeerYielding: another member that computes nothing now. It does not tell whether its owner has paused it, or its
	// settings or other programs leave it no core.
	PeerYielding PeerState = "yielding"
)

// Reachability says whether peers outside the own network can connect to this one.
type Reachability struct {
	State ReachState `json:"state"`
	Why   string     `json:"why,omitempty"` // one line, when not ReachPublic
	// the member through which others reach it, a peer ID; empty if none is needed or known
	Relay string `json:"relay,omitempty"`
}

// A ReachState is the short form of it.
type ReachState string

// The states of reachability.
const (
	ReachPublic  ReachState = "public"  // others connected to it directly
	ReachPrivate ReachState = "private" // behind a NAT or a firewall that lets nobody in
	ReachUnknown ReachState = "unknown" // nobody has tried yet
)

// A PeerInfo is another member, as this peer sees it.
type PeerInfo struct {
	Peer      string    `json:"peer"`
	Name      string    `json:"name,omitempty"` // what it calls itself, at most 64 bytes, not unique
	Version   string    `json:"version"`
	Connected bool      `json:"connected"`
	Alive     bool      `json:"alive"`             // its heartbeats arrive
	Heard     time.Time `json:"heard,omitzero"`    // when the last one did
	Joined    time.Time `json:"joined,omitzero"`   // when this peer learned of it, after its own start
	Address   string    `json:"address,omitempty"` // the multiaddr of the connection
	Relayed   bool      `json:"relayed"`           // the connection goes through another member

	Cluster string  `json:"cluster"`
	Reason  string  `json:"reason"`                // why it is in that cluster, one line
	RTT     float64 `json:"rtt_seconds,omitempty"` // round trip, smallest of the last samples; 0 when not measured

	State   PeerState `json:"state"`
	Workers int       `json:"workers"`
	Runs    int       `json:"runs"` // that both take part in

	Given int64 `json:"jobs_given"` // jobs that it stole from this peer
	Taken int64 `json:"jobs_taken"` // jobs that this peer stole from it
}

// A RunState says how far a run is.
type RunState string

// The states of a run.
const (
	RunStarting  RunState = "starting" // announced; no job has begun
	RunRunning   RunState = "running"
	RunDone      RunState = "done"   // the answer is there
	RunFailed    RunState = "failed" // the root job failed
	RunCancelled RunState = "cancelled"
	RunSuspended RunState = "suspended" // by its owner, who may resume it
	RunRefused   RunState = "refused"   // this peer takes no part; Why says why
)

// Ended says whether the run does not go on here.
func (s RunState) Ended() bool { return s != RunStarting && s != RunRunning }

// Final says whether it is over for good: one that is suspended or refused may go on, and be cancelled.
func (s RunState) Final() bool { return s == RunDone || s == RunFailed || s == RunCancelled }

// A RunInfo is a run, as this peer sees it.
type RunInfo struct {
	Run       string   `json:"run"`
	App       string   `json:"app"`
	Module    string   `json:"module,omitempty"` // hash of the module that it is; "": it is built in
	Args      []string `json:"args"`             // missing where it is not known
	Title     string   `json:"title"`
	Owner     string   `json:"owner"`                // peer ID
	OwnerName string   `json:"owner_name,omitempty"` // what the owner calls itself
	Mine      bool     `json:"mine"`                 // this peer is the owner
	Master    string   `json:"master,omitempty"`     // the peer that holds the root job now

	State     RunState  `json:"state"`
	Why       string    `json:"why,omitempty"` // one line, when it failed, was refused, or makes no progress
	Submitted time.Time `json:"submitted"`
	Elapsed   float64   `json:"elapsed_seconds"` // until now, or until it ended
	CPU       float64   `json:"cpu_seconds"`     // of processors on all peers, as far as they have told
	Share     float64   `json:"share"`           // of the job tree that is done, 0 to 1; missing where it is not known
	// Left is how long it will still take; nil while that is not known: below 5 % of the tree, and where
	// the range would be too wide to say anything.
	Left *report.Left `json:"left,omitempty"`
	// Efficiency is the weighted average one in the last half minute, 0 to 1: the part of their time in which
	// the cores of all peers ran jobs, a core counting for what its owner leaves of it. Missing where it is not
	// known.
	Efficiency float64 `json:"efficiency,omitempty"`
	Peers      int     `json:"peers"`    // that work on it now, this one counted
	Executed   uint64  `json:"executed"` // jobs of it executed on this peer

	// Adapt says how it decides who takes part: "paper" or "volunteers"; "": it does not. Roster is what was decided
	// last, as far as this peer has heard.
	Adapt  string  `json:"adapt,omitempty"`
	Roster *Roster `json:"roster,omitempty"`

	// what becomes of the work of peers that are lost: "salvage" or "naive"
	Recovery string `json:"recovery,omitempty"`
	// of how many of 100 jobs given away idle peers may get a copy
	Eager int `json:"eager,omitempty"`
	// peer IDs, in the order in which they take over when the owner is lost
	Deputies   []string `json:"deputies,omitempty"`
	MaxCores   int      `json:"max_cores,omitempty"`   // of one peer; 0: each peer decides
	AnsweredBy string   `json:"answered_by,omitempty"` // peer ID of whoever had the root job at the end; not the owner
	Disputed   bool     `json:"disputed,omitempty"`    // peers came to different answers; the owner keeps both
	// directory, while the run's results are being kept on this peer's disk
	Checkpoint string `json:"checkpoint,omitempty"`
	Waits      string `json:"waits,omitempty"`       // what it waits for, one line
	NoRoom     string `json:"no_room,omitempty"`     // why not all that others give of it is taken, one line
	NotStoring string `json:"not_storing,omitempty"` // why they cannot be at the moment, one line

	// Quarantined says that it is refused because the process that computes for it here ended twice; ResumeRun lifts
	// that.
	Quarantined bool `json:"quarantined,omitempty"`

	Stats *report.RunStats `json:"stats,omitempty"` // of this peer's part in it; may be missing
	// Uplink is what it needs of this peer's line to other clusters, while that is known.
	Uplink *report.Uplink `json:"uplink,omitempty"`

	Help *Help `json:"help,omitempty"` // in the reply to Submit only
}

// A Roster says who may take part in a run.
type Roster struct {
	Number uint64 `json:"number"`
	Author string `json:"author"`           // peer ID of who decided
	Wanted int    `json:"wanted,omitempty"` // peers; 0: as many as there are
	// Clusters and Peers are out.
	Clusters []string `json:"clusters_out,omitempty"`
	Peers    []string `json:"peers_out,omitempty"`
	// Log is what was decided last, and why, oldest first.
	Log []report.RosterEntry `json:"log,omitempty"`
}

// MarshalJSON leaves out what only the owner of a run knows: its arguments, and how much of it is done.
func (r RunInfo) MarshalJSON() ([]byte, error) {
	type plain RunInfo
	if r.Mine {
		return json.Marshal(plain(r))
	}
	others := struct {
		plain
		Args  []string `json:"args,omitempty"`
		Share float64  `json:"share,omitzero"`
	}{plain(r), r.Args, r.Share}
	return json.Marshal(others)
}

// A Finding is one thing that Doctor looked at.
type Finding struct {
	Check string   `json:"check"` // what was looked at, a word or two: "reachable", "clock", "ports", "peers", "work"
	Level Severity `json:"level"`
	Text  string   `json:"text"`          // what was found, one line
	Fix   string   `json:"fix,omitempty"` // what to do about it, one line; always there unless the level is Good
}

// A Severity says how bad a finding is.
type Severity string

// The severities, from good to bad.
const (
	Good    Severity = "good"
	Warning Severity = "warning" // the peer works, but not as well as it could
	Problem Severity = "problem" // the peer is of no use like this
)
