package runs

// An Order is something to be done outside, of one of the types in this file. Orders are carried out in the order in
// which they are given, as far as they concern the same run's files. Those with a report are reported once,
// whatever becomes of them, within a time that whoever carries them out sets.
type Order interface{ order() }

type (
	// Fetch asks a peer for a manifest; Ask asks one whether a run goes on. Report: Replied.
	Fetch struct {
		Run  RunID
		From PeerID
	}
	Ask struct {
		Run  RunID
		Whom PeerID
	}
	// FetchAnswer gets the outcome that a claim promises, from the first of these that has it. Report: Fetched.
	FetchAnswer struct {
		Claim Claim
		From  []PeerID
	}
	// KeepAt asks a peer to keep an answer for its owner. Report: KeptAt.
	KeepAt struct {
		Run    RunID
		Peer   PeerID
		Answer *Answer
	}
	// Collect gets what peers have of a run that is to be suspended, and writes it down. Report: Collected.
	Collect struct {
		Run  RunID
		From []PeerID
	}

	// Announce tells everybody of an own run, Bury that a run is over, TellClaim that it is answered.
	Announce struct{ Run RunID }
	Bury     struct{ Tombstone Tombstone }
	// TellClaim tells everybody that a run is answered.
	TellClaim struct{ Claim Claim }

	// TellDeath tells everybody of which jobs a process died that computed for the run here.
	TellDeath struct {
		Run  RunID
		Jobs []Suspect
		Why  string
	}
	// TellRoster tells everybody who may take part in a run.
	TellRoster struct{ Roster Roster }
	// Provision has the owner's command ask for machines for an own run.
	Provision struct {
		Run      RunID
		Machines int
	}
	// Doom fails a run because a job of it has killed the processes of these peers: its root job ends by that. Report:
	// RootEnded, with that failure.
	Doom struct {
		Run   RunID
		Job   Suspect
		Peers []PeerID
		Why   string // in the words of the first of them
	}

	// Start begins to take part; Fresh: with the root. If that is impossible, report NotStarted.
	Start struct {
		Manifest *Manifest
		Fresh    bool
	}
	// Stop ends the taking part; Discard: what is kept of the run here is removed. HandOver: the run goes on without
	// this peer, and others get what it has.
	Stop struct {
		Run      RunID
		State    State
		Why      string
		Discard  bool
		HandOver bool
	}
	// Discard removes what is kept of a run that nobody takes part in here.
	Discard struct{ Run RunID }

	// WriteOwn writes a file, as WriteAnswer and WriteCancelled do: complete or not at all. Report: Written.
	WriteOwn struct {
		Run RunID
		Own Own
	}
	WriteAnswer struct {
		File   File
		Run    RunID
		Answer *Answer
	}
	// WriteCancelled notes that an own run is cancelled.
	WriteCancelled struct{ Tombstone Tombstone }
	// WriteRefused writes down what the user does not want here. Report: Written, with RefusedFile.
	WriteRefused struct{ List []Refused }
	// Remove removes a file, if there is one.
	Remove struct {
		File File
		Run  RunID
	}

	// Over says that a run has ended here: whoever waits for it is told.
	Over struct{ Run RunID }
	// Reply is the end of a command.
	Reply struct {
		Ticket  Ticket
		Run     RunID
		Refusal *Refusal // nil: it is done
	}
	// Forget says that the core does not know a run any more.
	Forget struct{ Run RunID }
	// Note is for the log.
	Note struct {
		Run  RunID
		Bad  bool // somebody should see it
		Text string
	}
)

func (Fetch) order()          {}
func (Ask) order()            {}
func (FetchAnswer) order()    {}
func (KeepAt) order()         {}
func (Collect) order()        {}
func (Announce) order()       {}
func (Bury) order()           {}
func (TellClaim) order()      {}
func (TellDeath) order()      {}
func (TellRoster) order()     {}
func (Provision) order()      {}
func (Doom) order()           {}
func (Start) order()          {}
func (Stop) order()           {}
func (Discard) order()        {}
func (WriteOwn) order()       {}
func (WriteAnswer) order()    {}
func (WriteCancelled) order() {}
func (WriteRefused) order()   {}
func (Remove) order()         {}
func (Over) order()           {}
func (Reply) order()          {}
func (Forget) order()         {}
func (Note) order()           {}

// A File is one kind of file that is kept of a run.
type File uint8

// The files of a run.
const (
	OwnFile       File = 1 + iota // an own run without an answer
	CancelledFile                 // the tombstone of an own run that was cancelled
	AnswerFile                    // the answer to an own run
	DisputeFile                   // a second answer to an own run
	HeldFile                      // the answer kept for a run's owner
	RivalFile                     // a second one, that differs
	RefusedFile                   // what the user does not want here: one for all runs
)

// Own is what is written down of an own run that has no answer yet.
type Own struct {
	Manifest  *Manifest
	Args      []string
	Began     int64 // nanoseconds since 1970
	Suspended bool
	Seq       uint64 // of the last tombstone
}

// A Ticket is the caller's name for a command; 0 is nobody's.
type Ticket uint64

// A Refusal is why a command was not carried out.
type Refusal struct {
	Kind RefusalKind
	Text string
}

// RefusalKind is the kind of a refusal.
type RefusalKind uint8

// The kinds of refusals.
const (
	NotFound RefusalKind = 1 + iota
	Refuse               // not in the state that the run is in
	Unavailable
)
