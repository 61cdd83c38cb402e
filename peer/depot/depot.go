// Package depot keeps deposits: what is to outlive the machine that has it, pieces of proofs for example, is kept by
// other members. Package deposits decides by whom, a library fetches and verifies the bytes, and here is what connects
// them. Whoever keeps deposits says so on its card.
package depot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/deposits"
	"github.com/satin-peer/satin/peer/library"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/quota"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/sharedobj"
)

const (
	depositProtocol = protocol.ID("/satin/deposit/2")
	depositTime     = 10 * time.Second
)

// KeepsDeposits stands on the card of whoever keeps deposits.
var KeepsDeposits = statement.App{Name: "satin1.deposits", Version: statement.Version{2}}

// Run is the run for which libraries of deposits talk; zero is that for modules.
func Run() job.RunID { return runCalled("satin deposits") }

// runCalled is the name of no run that anybody could begin.
func runCalled(text string) (run job.RunID) {
	sum := sha256.Sum256([]byte(text))
	copy(run[:], sum[:])
	return run
}

// depositQuestion asks a member to keep a deposit, for its maker, whose statement says what it is and for how long.
type depositQuestion struct {
	Made []byte `cbor:"1,keyasint"`
}

const maxDepositQuestion = statement.MaxDeposited + 16 // bytes

type depositReply struct {
	Reply deposits.Reply `cbor:"1,keyasint,omitempty"`
}

// depotItem is what is written down of a deposit.
type depotItem struct {
	Hash  deposits.Hash   `cbor:"1,keyasint"`
	Size  int64           `cbor:"2,keyasint"`
	Until int64           `cbor:"3,keyasint"` // seconds since 1970
	Giver deposits.PeerID `cbor:"4,keyasint,omitempty"`
	Made  []byte          `cbor:"5,keyasint,omitempty"` // its maker's statement, if that is another
}

// A Depot has a peer's deposits, its user's and those that it keeps for others. Who makes it sets the exported fields,
// and calls Open; the methods may then be called at the same time.
type Depot struct {
	*base.Base
	Self peer.ID
	Key  crypto.PrivKey
	Host interface {
		SwarmName() string
		Proof() []byte
		Vouch(id peer.ID, proof []byte) (by []peer.ID, err error)
	}
	Board   *switchboard.Board
	Members *members.Members
	Places  *places.Places
	Send    func(*stream.Shared) // passes on what the library says
	lib     *library.Library
	files   *cabinet.Cabinet

	arriving atomic.Int64 // from jobs

	mu   sync.Mutex // taken before that of lib
	core *deposits.Core
}

// Open opens what was kept in earlier lives in a state directory. Of what q has, others' deposits take a part.
func (x *Depot) Open(state string, bounds deposits.Config, q *quota.Quota) (err error) {
	dir := filepath.Join(state, "deposits")
	if x.files, err = base.OpenCabinet(x.Base, filepath.Join(dir, "items"), ".item", 0); err != nil {
		return err
	}
	shelf := library.DefaultConfig(1 << 50) // what is kept is for the core to say
	shelf.Objects.MaxBytes, shelf.Wanted = 32<<20, 8
	shelf.Kind = library.Kind{Name: "deposit", Suffix: ".bytes", Most: bounds.MaxSize,
		AsConstant: func(b []byte) (*sharedobj.Recipe, *sharedobj.Body) {
			body := sharedobj.Build(b)
			return &sharedobj.Recipe{Kind: sharedobj.Constant, Name: port.Deposit, State: body.Blob}, body
		},
		Is: func(r *sharedobj.Recipe) bool {
			return r.Kind == sharedobj.Constant && r.Name == port.Deposit && r.First() &&
				r.State.Size <= uint64(bounds.MaxSize)
		}}
	x.lib, err = library.Open(shelf, library.Host{Dir: dir, Self: library.PeerID(x.Self.String()), Log: x.Log,
		Replace: x.Medium.Replace,
		Here:    func(h library.Hash) { x.Log.Debug("a deposit is here", "hash", h) },
		Send:    func(m *sharedobj.Message) { x.Send(&stream.Shared{Run: Run(), Message: m}) }})
	if err != nil {
		return err
	}
	x.core = deposits.New(bounds, deposits.PeerID(x.Self.String()), depositRoom{q},
		func(h deposits.Hash) int64 { return x.lib.Size(library.Hash(h)) }, x.recall())
	return nil
}

// recall reads what was written down. Bytes of which nothing is, or which were cut off, are removed; those of which it
// cannot be read, as what a later version has written, stay.
func (x *Depot) recall() (list []deposits.Item) {
	sizes := map[library.Hash]int64{}
	for _, f := range x.files.Files() {
		i, err := x.item(f.Name)
		if err != nil || hex.EncodeToString(i.Hash[:]) != f.Name {
			x.Log.Warn("what was written down of a deposit is not understood", "file", f.Name, "error", err)
			if h, ok := wire.ParseHash(f.Name); ok {
				sizes[h] = x.lib.Size(h)
			}
			continue
		}
		sizes[library.Hash(i.Hash)] = i.Size
		list = append(list, deposits.Item{Deposit: deposits.Deposit{Hash: i.Hash, Size: i.Size,
			Until: time.Unix(i.Until, 0)}, Giver: i.Giver})
	}
	for _, f := range x.lib.Files() {
		if sizes[f.Hash] != f.Size {
			x.lib.Drop(f.Hash)
		}
	}
	return list
}

// item reads what was written down of a deposit.
func (x *Depot) item(name string) (i depotItem, err error) {
	parts, err := x.files.Read(name, 1)
	if err == nil {
		err = wire.Control().Decode(parts[0], &i)
	}
	return i, err
}

// Received takes in what another member's library says.
func (x *Depot) Received(m *sharedobj.Message) { x.lib.Received(m) }

// NotSent takes in that what the library said did not get to a member.
func (x *Depot) NotSent(m *sharedobj.Message) { x.lib.NotSent(m) }

// Close ends the fetching of deposits. One that was not opened, and nil, may be closed.
func (x *Depot) Close() {
	if x != nil && x.lib != nil {
		x.lib.Close()
	}
}

// SetMembers says who keeps deposits.
func (x *Depot) SetMembers() {
	names := []deposits.PeerID{}
	list := []sharedobj.Member{{ID: library.PeerID(x.Self.String()),
		Cluster: sharedobj.ClusterID(x.Places.Mine().Name)}}
	for _, c := range x.Members.List() {
		if slices.Contains(c.Card.Apps, KeepsDeposits) {
			names = append(names, deposits.PeerID(c.Peer.String()))
			list = append(list, sharedobj.Member{ID: library.PeerID(c.Peer.String()),
				Cluster: sharedobj.ClusterID(x.Places.Of(c.Peer).Name)})
		}
	}
	x.lib.SetMembers(list)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.core.SetMembers(names)
}

// Serve answers who wants something kept.
func (x *Depot) Serve() {
	x.Board.Answer(depositProtocol, maxDepositQuestion, depositTime, func(from peer.ID, b []byte) (any, error) {
		var q depositQuestion
		if err := wire.Control().Decode(b, &q); err != nil {
			return nil, err
		}
		r, err := x.asked(from, q.Made)
		return &depositReply{r}, err
	})
}

// asked takes in a question. Who pays is the deposit's maker, wherever it is handed on, if it can be seen to be a
// member; else who asks, so that nobody has those pay whom it has made up.
func (x *Depot) asked(from peer.ID, made []byte) (deposits.Reply, error) {
	s, err := statement.OpenDeposited(made)
	if err == nil && s.Swarm != x.Host.SwarmName() {
		err = fmt.Errorf("a deposit of the swarm %q", plain.Clip(s.Swarm))
	}
	if err != nil {
		return deposits.Refused, err
	}
	giver := from
	if _, err := x.Host.Vouch(s.Author, s.Proof); err == nil {
		giver = s.Author
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	r, why, orders := x.core.Asked(x.Now(), deposits.PeerID(from.String()), deposits.PeerID(giver.String()),
		deposits.Deposit{Hash: s.Hash, Size: s.Size, Until: time.Unix(s.Until, 0)})
	if why != "" {
		x.Log.Debug("a deposit is refused", "from", from, "bytes", s.Size, "why", why)
	}
	x.carryOut(orders, made)
	return r, nil
}

// KeepUp lets time pass.
func (x *Depot) KeepUp(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.carryOut(x.core.Tick(now), nil)
}

// carryOut does what the core orders, in its order: the mutex is held. Made is what the maker of a deposit that is to
// be written down has signed; nil for this machine's user's.
func (x *Depot) carryOut(o deposits.Orders, made []byte) {
	for _, i := range o.Save {
		b, err := wire.Control().Encode(&depotItem{i.Hash, i.Size, i.Until.Unix(), i.Giver, made})
		if err == nil {
			err = x.files.Write(hex.EncodeToString(i.Hash[:]), b)
		}
		if err != nil {
			x.Log.Warn("a deposit cannot be written down, and is lost with this process", "error", err)
		}
	}
	for _, i := range o.Want {
		holders := []library.PeerID{}
		if i.From != "" {
			holders = append(holders, library.PeerID(i.From))
		}
		x.lib.Want(library.Hash(i.Hash), port.Deposit, library.PeerID(i.Giver), append(holders, x.likely(i.Hash)...)...)
	}
	for _, h := range o.Drop {
		if err := x.files.Remove(hex.EncodeToString(h[:])); err != nil {
			x.Log.Warn("a deposit that is over cannot be removed", "error", err)
		}
		x.lib.Drop(library.Hash(h))
	}
	for _, q := range o.Ask {
		x.Spawn(func(ctx context.Context) { x.ask(ctx, &q) })
	}
}

// ask asks a member. The core hears of the end in any case.
func (x *Depot) ask(ctx context.Context, q *deposits.Question) {
	r := deposits.Silent
	if made, err := x.made(&q.Deposit); err == nil {
		r = x.says(ctx, string(q.To), made)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.carryOut(x.core.Answered(x.Now(), q.To, q.Hash, r), nil)
}

// says asks a member whether it keeps a deposit of which its maker has signed that much.
func (x *Depot) says(ctx context.Context, to string, made []byte) deposits.Reply {
	var a depositReply
	id, err := peer.Decode(to)
	if err == nil {
		err = x.Board.Ask(ctx, id, depositProtocol, &depositQuestion{made}, &a, 1<<10, depositTime)
	}
	if err != nil || a.Reply > deposits.Kept {
		x.Log.Debug("a member cannot be asked to keep a deposit", "peer", to, "error", err)
		return deposits.Silent
	}
	return a.Reply
}

// made is the statement of a deposit's maker. This machine's user's is signed when it is wanted, as membership is
// renewed; so is what a job has left here, and what was written down before makers signed.
func (x *Depot) made(d *deposits.Deposit) ([]byte, error) {
	if i, err := x.item(hex.EncodeToString(d.Hash[:])); err == nil && len(i.Made) > 0 {
		return i.Made, nil
	}
	return x.sign(d)
}

// sign is this peer's own statement.
func (x *Depot) sign(d *deposits.Deposit) ([]byte, error) {
	s, err := (&statement.Deposited{Swarm: x.Host.SwarmName(), Hash: d.Hash, Size: d.Size, Until: d.Until.Unix(),
		Proof: x.Host.Proof()}).Sign(x.Key)
	if err != nil {
		return nil, err
	}
	return s.Bytes, nil
}

// likely names who probably has a deposit; the mutex is held.
func (x *Depot) likely(h deposits.Hash) (list []library.PeerID) {
	for _, id := range x.core.Likely(h) {
		list = append(list, library.PeerID(id))
	}
	return list
}

// Deposit takes in what the user wants kept, or says how many others have it: then there are no bytes.
func (x *Depot) Deposit(d control.Deposit) (control.DepositInfo, error) {
	h, named := wire.ParseHash(d.Hash)
	switch {
	case len(d.Bytes) > control.MaxDeposit:
		return control.DepositInfo{}, control.Errorf(control.ErrRefused, "a deposit has %d bytes at most, not %d",
			control.MaxDeposit, len(d.Bytes))
	case len(d.Bytes) > 0:
		if h = x.lib.Add(bytes.Clone(d.Bytes)); x.lib.Size(h) == 0 {
			return control.DepositInfo{}, control.Errorf(control.ErrUnavailable,
				"the disk does not take the deposit: the daemon's log says why")
		}
	case !named:
		return control.DepositInfo{}, control.Errorf(control.ErrBadInput,
			"a deposit is bytes, or named by 64 hexadecimal digits")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(d.Bytes) > 0 {
		orders, ok := x.core.Deposit(x.Now(), deposits.Hash(h), int64(len(d.Bytes)))
		if !ok {
			x.tidy(h)
			return control.DepositInfo{}, control.Errorf(control.ErrRefused,
				"this peer has too many deposits already: they end %v after they were handed in last",
				deposits.DefaultConfig().Life)
		}
		x.carryOut(orders, nil)
	}
	n, ok := x.core.Copies(deposits.Hash(h))
	if !ok {
		return control.DepositInfo{}, control.Errorf(control.ErrNotFound, "%s is no deposit of this peer's",
			plain.Clip(d.Hash))
	}
	return control.DepositInfo{Hash: hex.EncodeToString(h[:]), Copies: n}, nil
}

// tidy removes bytes that are no deposit here; the mutex is held.
func (x *Depot) tidy(h library.Hash) {
	if _, ok := x.core.Copies(deposits.Hash(h)); !ok {
		x.lib.Drop(h)
	}
}

// Get gives the bytes of a deposit, whoever has it.
func (x *Depot) Get(ctx context.Context, name string) (control.Deposit, error) {
	h, ok := wire.ParseHash(name)
	if !ok {
		return control.Deposit{}, control.Errorf(control.ErrBadInput,
			"a deposit is named by 64 hexadecimal digits, not %q", plain.Clip(name))
	}
	x.mu.Lock()
	holders := x.likely(deposits.Hash(h))
	x.mu.Unlock()
	got := x.lib.Fetch(ctx, h, holders...)
	x.mu.Lock()
	x.tidy(h)
	x.mu.Unlock()
	if got != nil {
		return control.Deposit{Hash: name, Bytes: got}, nil
	}
	return control.Deposit{}, control.Errorf(control.ErrUnavailable,
		"deposit %s cannot be had at the moment: no member that has it answers", plain.Clip(name))
}

// A depositRoom is the part of run_disk that deposits take: each giver's are counted like a run, and all of them like
// the runs of one owner.
type depositRoom struct{ of *quota.Quota }

func accountOf(giver deposits.PeerID) job.RunID { return runCalled("deposits of " + string(giver)) }

// Take implements deposits.Room.
func (r depositRoom) Take(giver deposits.PeerID, n int64) string {
	return r.of.Lend(accountOf(giver), n)
}

// Back implements deposits.Room.
func (r depositRoom) Back(giver deposits.PeerID, n int64) { r.of.Back(accountOf(giver), n) }
