package sharedobj

// JobID names a job that came from elsewhere, or that was given away, as whoever moves jobs knows it.
type JobID uint64

// Ticket names an order that the engine answers.
type Ticket uint64

// OrderKind says what an order asks for.
type OrderKind uint8

// The orders of a core. Apply, Join, Encode, Collect and Guard are answered once each; the application's code that
// they run may take its time, and the core goes on meanwhile.
const (
	// OrderHere: the value of Digest, called Name, is Data. If Ticket is set it is what that Apply returned: whoever
	// has kept that need not be given it.
	OrderHere OrderKind = 1 + iota
	// OrderForget: Digest is not held any more. What has its value may use it on.
	OrderForget
	// OrderApply: apply the write Data to the value of Parent, called Name: Core.Applied. Until then Parent is not
	// forgotten.
	OrderApply
	// OrderDiscard: what the Apply Ticket returned is of no use. That, or Here, follows each that returned a state.
	OrderDiscard
	// OrderJoin: check Data and join it into the lattice Digest: Core.Joined.
	OrderJoin
	// OrderCollect: encode what was offered to the lattice Digest since the last Collect: Core.Collected.
	OrderCollect
	// OrderEncode: encode the value of the lattice Digest: Core.Encoded.
	OrderEncode
	// OrderGuard: evaluate the guard of Job: Core.Guarded.
	OrderGuard
	// OrderReady: Job may begin.
	OrderReady
	// OrderBack: Job goes back to its victim; Err says why.
	OrderBack
	// OrderFailed: Digest cannot be had, or held, for Err: whoever reads it, or wrote it, is to fail.
	OrderFailed
	// OrderTell: tell News to everybody, without a promise.
	OrderTell
	// OrderNote: tell the user Text.
	OrderNote
	orderKinds
)

// Order is one instruction; which fields are set depends on Kind.
type Order struct {
	Kind   OrderKind
	Ticket Ticket
	Digest Digest
	Parent Digest
	Name   string
	Data   []byte
	Job    JobID
	Own    bool // of OrderJoin: it counts as offered here, and is told to others
	Read   bool // of OrderHere: a job in the middle of its work waits for it
	Err    error
	News   *News
	Text   string
}

// Output is what one input made the core want to do, in the order in which it is to be done. The slices belong to
// the core and are valid until its next input; the messages they point to may be kept.
type Output struct {
	Orders   []Order
	Messages []*Message
}

// Need is one thing that a job names.
type Need struct {
	Digest Digest `cbor:"1,keyasint"`
	// Floor, for a lattice, is the value that the job's parent saw, if it is small; else FloorBlob names it.
	Floor     []byte `cbor:"2,keyasint,omitempty"`
	FloorBlob Blob   `cbor:"3,keyasint,omitzero"`
}

// Job is what the core is told of a job from elsewhere.
type Job struct {
	ID      JobID
	Victim  PeerID
	Needs   []Need
	Holders []PeerID // peers said to have them, besides the victim
	Guarded bool     // it has a guard
	Stays   bool     // it waits as long as it takes: there is nobody to whom it could go back
}

// Member is a peer of the run.
type Member struct {
	ID      PeerID
	Cluster ClusterID
	// Guest is a peer that this one alone knows: see guests.go.
	Guest bool
}
