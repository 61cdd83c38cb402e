package runs

import (
	"time"
)

// State says how far a run is, in a word for people.
type State string

// The states of a run.
const (
	StateRunning   State = "running"
	StateDone      State = "done"   // the answer is there
	StateFailed    State = "failed" // the root job failed
	StateCancelled State = "cancelled"
	StateSuspended State = "suspended" // by its owner, who may resume it
	StateRefused   State = "refused"   // this peer takes no part
)

// Ended says whether a run does not go on here.
func (s State) Ended() bool { return s != StateRunning }

// over says whether nothing that others say of the run's end matters here any more. A run of another peer that is
// refused here goes on elsewhere, and ends there.
func (r *run) over() bool { return r.state.Ended() && (r.mine || r.state != StateRefused) }

// run is a run as this peer knows it.
type run struct {
	m     *Manifest // with its bytes while the run goes on
	mine  bool
	args  []string // as on the owner's command line
	began time.Time

	state State
	why   string
	ended time.Time
	took  time.Duration // from its begin to its end, once it has ended

	lost      bool   // given up although its owner has not ended it for good: taken up again when it is heard of
	onlyKept  bool   // of an earlier life is known that an answer is kept, and not whether it was believed
	returned  bool   // own, of an earlier life, suspended or refused here: others may have gone on with it
	started   bool   // taken part in, in this life
	unwanted  bool   // refused because the user says so
	outlived  bool   // refused because of its age
	doubtful  bool   // by a clock that is not believed: what is kept of it is still there
	unfit     bool   // refused because it cannot be computed here
	holdsRoot bool   // the root job runs here
	seq       uint64 // of the last tombstone of an own run
	own       writing

	again   repetition // of the announcement
	asked   time.Time  // when others were last asked after it
	heard   time.Time  // when somebody last said that it goes on
	asking  int        // how many have not answered yet
	turn    int        // of those who may be asked
	unknown int        // how often its owner has said that it knows nothing of it

	claims   claims
	answered *Claim // that is believed; nil: none, or the owner had the root
	hash     *Hash  // of the accepted answer
	writing  *Answer
	stored   string   // why the answer is not on the disk
	unsaved  *Outcome // it, then
	unkept   *Answer  // own, that the disk has refused; refused is when, or when it was last to be suspended as expired
	refused  time.Time
	disputed PeerID // who came to another answer; the peer itself, if that was its own
	second   *Hash  // of that
	keeping  *keeping
	deaths   deaths
	rosters  rosters
}

// writing is what the owner waits for before it goes on: its disk.
type writing struct {
	what    command
	ticket  Ticket
	pending int // own files that are being written
}

// command is what was asked of an own run and is not done.
type command uint8

const (
	nothing command = iota
	submitting
	collecting // what others have, before it is suspended
	suspending
	resuming
	cancelling
)

// Info is a run for people.
type Info struct {
	Manifest *Manifest
	Mine     bool
	Args     []string
	State    State
	Why      string
	Began    time.Time     // or resumed, by its owner
	Took     time.Duration // once it has ended
	Hash     Hash          // of the accepted answer
	Answered *Claim
	Disputed PeerID
	Stored   string // why the answer is not on the disk
	Unsaved  *Outcome
}

func (t *table) info(r *run) Info {
	var h Hash
	if r.hash != nil {
		h = *r.hash
	}
	return Info{Hash: h, Manifest: r.m, Mine: r.mine, Args: r.args, State: r.state, Why: r.why,
		Began: t.begun(r), Took: r.took, Answered: r.answered, Disputed: r.disputed, Stored: r.stored,
		Unsaved: r.unsaved}
}

// accept notes the answer.
func (r *run) accept(h Hash, by *Claim) { r.hash, r.answered = &h, by }

// endedBy says whether the run is over by a claim, or by another one of the same answer.
func (r *run) endedBy(c *Claim) bool { return r.answered != nil && r.answered.Hash == c.Hash }

// differs says whether an outcome is another one than the answer, and was not seen before.
func (r *run) differs(h Hash) bool {
	return r.hash != nil && *r.hash != h && (r.second == nil || *r.second != h)
}
