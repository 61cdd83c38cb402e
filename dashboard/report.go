package dashboard

import "time"

// A Report is what one peer has told of its part in one run, since the last one. Times are by the clock of
// the peer that is shown, as far as the difference of the clocks is known.
type Report struct {
	Run, Peer, Cluster string
	Segments           []Traced
	Forgotten          Forgotten // of the peer's whole part: what it has no memory of
	States             []StateRun
	Ways               []Way
}

// A Traced is a segment as the peer that ran it remembers it.
type Traced struct {
	ID        string // unlike that of any other segment
	Job       string // its path, "1.3.2"; "root" for that of the root
	Start     time.Time
	End       time.Time // zero while it runs
	Spawned   uint64
	Executed  uint64
	State     TracedState
	Restarted bool // the job, or one above it, had been given away before
}

// A TracedState is what the peer that ran a segment knows of its end.
type TracedState uint8

// The states of a Traced.
const (
	TracedRunning TracedState = iota
	TracedDone
	TracedAborted
	TracedLost // no segment: the peer from which Job was stolen says that its thief was lost at End
)

// Forgotten counts what is not known one by one any more.
type Forgotten struct{ Segments, Spawned, Executed uint64 }

// A StateRun says for how long how many of a peer's workers did what. It is sampled ten times a second, and
// only while somebody watches.
type StateRun struct {
	Start time.Time
	For   time.Duration
	Work  int // run jobs
	Steal int // have none, and the reply to a steal request is awaited
	Comm  int // have none, and only outcomes of jobs that others hold are awaited
	Idle  int // have none, and nothing is under way
}

// A Way is what a peer says of its way to a cluster.
type Way struct {
	Cluster string
	RTT     time.Duration // median round trip to its peers; 0 when not measured
	Taken   uint64        // jobs stolen from there, in all runs since the peer's start
}
