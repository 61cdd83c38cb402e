package peer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// An archive is what a peer has of runs on its disk, a file for each: own runs without an answer, the tombstones of
// those that were cancelled, the answers to own runs, second ones that differ, and the answers that it keeps for the
// owners of other runs.
type archive struct {
	*base.Base
	self peer.ID
	apps *catalog
	dir  string // the state directory

	own, cancelled, answers, disputes, held, refused *cabinet.Cabinet
}

// ownRun is the first part of the file of an own run; the signed manifest is the second.
type ownRun struct {
	Args      []string `cbor:"1,keyasint,omitempty"` // as on the owner's command line
	Began     int64    `cbor:"2,keyasint"`           // nanoseconds since 1970
	Suspended bool     `cbor:"3,keyasint,omitempty"`
	Seq       uint64   `cbor:"4,keyasint,omitempty"` // of the last tombstone
}

// answer is the first part of the file of a run that has ended; manifest and outcome are parts of their own, because
// together they may be more than one value may be.
type answer struct {
	Ended   int64 `cbor:"3,keyasint"`           // seconds since 1970
	Elapsed int64 `cbor:"4,keyasint"`           // nanoseconds from submission to end
	Peers   int   `cbor:"5,keyasint,omitempty"` // most peers that took part at one time
	// Answered is the signed statement of whoever had the root job, if that was not the owner.
	Answered []byte `cbor:"6,keyasint,omitempty"`
	// Owner is the peer that it is kept for; empty: this one.
	Owner string   `cbor:"7,keyasint,omitempty"`
	Hash  []byte   `cbor:"8,keyasint,omitempty"`  // of the outcome; older files have none
	Why   string   `cbor:"9,keyasint,omitempty"`  // the root job failed
	Args  []string `cbor:"10,keyasint,omitempty"` // as on the owner's command line
	// Of are those on whose word it rests besides whoever had the root job: see statement.Keys.
	Of []byte `cbor:"11,keyasint,omitempty"`
}

const (
	// maxOwn bounds the own runs without an answer, suspended ones included; maxAnswers is how many answers to own
	// runs are kept, and maxHeldFiles how many to those of others: the core has the rule, this is for its mistakes.
	maxOwn       = 256
	maxAnswers   = 256
	maxHeldFiles = 256
)

// openArchive opens what is kept of runs in a state directory.
func openArchive(b *base.Base, dir string, self peer.ID, apps *catalog) (_ *archive, err error) {
	a := &archive{Base: b, self: self, apps: apps, dir: dir}
	open := func(name, kind string, most int) *cabinet.Cabinet {
		c, bad := base.OpenCabinet(b, filepath.Join(dir, name), kind, most)
		err = errors.Join(err, bad)
		return c
	}
	a.own = open("own", ".run", maxOwn)
	a.cancelled = open("cancelled", ".tombstone", maxOwn)
	a.answers = open("answers", ".answer", maxAnswers)
	a.disputes = open(filepath.Join("answers", "disputed"), ".answer", maxAnswers)
	a.refused = open("refused", ".list", 1)
	a.held = open("held", ".answer", maxHeldFiles)
	return a, err
}

// of is where files of a kind are.
func (a *archive) of(f runs.File) *cabinet.Cabinet {
	switch f {
	case runs.OwnFile:
		return a.own
	case runs.CancelledFile:
		return a.cancelled
	case runs.AnswerFile:
		return a.answers
	case runs.DisputeFile:
		return a.disputes
	}
	return a.held
}

// gone says that the state directory was removed; "" if it is there.
func (a *archive) gone() string {
	if _, err := os.Stat(a.dir); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return "the state directory " + a.dir + " is gone, with this peer's identity: it has another one when it is started again"
}

// rival is how the name of a second answer ends that is kept for an owner.
const rival = "-rival"

func nameOf(f runs.File, id job.RunID) string {
	if f == runs.RivalFile {
		return id.Hex() + rival
	}
	return id.Hex()
}

// writeOwn writes an own run down that has no answer yet.
func (a *archive) writeOwn(o *runs.Own) error {
	b, err := wire.Value().Encode(&ownRun{Args: o.Args, Began: o.Began, Suspended: o.Suspended, Seq: o.Seq})
	if err != nil {
		return err
	}
	return a.own.Write(o.Manifest.Run.Hex(), b, o.Manifest.Sealed)
}

// readOwn reads what was written down of an own run; fs.ErrNotExist if nothing was.
func (a *archive) readOwn(name string) (*runs.RecalledOwn, *statement.SignedManifest, error) {
	parts, err := a.own.Read(name, 2)
	if err != nil {
		return nil, nil, err
	}
	o := &ownRun{}
	if err := wire.Value().Decode(parts[0], o); err != nil {
		return nil, nil, err
	}
	m, err := statement.OpenManifest(parts[1])
	if err != nil {
		return nil, nil, err
	}
	if m.Owner != a.self || m.Run.Hex() != name {
		return nil, nil, errNotOwn
	}
	return &runs.RecalledOwn{Own: runs.Own{Manifest: manifestOf(m), Args: o.Args, Began: o.Began,
		Suspended: o.Suspended, Seq: o.Seq}, Unfit: a.apps.unfit(m)}, m, nil
}

// errNotOwn is what a file is that somebody put there.
var errNotOwn = errors.New("it is the manifest of another peer's run, or of another run")

// writeAnswer writes an answer and returns when it is on the disk.
func (a *archive) writeAnswer(f runs.File, id job.RunID, end *runs.Answer, args []string) error {
	head := &answer{Ended: end.Ended, Elapsed: end.Elapsed, Peers: end.Peers, Owner: string(end.Owner),
		Hash: end.Outcome.Hash[:], Why: end.Outcome.Failure, Of: end.Outcome.Of}
	if end.Owner == "" {
		head.Args = args
	}
	if end.Claim != nil {
		head.Answered, head.Of = end.Claim.Sealed, end.Claim.Of
	}
	b, err := wire.Value().Encode(head)
	if err != nil {
		return err
	}
	return a.of(f).Write(nameOf(f, id), b, end.Manifest, end.Outcome.Bytes)
}

// outcomePart is which part of the file of a run that has ended is the outcome.
const outcomePart = 2

// readAnswer reads so many parts of the file of a run that has ended: 1 is the head, 2 the manifest too, 3 all;
// fs.ErrNotExist if there is none.
func readAnswer(c *cabinet.Cabinet, name string, parts int) (head *answer, manifest, outcome []byte, err error) {
	list, err := c.Read(name, parts)
	if err != nil {
		return nil, nil, nil, err
	}
	list = append(list, nil, nil)
	head = &answer{}
	return head, list[1], list[2], wire.Value().Decode(list[0], head)
}

// outcomeIn is the outcome in a file; nil if there is none.
func outcomeIn(c *cabinet.Cabinet, name string) []byte {
	_, _, outcome, err := readAnswer(c, name, 3)
	if err != nil {
		return nil
	}
	return outcome
}

// claim is that of whoever had the root job; nil if that was the owner.
func (a *answer) claim() *runs.Claim {
	if len(a.Answered) == 0 {
		return nil
	}
	s, err := statement.OpenAnswered(a.Answered)
	if err != nil {
		return nil
	}
	return claimOf(s)
}

// recall reads what earlier lives of this peer have left. What cannot be read is left alone.
func (a *archive) recall() *runs.Recalled {
	d := &runs.Recalled{}
	var err error
	if d.Refused, err = a.recallRefused(); err != nil {
		a.unreadable(a.refused, refusedName, err)
	}
	for _, f := range a.cancelled.Files() {
		parts, err := a.cancelled.Read(f.Name, 1)
		if err != nil {
			a.unreadable(a.cancelled, f.Name, err)
			continue
		}
		s, author, err := statement.OpenTombstone(parts[0])
		if err != nil || author != a.self {
			_ = a.cancelled.Remove(f.Name) // nobody needs it
			continue
		}
		d.Cancelled = append(d.Cancelled, tombstoneOf(s, author, parts[0]))
	}
	for _, f := range a.answers.Files() {
		if one, err := a.recallAnswer(f.Name); err != nil {
			a.unreadable(a.answers, f.Name, err)
		} else {
			d.Answers = append(d.Answers, *one)
		}
	}
	for _, f := range a.own.Files() {
		if o, m, err := a.readOwn(f.Name); err != nil {
			a.unreadable(a.own, f.Name, err)
		} else {
			a.apps.constants.Keep(m)
			d.Own = append(d.Own, *o)
		}
	}
	for _, f := range a.held.Files() {
		if h, err := a.recallHeld(f); err != nil {
			a.unreadable(a.held, f.Name, err)
		} else {
			d.Held = append(d.Held, *h)
		}
	}
	return d
}

func (a *archive) unreadable(c *cabinet.Cabinet, name string, err error) {
	a.Log.Warn("a file of an earlier life cannot be read, and is left alone", "file", c.Path(name), "error", plain.OneLine(err))
}

func (a *archive) recallAnswer(name string) (*runs.RecalledAnswer, error) {
	head, manifest, _, err := readAnswer(a.answers, name, 2)
	if err != nil {
		return nil, err
	}
	m, err := statement.OpenManifest(manifest)
	if err != nil {
		return nil, err
	}
	if m.Owner != a.self || m.Run.Hex() != name {
		return nil, errNotOwn
	}
	r := &runs.RecalledAnswer{Manifest: headOf(manifestOf(m)), Args: head.Args, Ended: head.Ended, Took: head.Elapsed,
		Claim: head.claim(), Failure: head.Why}
	if len(head.Hash) == len(r.Hash) {
		r.Hash = runs.Hash(head.Hash)
	} else { // of an older version
		out := outcomeOf(r.Manifest, outcomeIn(a.answers, name))
		r.Hash, r.Failure = out.Hash, out.Failure
	}
	if second, _, outcome, err := readAnswer(a.disputes, name, 3); err == nil {
		h := runs.Hash(statement.HashOutcome(outcome))
		r.Second, r.SecondBy = &h, peerName(a.self)
		if by := second.claim(); by != nil {
			r.SecondBy = by.Author
		}
	}
	return r, nil
}

func (a *archive) recallHeld(f cabinet.File) (*runs.RecalledHeld, error) {
	head, manifest, _, err := readAnswer(a.held, f.Name, 2)
	if err != nil {
		return nil, err
	}
	m, err := statement.OpenManifest(manifest)
	if err != nil {
		return nil, err
	}
	by := head.claim()
	h := &runs.RecalledHeld{File: runs.HeldFile, Manifest: headOf(manifestOf(m)), Size: f.Size, Since: f.At,
		Took: head.Elapsed}
	if f.Name == nameOf(runs.RivalFile, m.Run) {
		h.File = runs.RivalFile
	}
	if by == nil || by.Run != m.Run || f.Name != nameOf(h.File, m.Run) {
		return nil, errNotOwn
	}
	h.Claim = *by
	return h, nil
}

// manifestHeld is the manifest beside an answer that is kept for a run's owner.
func (a *archive) manifestHeld(id job.RunID) []byte {
	for _, f := range []runs.File{runs.HeldFile, runs.RivalFile} {
		if _, manifest, _, err := readAnswer(a.held, nameOf(f, id), 2); err == nil {
			return manifest
		} else if !errors.Is(err, fs.ErrNotExist) {
			a.unreadable(a.held, nameOf(f, id), err)
		}
	}
	return nil
}

// peerIDs reads names of peers; those that cannot be read are left out.
func peerIDs(names []runs.PeerID) (list []peer.ID) {
	for _, n := range names {
		if id, err := peer.Decode(string(n)); err == nil {
			list = append(list, id)
		}
	}
	return list
}
