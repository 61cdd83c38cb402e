package dashboard

import (
	"context"
	"errors"
	"time"
)

// A Source is the peer that is shown. Methods may be called from several goroutines at once and must return
// soon after ctx ends. Errors of actions that wrap one of this package's sentinels are told apart; their
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
	Watch(ctx context.Context) ([]Report, error)

	// Pause stops computing for d, or until Resume if d is 0.
	Pause(ctx context.Context, d time.Duration) error
	// Resume ends a pause. It is no error if there is none.
	Resume(ctx context.Context) error
	// Cancel ends a run of this peer's own.
	Cancel(ctx context.Context, run string) error
}

// Errors of a Source's actions.
var (
	ErrBadInput    = errors.New("bad input")
	ErrNotFound    = errors.New("not found")
	ErrRefused     = errors.New("refused")
	ErrUnavailable = errors.New("unavailable")
)

// Times are in UTC, as RFC 3339 in JSON, durations are seconds as a fraction. Peers are named by their libp2p
// peer IDs in base58, runs by 32 hexadecimal digits.

// A Status is the peer at one glance.
type Status struct {
	Peer    string    `json:"peer"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Swarm   string    `json:"swarm"`
	Trust   string    `json:"trust"` // who may join: "invite" or "open"

	State       string     `json:"state"`              // "working", "idle", "paused" or "leaving"
	WhyIdle     string     `json:"why_idle,omitempty"` // one line
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	Workers     int        `json:"workers"` // cores the peer may use
	Busy        int        `json:"busy"`    // of those, running a job now
	Peers       int        `json:"peers"`   // other members connected

	Reach    string    `json:"reach"`               // "public", "private" or "unknown"
	WhyReach string    `json:"reach_why,omitempty"` // one line
	Relay    string    `json:"relay,omitempty"`     // the member through which others reach it
	Address  []string  `json:"addresses"`           // that others may join by
	Cluster  string    `json:"cluster"`             // the one this peer is in
	Clusters []Cluster `json:"clusters"`            // all that are known, its own first

	Work Work `json:"work"`
}

// Work is what a peer has done since its start.
type Work struct {
	Executed uint64  `json:"executed"`        // jobs
	Rate     float64 `json:"jobs_per_second"` // lately
	Given    uint64  `json:"jobs_given"`      // stolen from this peer by others
	Taken    uint64  `json:"jobs_taken"`      // stolen by this peer from others
	Busy     float64 `json:"busy_seconds"`    // of all workers, added up
	Sent     uint64  `json:"bytes_sent"`
	Received uint64  `json:"bytes_received"`
}

// A Cluster is one group of near peers.
type Cluster struct {
	Name    string  `json:"name"`
	Mine    bool    `json:"mine"`
	Reason  string  `json:"reason"` // why the peers belong together, one line
	Peers   int     `json:"peers"`  // this peer counted
	Workers int     `json:"workers"`
	RTT     float64 `json:"rtt_seconds,omitempty"` // median round trip from this peer; 0 when not measured
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
	Run       string    `json:"run"`
	App       string    `json:"app"`
	Args      []string  `json:"args"`
	Title     string    `json:"title"`
	Owner     string    `json:"owner"`
	Mine      bool      `json:"mine"` // this peer is the owner
	State     string    `json:"state"`
	Ended     bool      `json:"ended"`
	Why       string    `json:"why,omitempty"`
	Submitted time.Time `json:"submitted"`
	Elapsed   float64   `json:"elapsed_seconds"` // until now, or until it ended
	Share     float64   `json:"share"`           // of the job tree that is done, 0 to 1
	Peers     int       `json:"peers"`           // that work on it now, this one counted
	Executed  uint64    `json:"executed"`        // jobs of it executed on this peer
	Stats     *Stats    `json:"stats,omitempty"` // of this peer's part in it
}

// Stats are the figures of one peer's part in a run, under Satin's names.
type Stats struct {
	Spawns              uint64  `json:"spawns"`
	Executed            uint64  `json:"executed"`
	Syncs               uint64  `json:"syncs"`
	AbortedJobs         uint64  `json:"aborted_jobs"`
	LocalStealAttempts  uint64  `json:"local_steal_attempts"` // between peers of one cluster
	LocalStealSuccesses uint64  `json:"local_steal_successes"`
	WideStealAttempts   uint64  `json:"wide_steal_attempts"` // between clusters
	WideStealSuccesses  uint64  `json:"wide_steal_successes"`
	IntraBytes          uint64  `json:"intra_cluster_bytes"`
	InterBytes          uint64  `json:"inter_cluster_bytes"`
	RestartedJobs       uint64  `json:"restarted_jobs"` // spawned again because their peer was lost
	Orphans             uint64  `json:"orphans_reused"`
	StealTime           float64 `json:"steal_time_seconds"`
	RecoveryTime        float64 `json:"recovery_time_seconds"`
	UsefulTime          float64 `json:"useful_app_time_seconds"`
}
