package runs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// RunID names a run.
type RunID = job.RunID

// PeerID names a peer.
type PeerID string

// Hash is that of an outcome.
type Hash [32]byte

// Manifest is what an owner has signed about its run, without the root job's argument.
type Manifest struct {
	Run              RunID
	Owner            PeerID
	Deputies         []PeerID // in this order they take over when the owner is silent
	App, Version     string
	Entry            string // function of the root job
	Title            string
	Policy, Recovery string
	Rounding         string // how the owner's machine rounds, if that matters
	Verify           string // "": outcomes of any member are believed; else nobody but the owner has the root
	Adapt            string // how the run fits itself to its peers; "": not at all, and there are no rosters
	MinPeers         int    // that it is to have, if there are as many
	MaxPeers         int    // and at most; 0: any number
	MaxCores         int
	Eager            int      // of so many of 100 jobs idle peers may get copies
	Executables      []string // hashes of those that its jobs have run
	Created, Expires int64    // seconds since 1970
	Proof            []byte   // that its owner is a member, for the room outside to judge
	Sealed           []byte   // as it travels, with the argument; nil: only the head is known
}

// head is the manifest without its bytes.
func (m *Manifest) head() *Manifest {
	h := *m
	h.Sealed = nil
	return &h
}

// before lists who comes before a peer in holding the root: the owner and the deputies up to that peer.
func (m *Manifest) before(id PeerID) []PeerID {
	list := append([]PeerID{m.Owner}, m.Deputies...)
	if i := slices.Index(list, id); i >= 0 {
		return list[:i]
	}
	return list
}

func (m *Manifest) isDeputy(id PeerID) bool { return slices.Contains(m.Deputies, id) }

// Reason says why a run is over.
type Reason uint8

// Why a run is over. The numbers travel.
const (
	Finished  Reason = 1 + iota // the answer, or the failure of the root job, has been kept
	Cancelled                   // by the owner
	Suspended                   // by the owner, who may resume it
	Resumed                     // it is not over any more
)

// Final says whether nothing can follow.
func (r Reason) Final() bool { return r == Finished || r == Cancelled }

// String is the word for people.
func (r Reason) String() string {
	switch r {
	case Finished:
		return "finished"
	case Cancelled:
		return "cancelled"
	case Suspended:
		return "suspended"
	case Resumed:
		return "resumed"
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Tombstone says that a run is over, for good or until its owner resumes it.
type Tombstone struct {
	Run    RunID
	Author PeerID
	Reason Reason
	Seq    uint64 // orders what an owner says of a run that is suspended and resumed
	At     int64  // seconds since 1970, by the author's clock
	Until  int64  // when the run expires: nobody needs the tombstone afterwards
	Hash   *Hash  // of the outcome that the owner of a finished run has
	// Took is how long the run took by its owner, once it has ended; 0: not told. So all peers show the same.
	Took   time.Duration
	Sealed []byte // as it travels
}

// Supersedes says whether it replaces another one of the same run and author: what is final replaces what is not, then
// the last word counts. Of two with one number, which only an owner signs that tells some one thing and others another,
// there is an order, too, so that everybody who hears both believes the same, whichever came first.
func (t *Tombstone) Supersedes(old *Tombstone) bool {
	if t.Reason.Final() != old.Reason.Final() {
		return t.Reason.Final()
	}
	return cmp.Or(cmp.Compare(t.Seq, old.Seq), cmp.Compare(old.Reason, t.Reason),
		bytes.Compare(t.Sealed, old.Sealed)) > 0
}

// over says whether the run does not go on by it.
func (t *Tombstone) over() bool { return t.Reason != Resumed }

// Claim says that its author held the root job to its end and keeps the answer for the owner.
type Claim struct {
	Run       RunID
	Author    PeerID
	Hash      Hash // of the outcome
	At, Until int64
	Of        []byte // see Outcome
	Sealed    []byte
}

// Outcome is what the root job came to.
type Outcome struct {
	Bytes   []byte
	Hash    Hash
	Failure string // why the root job failed; "" if it did not
	Of      []byte // on whose word it rests besides that of whoever had the root, for the room outside to read
}

// Answer is the end of a run as it is written to the disk.
type Answer struct {
	Manifest []byte // sealed
	Owner    PeerID // for whom it is kept; "" for an own run
	Outcome  Outcome
	Ended    int64 // seconds since 1970
	Elapsed  int64 // nanoseconds from the run's begin to its end
	Claim    *Claim
	Peers    int // that took part; the I/O knows for those of own sessions
}

// Signer signs for this peer; what it signs depends on nothing else. Nil if it cannot.
type Signer interface {
	Bury(*Tombstone) []byte
	Claim(*Claim) []byte
	Enroll(*Roster) []byte
}

// View is what is known of the swarm. It may change between two inputs and not during one.
type View interface {
	// Alive says whether a peer is believed to be: a member that answers. This peer is.
	Alive(PeerID) bool
	// Admitted says whether a peer is a member that was let in, alive or not.
	Admitted(PeerID) bool
	// Computes says whether a peer may use cores at present, as it says itself; this peer counts itself among these.
	Computes(PeerID) bool
	// Cluster is where a peer is; "" if that is not known.
	Cluster(PeerID) string
	// Hand is by whom a peer is a member: all in one hand count once. It is "" where that proves nothing.
	Hand(PeerID) string
	// Hands is in how many hands strangers have to be whose word counts about a job of a run that is verified.
	Hands(*Manifest) int
	// Partners lists the others that can take part in a run and are alive, always in the same order.
	Partners(*Manifest) []PeerID
}
