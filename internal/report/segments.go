package report

import "time"

// A Part is what one peer has told of its part in one run, since it told of it last. Times are by the clock of the
// peer that was told, as far as the difference of the clocks is known.
type Part struct {
	Run, Peer, Cluster string
	Segments           []Segment
	Forgotten          Forgotten // of the peer's whole part: what it has no memory of
	Activities         []Activity
	Ways               []Way
}

// A Segment is a stolen job, or the root, and what its thief ran in place under it, as the thief remembers it.
type Segment struct {
	ID       string // unlike that of any other segment
	Job      string // its path, "1.3.2"; "root" for that of the root
	Start    time.Time
	End      time.Time // zero while it runs
	Spawned  uint64
	Executed uint64
	// State is Running, Done or Aborted. Restarted is the word of the peer that the job was stolen from, and no
	// segment: its thief was lost at End.
	State SegmentState
	Again bool // the job, or one above it, had been given away before
}

// A SegmentState says what became of a segment. The numbers pass between peers.
type SegmentState uint8

// The states of a segment. All but SegmentRunning are last ones, and SegmentRestarted until the peer is heard
// of again: it was believed to be lost.
const (
	SegmentRunning   SegmentState = iota
	SegmentDone                   // it ran to its end
	SegmentAborted                // nobody wanted it any more, or the peer stopped taking part
	SegmentRestarted              // its peer was lost: the job is run again, as another segment
	// it ran to its end after its parent's peer was lost; no peer says that, the page finds it
	SegmentOrphan
	// its end was not observed: its run is over, and no peer has told of it
	SegmentUnseen
	SegmentStates // how many there are
)

// Told says whether a peer may tell of a segment that it is in this state.
func (s SegmentState) Told() bool { return s <= SegmentRestarted }

// Ended says whether the state is a last one.
func (s SegmentState) Ended() bool { return s != SegmentRunning }

func (s SegmentState) String() string {
	if s >= SegmentStates {
		return "unknown"
	}
	return [SegmentStates]string{"running", "done", "aborted", "restarted", "orphan", "unseen"}[s]
}

// Forgotten counts what is not known one by one any more.
type Forgotten struct{ Segments, Spawned, Executed uint64 }

// An Activity says for how long how many of a peer's workers did what. It is sampled ten times a second, and
// only while somebody watches.
type Activity struct {
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
