package verify

// An Order is something to be done outside, of one of the types in this file.
type Order interface{ order() }

type (
	// Copy gives a node to a peer, to be computed again. Report: Came.
	Copy struct {
		Node Node
		To   PeerID
	}
	// RunHere computes a node on this machine. Report: Came, from "".
	RunHere struct{ Node Node }
	// Open asks who made a claim for what stands behind it. Report: Opened.
	Open struct {
		In    Node // that was handed in
		Of    PeerID
		Claim Claim
	}
	// Rerun runs one node here, with outcomes supplied of jobs below it. Report: Reran, with what it came to; the
	// children in it are those of the given that it has spawned.
	Rerun struct {
		In    Node // that was handed in
		Node  Node
		Given []Claim
	}
	// Accept says that an outcome is believed, and on whose word. Compared: these are two by other members at least, or
	// this machine, or one that is trusted, has come to it too.
	Accept struct {
		Node     Node
		Outcome  Hash
		By       []PeerID
		Compared bool
	}
	// Withdraw takes an Accept back: who it rested on has lied.
	Withdraw struct{ Node Node }
	// Blame says that a peer has lied.
	Blame struct {
		Peer  PeerID
		Proof Proof
	}
	// Passed says whose outcomes were compared and found right: their records grow by one.
	Passed struct{ Peers []PeerID }
	// Missing says that so many more peers with other introducers are wanted for a node, and that it waits for them.
	Missing struct {
		Node  Node
		Peers int
	}
)

func (Copy) order()     {}
func (RunHere) order()  {}
func (Open) order()     {}
func (Rerun) order()    {}
func (Accept) order()   {}
func (Withdraw) order() {}
func (Blame) order()    {}
func (Passed) order()   {}
func (Missing) order()  {}
