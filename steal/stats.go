package steal

import "time"

// Stats counts what a core has done since it was made. "Local" is within the cluster, "wide" across clusters.
type Stats struct {
	StealsSentLocal, StealsSentWide uint64 // requests sent
	StealsWonLocal, StealsWonWide   uint64 // replies with at least one job
	StealsTimedOut                  uint64
	JobsTakenLocal, JobsTakenWide   uint64 // jobs this peer got from others
	JobsGivenLocal, JobsGivenWide   uint64 // jobs others got from this peer
	RequestsRefused                 uint64 // answered without a job
	JobsReturned                    uint64 // jobs that went back because what they name did not come
	JobsWithoutRoom                 uint64 // jobs that went back because the room is for others, too

	MessagesSentLocal, MessagesSentWide uint64
	BytesSentLocal, BytesSentWide       uint64 // estimated encoded size, Message.Size
	SentByKind                          [kinds]uint64

	SegmentsFinished uint64 // jobs of others run here to the end
	SegmentsAborted  uint64
	ResultsUsed      uint64 // results of others' work delivered to the engine or passed on
	Relayed          uint64 // messages of others sent on
	ResultsRepeated  uint64 // sent again for want of an acknowledgement

	JobsPutBack      uint64 // given-away jobs queued again, for any of the reasons below
	Readopted        uint64 // of those put back for a silent thief, how many were left to it when it was heard again
	PutBackLostThief uint64 // the thief was lost or said goodbye
	PutBackInventory uint64 // missing from consecutive inventories
	PutBackUnsent    uint64 // the reply could not be written
	PutBackReturned  uint64 // the thief had no room for it, or this peer none for the outcome
	PutBackTooLarge  uint64 // beyond Config.MaxJobBytes, or MaxPath
	PutBackUnusable  uint64 // what the result names could not be had
	EagerCopies      uint64 // jobs that others had and that idle peers got too
	OverdueCopies    uint64 // jobs that thieves listed for so long that idle workers here run them too
	EagerWon         uint64 // of those, how many were done first by the copy
	PeersLost        uint64 // partners that fell silent
	PeersLeft        uint64 // partners that said goodbye
	OrphansAborted   uint64 // segments whose owner was gone and that nobody could want
	OrphansKept      uint64 // segments whose owner was gone, running or finished, that were kept
	OrphansAdopted   uint64 // of those running, how many got a new owner
	// outcomes that were used because they were proved
	OutcomesProved uint64
	// jobs of this peer, or held here, that were not computed again because an orphan's outcome was there
	OrphansReused      uint64
	TuplesSent         uint64
	TuplesHeard        uint64
	TuplesEvicted      uint64 // from the table: it was full, an ancestor is done, the holder is gone
	NewsSent           uint64
	PartialsKept       uint64 // outcomes taken in from the engine and from acknowledged results
	WithoutRoom        uint64 // outcomes and tuples that were not kept because the room is for others, too
	PartialsHandedOver uint64 // outcomes given to other peers when leaving, acknowledged
	PartialsLeft       uint64 // outcomes that nobody took when this peer left
	PartialsDisplaced  uint64 // outcomes that perhaps nobody else has, dropped or not taken in for want of room
	OutcomesCopied     uint64 // outcomes of the root's jobs sent to another cluster to be kept there, too
	PartialsRestored   uint64 // outcomes taken in from a checkpoint
	Restarts           uint64 // times this peer started the root
	SteppedDown        uint64 // times it gave the root up to a better master
	Stalls             uint64 // times this peer found that it had not been running itself

	// Messages that changed nothing, by why.
	DroppedForeign    uint64 // another run, or not addressed to this peer
	DroppedStale      uint64 // from or to an earlier incarnation
	DroppedDuplicate  uint64 // seen before: a result for a closed handle, a job already held, an old heartbeat
	DroppedUnexpected uint64 // an acknowledgement, abort or return for something not held
	DroppedMalformed  uint64
	LateReplies       uint64 // replies after their request was given up; their jobs were used

	// Time of idle workers, added up: what they waited for. See pastime.
	IdleStealing      time.Duration // for the answer to a request for jobs
	IdleCommunicating time.Duration // for what is late between this cluster and another one
	IdleWaiting       time.Duration // for jobs that others have, no request being out
	// Late is how long something between this cluster and another one was late, whether workers were idle or not.
	Late time.Duration
}
