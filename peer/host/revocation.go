package host

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// A revocation says that a peer is out of the swarm, and with it all whose membership goes through it. Whoever has
// it can check it: it carries the certificates by which its author may invite.
//
// It counts for chains that go through its author, and the founder's for everybody. So one that may invite can put out
// those who are members by it, at whatever remove, which it could have left outside in the first place, and nobody
// beside or above it: else one liar with that right could empty the swarm. Statements of one that was put out itself
// are therefore kept: all that they speak of is out anyway.
type revocation struct {
	Swarm     []byte        `cbor:"1,keyasint"` // the swarm's public key
	Subject   []byte        `cbor:"2,keyasint"` // peer ID
	Author    []certificate `cbor:"3,keyasint"` // the last one's subject is the author
	Number    uint64        `cbor:"4,keyasint"` // of what one author says of one subject, the highest counts: see after
	Lifted    bool          `cbor:"5,keyasint,omitempty"`
	Signature []byte        `cbor:"6,keyasint"` // the author's
}

const (
	// MaxRevocation bounds one that travels, in bytes.
	MaxRevocation  = 3 << 10
	revocationSign = "satin revocation 1\n"

	// maxRevocations bounds those that are kept, founderRevocations those of the founder, and branchRevocations
	// those by one peer whom the founder invited and all below it: none of them can keep others' away.
	maxRevocations     = 1024
	founderRevocations = 512
	branchRevocations  = 64

	// maxChanges is how often within changesTime one other than the founder may say something else of the same peer:
	// each costs whoever hears it a write, and goes to all.
	maxChanges  = 8
	changesTime = time.Hour
)

var errRevocation = errors.New("bad revocation")

// A ban is a revocation that was checked.
type ban struct {
	revocation
	subject, author, branch peer.ID // branch: "" for the founder's own
	bytes                   []byte
	order                   uint64 // of its coming
	changes                 int    // of what its author says of its subject, since
	since                   time.Time
}

func (r revocation) signed() ([]byte, error) {
	r.Signature = nil
	b, err := wire.Control().Encode(r)
	return append([]byte(revocationSign), b...), err
}

// openRevocation checks one from anywhere.
func openRevocation(b []byte, swarm ed25519.PublicKey) (*ban, error) {
	fail := func(why string) (*ban, error) { return nil, fmt.Errorf("%w: %s", errRevocation, why) }
	if len(b) > MaxRevocation {
		return fail(fmt.Sprintf("%d bytes, at most %d are accepted", len(b), MaxRevocation))
	}
	v := &ban{bytes: b}
	if err := wire.Control().Decode(b, &v.revocation); err != nil {
		return fail(err.Error())
	}
	n := len(v.Author)
	if n == 0 || len(swarm) == 0 || !slices.Equal(v.Swarm, swarm) {
		return fail("it is of another swarm")
	}
	author, key, err := identity(v.Author[n-1].Subject)
	if err != nil {
		return fail(err.Error())
	}
	if v.subject, _, err = identity(v.revocation.Subject); err != nil {
		return fail(err.Error())
	}
	if err := verifyChain(v.Author, swarm, author, nobodyOut); err != nil {
		return fail(err.Error())
	}
	text, err := v.signed()
	switch {
	case err != nil:
		return fail(err.Error())
	case !v.Author[n-1].MayInvite:
		return fail(fmt.Sprintf("%s may not invite", author))
	case !ed25519.Verify(key, text, v.Signature):
		return fail(fmt.Sprintf("the signature is not that of %s", author))
	}
	// Nobody else makes other bytes of it: they would pass for another change of the author's mind.
	if one, err := wire.Control().Encode(v.revocation); err != nil || !slices.Equal(one, b) {
		return fail(fmt.Sprintf("it is not written as %s writes it", author))
	}
	v.author, v.branch = author, branch(v.Author)
	return v, nil
}

// nobodyOut is for chains that are looked at for what they say alone.
func nobodyOut(peer.ID, []certificate) bool { return false }

// revocations are those that this peer knows, its own among them, on the disk before they count.
type revocations struct {
	path  string
	above func(author, subject peer.ID) bool // whether it is known that the one is a member by the other; nil: never

	mu   sync.Mutex
	of   map[banned]*ban
	next uint64
}

type banned struct{ author, subject peer.ID }

func openRevocations(path string, swarm ed25519.PublicKey) (*revocations, error) {
	r := &revocations{path: path, of: map[banned]*ban{}}
	b, err := readState(path)
	if err != nil || b == nil {
		return r, err
	}
	var list [][]byte
	if err := wire.Value().Decode(b, &list); err != nil {
		return nil, stateError(path, "is damaged: remove it, and other members will tell again what was in it", err)
	}
	for _, b := range list {
		if v, err := openRevocation(b, swarm); err == nil { // else: of a swarm that this peer was in before
			_, _ = r.put(v, time.Now()) // there were never more than fit
		}
	}
	return r, nil
}

// put takes one in and says whether it was news. The mutex is held, or nobody else has r yet.
func (r *revocations) put(v *ban, now time.Time) (news bool, err error) {
	at := banned{v.author, v.subject}
	v.since = now
	if old := r.of[at]; old != nil {
		if !v.after(old) {
			return false, nil
		}
		if now.Sub(old.since) < changesTime {
			v.since, v.changes = old.since, old.changes+1
		}
		if v.changes > maxChanges && v.branch != "" {
			return false, fmt.Errorf("%w: %s has changed %d times what it says of %s", errRevocation, v.author,
				maxChanges, v.subject)
		}
	}
	r.next++
	if v.order = r.next; r.of[at] == nil && !r.fits(v) {
		return false, fmt.Errorf("%w: as many by %s and those beside and below it are known as fit", errRevocation, v.author)
	}
	r.of[at] = v
	return true, nil
}

// spare says whether one with that chain, and those beside and above it in its branch, use less than half of its room.
func (r *revocations) spare(chain []certificate) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, room, n := branch(chain), branchRevocations, 0
	if own == "" {
		room = founderRevocations
	}
	for _, v := range r.of {
		if v.branch == own && len(v.Author) <= len(chain) {
			n++
		}
	}
	return n < room/2
}

// fits says whether there is room for one more, or makes it: of its branch the newest of those makes way that matter
// least, or, where all branches together have too many, of the branch that has most. What the founder says makes way
// for nothing.
func (r *revocations) fits(v *ban) bool {
	of := map[peer.ID]int{}
	for _, other := range r.of {
		of[other.branch]++
	}
	switch {
	case v.branch == "":
		return of[""] < founderRevocations
	case of[v.branch] < branchRevocations && len(r.of)-of[""] < maxRevocations-founderRevocations:
		return true
	}
	from, out := v.branch, v
	for branch, n := range of {
		if of[v.branch] < branchRevocations && branch != "" && n > max(of[from], of[v.branch]+1) {
			from, out = branch, nil
		}
	}
	for _, w := range r.of {
		if w.branch == from && (out == nil || cmp.Or(r.weight(out)-r.weight(w), cmp.Compare(w.order, out.order)) > 0) {
			out = w
		}
	}
	delete(r.of, banned{out.author, out.subject})
	return out != v
}

// weight says how much a statement matters: most if its subject is known to be a member by its author, since of others
// it counts for nobody, and then the more the nearer its author is to the founder.
func (r *revocations) weight(v *ban) int {
	n := maxChain - len(v.Author)
	if r.above != nil && r.above(v.author, v.subject) {
		n += maxChain
	}
	return n
}

// after says which of two of the same author and subject counts. Of two with one number, which only one signs that has
// some believe that a peer is out and others that it is not, whoever hears both has it out.
func (v *ban) after(old *ban) bool {
	if v.Number == old.Number && v.Lifted != old.Lifted {
		return old.Lifted
	}
	return cmp.Or(cmp.Compare(v.Number, old.Number), bytes.Compare(v.bytes, old.bytes)) > 0
}

// only forgets what was said in other swarms than that of a key.
func (r *revocations) only(swarm ed25519.PublicKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.of, func(_ banned, v *ban) bool { return !slices.Equal(v.Swarm, swarm) })
}

// add takes one in; it is on the disk when that returns.
func (r *revocations) add(v *ban, now time.Time) (news bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := maps.Clone(r.of)
	if news, err = r.put(v, now); !news || err != nil {
		return false, err
	}
	var list [][]byte
	for _, v := range r.sorted() {
		list = append(list, v.bytes)
	}
	b, err := wire.Value().Encode(list)
	if err == nil {
		err = writeDurably(r.path, b)
	}
	if err != nil {
		r.of = was
		return false, err
	}
	return true, nil
}

// sorted lists them in the order of their coming. The mutex is held.
func (r *revocations) sorted() []*ban {
	return slices.SortedFunc(maps.Values(r.of), func(a, b *ban) int { return int(a.order) - int(b.order) })
}

// out says whether one of those above a subject has put it out.
func (r *revocations) out(subject peer.ID, above []certificate) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range above {
		if v := r.of[banned{peer.ID(c.Subject), subject}]; v != nil && !v.Lifted {
			return true
		}
	}
	return false
}

// byFounder says whether the founder has put a subject out.
func (r *revocations) byFounder(subject peer.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at, v := range r.of {
		if at.subject == subject && v.branch == "" && !v.Lifted {
			return true
		}
	}
	return false
}

// number is the next one for what an author says of a subject.
func (r *revocations) number(at banned) (next uint64, said bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.of[at]; v != nil {
		return v.Number + 1, true
	}
	return 1, false
}
