package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
)

// Receipts are what owners sign, when a run of theirs that was verified is over, of what each of the others has given
// to it (driver.Earned). An owner owes them until they are taken, also over restarts; whoever has earned one keeps it,
// and shows it under the owner's name. Nothing else depends on them.
type receipts struct {
	*base.Base
	board *switchboard.Board
	vouch *vouching.Border
	cores int // of this machine
	swarm func() string
	known func(run job.RunID) *runs.Manifest // if this peer takes part, or has

	kept, owed *cabinet.Cabinet
	brought    greeted    // by whom receipts were: each may cost a file
	writing    sync.Mutex // held while what is kept changes
	giving     sync.Mutex // held by the one goroutine that gives
	next       time.Time  // when it is to try again; keepUp's

	mu   sync.Mutex
	have map[job.RunID]*statement.SignedReceipt
}

const (
	receiptProtocol = protocol.ID("/satin/receipt/1")
	receiptPatience = 10 * time.Second
	// receiptsEvery is how often it is tried again to give what is owed, in Config.Every.
	receiptsEvery = 60
	// maxReceipts bounds what is kept, in runs; of the owner with the most the oldest goes first. maxOwed bounds what
	// is owed: the oldest goes first.
	maxReceipts, maxOwed = 4096, 1024
	// maxReceiptsAtOnce is how many a member may bring at once, and then one every Config.Every.
	maxReceiptsAtOnce = 64
	// receiptSkew is how far an owner's clock may be ahead.
	receiptSkew = time.Hour
)

// given is how a receipt travels, with the run's manifest for whoever does not know it any more, if that is not too
// long.
type given struct {
	Receipt  []byte `cbor:"1,keyasint"`
	Manifest []byte `cbor:"2,keyasint,omitempty"`
}

// taken says that it is not owed any more; Why is why it is not kept. Later says that it may be another time: one of
// the two clocks is wrong.
type taken struct {
	Why   string `cbor:"1,keyasint,omitempty"`
	Later bool   `cbor:"2,keyasint,omitempty"`
}

const maxGiven = statement.MaxReceipt + maxAccusation + 16

// open opens what lasts. What does not prove itself is not counted, and left where it is.
func (x *receipts) open(dir string) (err error) {
	x.have = map[job.RunID]*statement.SignedReceipt{}
	if x.kept, err = base.OpenCabinet(x.Base, filepath.Join(dir, "receipts"), ".receipt", 0); err != nil {
		return err
	}
	if x.owed, err = base.OpenCabinet(x.Base, filepath.Join(dir, "owed"), ".receipt", maxOwed); err != nil {
		return err
	}
	files := x.kept.Files()
	for _, f := range files[max(0, len(files)-maxReceipts):] {
		parts, err := x.kept.Read(f.Name, 1)
		var s *statement.SignedReceipt
		if err == nil {
			s, err = statement.OpenReceipt(parts[0])
		}
		if err == nil && (s.To != x.vouch.Self || s.Run.Hex() != f.Name) {
			err = errors.New("it is another peer's, or of another run")
		}
		if err != nil {
			x.Log.Warn("a receipt is not counted", "file", x.kept.Path(f.Name), "error", err)
			continue
		}
		x.have[s.Run] = s
	}
	return nil
}

func (x *receipts) serve() {
	x.board.Answer(receiptProtocol, maxGiven, receiptPatience, x.answer)
}

// answer says what becomes of a receipt. One that is right but cannot be written down, or that comes too soon, has no
// answer: so it is owed still, and comes again.
func (x *receipts) answer(from peer.ID, b []byte) (any, error) {
	if !x.brought.again(from, x.Every, maxReceiptsAtOnce, x.Now()) {
		return nil, errTooOften
	}
	var g given
	if err := wire.Value().Decode(b, &g); err != nil {
		return nil, err
	}
	s, err := x.check(from, &g)
	if err != nil {
		x.Log.Info("a receipt is refused", "from", from, "error", err)
		return &taken{plain.OneLine(err), errors.Is(err, errAhead)}, nil
	}
	if err := x.keep(s); err != nil {
		x.Log.Warn("a receipt cannot be kept until it comes again", "run", s.Run, "from", from, "error", err)
		return nil, err
	}
	return &taken{}, nil
}

// check opens a receipt that a run's owner gives to this peer.
func (x *receipts) check(from peer.ID, g *given) (*statement.SignedReceipt, error) {
	s, err := statement.OpenReceipt(g.Receipt)
	if err != nil {
		return nil, err
	}
	m := x.known(s.Run)
	if m == nil {
		sent, err := statement.OpenManifest(g.Manifest)
		if err != nil || sent.Swarm != x.swarm() {
			return nil, errors.New("of no run that is known here")
		}
		m = manifestOf(sent)
	}
	if err := s.OfRun(m); err != nil {
		return nil, err
	}
	switch {
	case s.Author != from || x.vouch.Outcast(from):
		return nil, errors.New("nobody but the run's owner gives it, as long as that is a member")
	case s.To != x.vouch.Self:
		return nil, errors.New("it is another peer's: " + s.To.String())
	case time.Unix(s.At, 0).Sub(x.Now()) > receiptSkew:
		return nil, errAhead
	case s.Cores > int64(x.cores):
		return nil, fmt.Errorf("this machine has no %d cores", s.Cores)
	}
	return s, nil
}

// errAhead is why a receipt is not taken yet.
var errAhead = errors.New("it is from the future")

// keep counts a receipt: of one run the one that says most.
func (x *receipts) keep(s *statement.SignedReceipt) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	old := x.have[s.Run]
	x.mu.Unlock()
	if old != nil && old.Time >= s.Time {
		return nil
	}
	if err := x.kept.Write(s.Run.Hex(), s.Bytes); err != nil {
		return err
	}
	x.mu.Lock()
	x.have[s.Run] = s
	gone := x.excess()
	delete(x.have, gone)
	x.mu.Unlock()
	if gone != (job.RunID{}) {
		return x.kept.Remove(gone.Hex())
	}
	return nil
}

// excess is the run whose receipt makes way; zero if there is room. The mutex is held.
func (x *receipts) excess() (run job.RunID) {
	if len(x.have) <= maxReceipts {
		return run
	}
	by := map[peer.ID]int{}
	for _, s := range x.have {
		by[s.Author]++
	}
	for id, s := range x.have {
		was := x.have[run]
		if was == nil || cmp.Or(by[s.Author]-by[was.Author], cmp.Compare(was.At, s.At),
			bytes.Compare(was.Run[:], s.Run[:])) > 0 {
			run = id
		}
	}
	return run
}

// owe signs what a run's other peers have earned, which is over. The conductor's mutex is held.
func (x *receipts) owe(r *part) {
	m, began := r.manifest, time.Unix(r.manifest.Created, 0)
	took := max(r.ended.Sub(began), r.ended.Sub(r.began)) // the clock may have been set back meanwhile
	took = min(max(took, time.Microsecond), statement.MaxLife)
	at := max(r.ended.Unix(), began.Add(took).Unix())
	var list []statement.Receipt
	for _, e := range r.earned() {
		id, err := peer.Decode(string(e.Peer))
		if err != nil || !x.vouch.Member(id) {
			continue // a browser's tab keeps nothing
		}
		cores := 1
		if l := r.loads[id]; l != nil {
			cores = max(1, l.cores)
		}
		list = append(list, statement.Receipt{Run: m.Run, Peer: []byte(id), Took: took.Microseconds(),
			Time:    min(e.Time, took*time.Duration(cores)).Microseconds(),
			Results: int64(e.Results), Cores: int64(cores), At: at})
	}
	if len(list) == 0 {
		return
	}
	x.Spawn(func(ctx context.Context) {
		for i := range list {
			if err := x.write(&list[i], m.Sealed); err != nil {
				x.Log.Warn("a peer gets no receipt", "run", m.Run, "error", err)
			}
		}
		x.give(ctx, true)
	})
}

// write notes that a receipt is owed.
func (x *receipts) write(r *statement.Receipt, manifest []byte) error {
	s, err := r.Sign(x.vouch.Key)
	if err != nil {
		return err
	}
	b, err := wire.Value().Encode(&given{s.Bytes, manifest})
	if err != nil {
		return err
	}
	return x.owed.Write(s.Run.Hex()+"-"+s.To.String(), b)
}

// keepUp gives what is owed to those who are there.
func (x *receipts) keepUp(now time.Time) {
	if now.Before(x.next) {
		return
	}
	x.next = now.Add(receiptsEvery * x.Every)
	x.Spawn(func(ctx context.Context) { x.give(ctx, false) })
}

// give gives what is owed, and forgets it when it was taken, or refused. Whoever does not answer is left alone until
// the next time, and whoever is not connected as well, unless the run has just ended.
func (x *receipts) give(ctx context.Context, all bool) {
	if all {
		x.giving.Lock()
	} else if !x.giving.TryLock() {
		return // those that were silent take their time, and more would only wait for it
	}
	defer x.giving.Unlock()
	silent := map[peer.ID]bool{}
	for _, f := range x.owed.Files() {
		var g given
		parts, err := x.owed.Read(f.Name, 1)
		if err == nil {
			err = wire.Value().Decode(parts[0], &g)
		}
		var s *statement.SignedReceipt
		if err == nil {
			s, err = statement.OpenReceipt(g.Receipt)
		}
		if err != nil {
			_ = x.owed.Remove(f.Name)
			continue
		}
		if silent[s.To] || !all && !x.board.Connected(s.To) {
			continue
		}
		var t taken
		if err := x.board.Ask(ctx, s.To, receiptProtocol, &g, &t, 1<<10, receiptPatience); err != nil {
			silent[s.To] = true
			continue
		}
		if t.Why != "" {
			x.Log.Info("a receipt is not taken", "run", s.Run, "peer", s.To, "later", t.Later, "why", clipText(t.Why))
		}
		if t.Later {
			continue
		}
		if err := x.owed.Remove(f.Name); err != nil {
			x.Log.Warn("a receipt is owed although it was taken", "error", err)
		}
	}
}

// maxThanked bounds the owners that are shown.
const maxThanked = 16

// verified is what this peer has given, by the word of those who have verified it. What liars have signed is nothing.
func (x *receipts) verified(nameOf func(peer.ID) string) (v report.Verified) {
	x.mu.Lock()
	by := map[peer.ID]*report.Thanks{}
	for _, s := range x.have {
		if x.vouch.Outcast(s.Author) {
			continue
		}
		b := by[s.Author]
		if b == nil {
			b = &report.Thanks{Owner: s.Author.String(), OwnerName: nameOf(s.Author)}
			by[s.Author] = b
		}
		b.Add(float64(s.Time)/1e6, uint64(s.Results))
		v.All.Add(float64(s.Time)/1e6, uint64(s.Results))
	}
	x.mu.Unlock()
	for _, b := range slices.SortedFunc(maps.Values(by), func(a, b *report.Thanks) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Owner, b.Owner))
	}) {
		v.By = append(v.By, *b)
	}
	v.Owners = len(v.By)
	v.By = v.By[:min(len(v.By), maxThanked)]
	return v
}

// earned is what others have given to the run, also before it was suspended.
func (r *part) earned() []driver.Earned { return driver.AllEarned(r.earlier, r.proofs.Earned) }
