package dashboard

import (
	"context"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// A Source is the peer that is shown. Methods may be called from several goroutines at once and must return
// soon after ctx ends. Errors of actions that wrap one of package report's are told apart; their
// texts are shown.
type Source interface {
	// Status is the peer at one glance. It must not wait for other peers.
	Status(ctx context.Context) (Status, error)
	// Peers lists the other members that this one knows.
	Peers(ctx context.Context) ([]Peer, error)
	// Runs lists the runs in progress and the last ones that ended, newest first.
	Runs(ctx context.Context) ([]Run, error)

	// Watch gives what the peers of the runs have reported since it was last called, and has them asked for
	// some seconds more. It must not wait for them.
	Watch(ctx context.Context) ([]report.Part, error)

	// Pause stops computing for d, or until Resume if d is 0.
	Pause(ctx context.Context, d time.Duration) error
	// Finish stops computing when the jobs that are here are done.
	Finish(ctx context.Context) error
	// Resume ends a pause, or takes Finish back. It is no error if there is none.
	Resume(ctx context.Context) error
	// Cancel ends a run of this peer's own.
	Cancel(ctx context.Context, run string) error
}

// Times are in UTC, as RFC 3339 in JSON, durations are seconds as a fraction. Peers are named by their libp2p
// peer IDs in base58, runs by 32 hexadecimal digits.

// A Status is the peer at one glance.
type Status struct {
	Peer    string    `json:"peer"`
	Name    string    `json:"name,omitempty"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Swarm   string    `json:"swarm"`
	Trust   string    `json:"trust"` // who may join: "invite" or "open"

	State       string     `json:"state"`               // "working", "idle", "finishing", "paused" or "leaving"
	WhyIdle     string     `json:"why_idle,omitempty"`  // one line
	WorksFor    string     `json:"works_for,omitempty"` // names of runs whose jobs run here now
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	JobsLeft    int        `json:"jobs_left,omitempty"` // here, when it is finishing
	Limit       string     `json:"limit,omitempty"`     // why fewer cores than Workers may be used, or none
	Workers     int        `json:"workers"`             // cores the peer may use
	Busy        int        `json:"busy"`                // of those, running a job now
	Peers       int        `json:"peers"`               // other members connected

	Reach    string           `json:"reach"`               // "public", "private" or "unknown"
	WhyReach string           `json:"reach_why,omitempty"` // one line
	Relay    string           `json:"relay,omitempty"`     // the member through which others reach it
	Address  []string         `json:"addresses"`           // that others may join by
	Cluster  string           `json:"cluster"`             // the one this peer is in
	Clusters []report.Cluster `json:"clusters"`            // all that are known, its own first

	Modules     string   `json:"modules"`           // whose modules it runs: "members", "published" or "off"
	Executables []string `json:"executables"`       // of this machine, that jobs may have run: name, path and hash
	Refused     []string `json:"refused,omitempty"` // runs and owners that are not wanted here, in words

	Work report.Work `json:"work"`
}

// A Peer is another member.
type Peer struct {
	Peer      string  `json:"peer"`
	Name      string  `json:"name,omitempty"`
	Version   string  `json:"version"`
	Connected bool    `json:"connected"`
	Alive     bool    `json:"alive"` // its heartbeats arrive
	Relayed   bool    `json:"relayed"`
	Address   string  `json:"address,omitempty"`
	Cluster   string  `json:"cluster"`
	Reason    string  `json:"reason"` // why it is in that cluster
	RTT       float64 `json:"rtt_seconds,omitempty"`
	State     string  `json:"state"`
	Workers   int     `json:"workers"`
	Runs      int     `json:"runs"`       // that both take part in
	Given     int64   `json:"jobs_given"` // jobs that it stole from this peer
	Taken     int64   `json:"jobs_taken"` // jobs that this peer stole from it
}

// A Run is one computation.
type Run struct {
	Run       string           `json:"run"`
	App       string           `json:"app"`
	Args      []string         `json:"args"`
	Title     string           `json:"title"`
	Owner     string           `json:"owner"`
	OwnerName string           `json:"owner_name,omitempty"`
	Mine      bool             `json:"mine"` // this peer is the owner
	State     string           `json:"state"`
	Ended     bool             `json:"ended"`
	Why       string           `json:"why,omitempty"`
	Limits    []string         `json:"limits,omitempty"` // what of it this peer does not take, or waits for, and why
	Submitted time.Time        `json:"submitted"`
	Elapsed   float64          `json:"elapsed_seconds"` // until now, or until it ended
	CPU       float64          `json:"cpu_seconds"`     // of processors on all peers
	Share     float64          `json:"share"`           // of the job tree that is done, 0 to 1
	Left      *report.Left     `json:"left,omitempty"`  // missing while nobody can say
	Peers     int              `json:"peers"`           // that work on it now, this one counted
	Executed  uint64           `json:"executed"`        // jobs of it executed on this peer
	Stats     *report.RunStats `json:"stats,omitempty"` // of this peer's part in it
	// Quarantined says that it is left alone because its jobs killed processes here; Desk.ResumeRun lets it in again.
	Quarantined bool `json:"quarantined,omitempty"`
	// Decided is what was decided last about who takes part, and why, oldest first.
	Decided []report.RosterEntry `json:"decided,omitempty"`
}
