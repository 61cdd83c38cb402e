package report

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"
)

// Jobs are what any run has to count, in one process or in a swarm, under Satin's names.
type Jobs struct {
	Spawns      uint64 `json:"spawns" cbor:"1,keyasint,omitempty"`
	Executed    uint64 `json:"executed" cbor:"2,keyasint,omitempty"`
	Syncs       uint64 `json:"syncs" cbor:"3,keyasint,omitempty"`
	Aborts      uint64 `json:"aborts" cbor:"30,keyasint,omitempty"` // times that frames gave up jobs of their own
	AbortedJobs uint64 `json:"aborted_jobs" cbor:"4,keyasint,omitempty"`
}

// RunStats are the figures of a run, under Satin's names: of one peer's part of it, or of several parts added up.
// In JSON, times are seconds; in CBOR, as peers tell each other, milliseconds.
type RunStats struct {
	Jobs

	// between peers of one cluster, and between clusters
	LocalStealAttempts  uint64 `json:"local_steal_attempts" cbor:"5,keyasint,omitempty"`
	LocalStealSuccesses uint64 `json:"local_steal_successes" cbor:"7,keyasint,omitempty"`
	WideStealAttempts   uint64 `json:"wide_steal_attempts" cbor:"6,keyasint,omitempty"`
	WideStealSuccesses  uint64 `json:"wide_steal_successes" cbor:"8,keyasint,omitempty"`

	Given uint64 `json:"jobs_given" cbor:"9,keyasint,omitempty"`  // to thieves
	Taken uint64 `json:"jobs_taken" cbor:"10,keyasint,omitempty"` // from victims

	// sent to peers of the same cluster, and to other clusters
	IntraMessages uint64 `json:"intra_cluster_messages" cbor:"11,keyasint,omitempty"`
	IntraBytes    uint64 `json:"intra_cluster_bytes" cbor:"13,keyasint,omitempty"`
	InterMessages uint64 `json:"inter_cluster_messages" cbor:"12,keyasint,omitempty"`
	InterBytes    uint64 `json:"inter_cluster_bytes" cbor:"14,keyasint,omitempty"`

	// spawned again because their peer was lost
	RestartedJobs uint64 `json:"restarted_jobs" cbor:"15,keyasint,omitempty"`
	// Orphans are jobs whose owner's peer was lost. Of those that ran on, or whose results were kept, some
	// found a new owner while they ran (adopted), others gave their results to it later (reused): these jobs
	// were not computed again.
	OrphansKept    uint64 `json:"orphans_kept" cbor:"18,keyasint,omitempty"`
	OrphansAdopted uint64 `json:"orphans_adopted" cbor:"19,keyasint,omitempty"`
	OrphansReused  uint64 `json:"orphans_reused" cbor:"20,keyasint,omitempty"`
	// told to everybody: who has what of the lost peers' jobs, and who holds the root
	News uint64 `json:"news_messages" cbor:"21,keyasint,omitempty"`

	// Where the workers' time went: each moment of a core that the run might use is one of these.
	UsefulTime  Span `json:"useful_app_time_seconds" cbor:"22,keyasint,omitempty"` // running jobs
	StealTime   Span `json:"steal_time_seconds" cbor:"16,keyasint,omitempty"`      // asking others for jobs
	WaitTime    Span `json:"wait_time_seconds" cbor:"23,keyasint,omitempty"`       // for jobs that others have
	CommTime    Span `json:"communication_time_seconds" cbor:"24,keyasint,omitempty"`
	RecoverTime Span `json:"recovery_time_seconds" cbor:"25,keyasint,omitempty"` // looking for outcomes of lost work
	EncodeTime  Span `json:"encoding_time_seconds" cbor:"26,keyasint,omitempty"`
	IdleTime    Span `json:"idle_time_seconds" cbor:"27,keyasint,omitempty"` // nothing to do, and nobody asked
	// HeldTime is the part of it in which threads ran, and CPUTime what the system gave them of it: the rest had
	// other programs on the machine. Both are 0 where the system does not say.
	HeldTime Span `json:"held_time_seconds" cbor:"28,keyasint,omitempty"`
	CPUTime  Span `json:"cpu_time_seconds" cbor:"29,keyasint,omitempty"`

	AbortMessages uint64 `json:"abort_messages" cbor:"31,keyasint,omitempty"` // that told thieves of aborts

	// Of what jobs share: values that came from other peers, bytes of values sent within clusters and between them, and
	// offers to lattices that were told.
	SharedFetched    uint64 `json:"shared_values_fetched" cbor:"32,keyasint,omitempty"`
	SharedIntraBytes uint64 `json:"shared_intra_cluster_bytes" cbor:"33,keyasint,omitempty"`
	SharedInterBytes uint64 `json:"shared_inter_cluster_bytes" cbor:"34,keyasint,omitempty"`
	SharedOffers     uint64 `json:"shared_offers" cbor:"35,keyasint,omitempty"`

	// Copies are of jobs that took others long: given to peers for which there was nothing else, or run here. CopiesWon
	// were done before the first.
	Copies    uint64 `json:"copies" cbor:"36,keyasint,omitempty"`
	CopiesWon uint64 `json:"copies_won" cbor:"37,keyasint,omitempty"`
}

// Total is all of the workers' time.
func (s *RunStats) Total() Span { return s.UsefulTime + s.Overhead() }

// Overhead is the time in which workers did not run jobs.
func (s *RunStats) Overhead() Span {
	return s.StealTime + s.WaitTime + s.CommTime + s.RecoverTime + s.EncodeTime + s.IdleTime
}

// Add adds another part, which may be anything that a peer says: sums stop at the largest number there is.
func (s *RunStats) Add(part *RunStats) {
	merge(reflect.ValueOf(s).Elem(), reflect.ValueOf(part).Elem(), plus)
}

// Grown gives what s has more than an earlier look at the same part, field by field; nothing is less than 0.
func (s RunStats) Grown(since RunStats) RunStats {
	merge(reflect.ValueOf(&s).Elem(), reflect.ValueOf(&since).Elem(), func(a, b uint64) uint64 { return a - min(a, b) })
	return s
}

// merge has f make each figure of to from what it is there and in from.
func merge(to, from reflect.Value, f func(a, b uint64) uint64) {
	for i := range to.NumField() {
		if field := to.Field(i); field.Kind() == reflect.Struct {
			merge(field, from.Field(i), f)
		} else {
			field.SetUint(f(field.Uint(), from.Field(i).Uint()))
		}
	}
}

func plus(a, b uint64) uint64 {
	if b > math.MaxUint64-a {
		return math.MaxUint64
	}
	return a + b
}

// A Span is the time of several workers, added up, in milliseconds.
type Span uint64

// SpanOf gives a duration as a span; a negative one is none.
func SpanOf(d time.Duration) Span { return Span(max(d, 0).Milliseconds()) }

// Seconds is the span as people see it.
func (s Span) Seconds() float64 { return float64(s) / 1000 }

// MarshalJSON gives seconds.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(s.Seconds()) }

// UnmarshalJSON takes seconds: from 0 to as many as can be.
func (s *Span) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	ms := math.Round(seconds * 1000)
	if ms < 0 || ms >= math.MaxUint64 {
		return fmt.Errorf("%s seconds are no span", text)
	}
	*s = Span(ms)
	return nil
}

// A Left is how long a run will still take, in seconds: a range.
type Left struct {
	Least float64 `json:"least_seconds"`
	Most  float64 `json:"most_seconds"`
}

// Work is what a peer has done, since its start unless it says otherwise.
type Work struct {
	Executed uint64  `json:"executed"`        // jobs
	Rate     float64 `json:"jobs_per_second"` // lately: over the last 5 seconds
	// AllRate is Rate and that of all other peers in the runs of this one, as they told it last; never less.
	AllRate float64 `json:"all_jobs_per_second"`
	Given   uint64  `json:"jobs_given"`   // stolen from this peer by others
	Taken   uint64  `json:"jobs_taken"`   // stolen by this peer from others
	Busy    float64 `json:"busy_seconds"` // of all workers, added up
	// Vouching is the processor time that it took to sign for outcomes and to look at others' signatures, hashes and
	// all.
	Vouching float64 `json:"vouching_seconds"`
	Sent     uint64  `json:"bytes_sent"`     // to other peers
	Received uint64  `json:"bytes_received"` // from other peers
	// CPUGiven is the processor time that others' runs have had here, CPUUsed what own runs have had elsewhere, as was
	// told; over all starts of the peer, unlike the rest.
	CPUGiven float64 `json:"cpu_given_seconds"`
	CPUUsed  float64 `json:"cpu_used_seconds"`
	// Verified is what others' runs have had here as far as their owners have verified it; over all starts.
	Verified Verified `json:"verified"`
}

// Verified is what a peer has given to others' runs that was verified, by receipts that their owners have signed.
type Verified struct {
	All    Thanks   `json:"all"`
	Owners int      `json:"owners"`
	By     []Thanks `json:"by,omitempty"` // of one owner each, most first, 16 at most
}

// Thanks are what receipts add up to.
type Thanks struct {
	Owner     string  `json:"owner,omitempty"` // peer ID of whoever has signed
	OwnerName string  `json:"owner_name,omitempty"`
	Seconds   float64 `json:"seconds"` // of the peer's cores, added up
	Results   uint64  `json:"results"`
	Runs      uint64  `json:"runs"`
}

// Add counts one receipt.
func (t *Thanks) Add(seconds float64, results uint64) {
	t.Seconds += seconds
	t.Results += results
	t.Runs++
}

// A Cluster is one group of near peers.
type Cluster struct {
	Name string `json:"name"`
	Mine bool   `json:"mine"` // the peer that tells is in it
	// why the peers belong together, one line: "label", "same network 192.168.1.0/24", "round trips under 5
	// ms"
	Reason  string `json:"reason"`
	Peers   int    `json:"peers"`   // members, the peer that tells counted
	Workers int    `json:"workers"` // of those
	// median round trip from the peer that tells to the others of it; 0 when not measured
	RTT float64 `json:"rtt_seconds,omitempty"`
}

// A RosterEntry is a change of who takes part, and why.
type RosterEntry struct {
	At time.Time `json:"at"` // by the clock of who decided, or noticed, it
	// Kind is "joined" or "left" of members; "wanted" (more), "released", "excluded" or "readmitted" of what a run has
	// decided; missing: another one.
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"` // one line
}
