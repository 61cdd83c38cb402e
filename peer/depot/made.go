package depot

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/deposits"
	"github.com/satin-peer/satin/sharedobj"
)

// What jobs leave to outlive their run is a deposit of the peer that ran them, which is the only one that knows of it:
//
//  1. The job leaves bytes; this peer keeps them (left), within what the run's owner may have of its disk, and asks
//     others to keep copies, as for any deposit. There they are on this peer's account.
//  2. The job's result, which names them by their hash, goes home.
//  3. The owner has its daemon ask those who should have copies (claim). They say whether they do; from a month before
//     the deposit's end on, they keep it on the owner's account for longer.
//  4. A job of another run reads them (bring), from whoever has them.
//
// A result may name what nobody has, as its maker lied, had no room or is gone: then nobody says that he has it, and
// nothing is brought. What comes has the hash that was named.

// maxArriving is how many are taken in from jobs at a time: more are not kept.
const maxArriving = 16

// bringTime is how long a job waits for what it reads.
const bringTime = 2 * time.Minute

// Left takes in what a job has left. It does not block.
func (x *Depot) Left(owner peer.ID, b []byte) {
	if x.arriving.Add(1) > maxArriving || len(b) == 0 || len(b) > control.MaxDeposit {
		x.arriving.Add(-1)
		x.Log.Warn("what a job leaves is not kept: it is too much", "owner", owner, "bytes", len(b))
		return
	}
	x.Spawn(func(context.Context) {
		defer x.arriving.Add(-1)
		h := x.lib.Add(b) // which hashes and writes it
		x.mu.Lock()
		defer x.mu.Unlock()
		why, orders := "this peer's user has too many deposits already", deposits.Orders{}
		until := x.Now().Add(deposits.DefaultConfig().Life)
		d := deposits.Deposit{Hash: deposits.Hash(h), Size: int64(len(b)), Until: until}
		if owner != x.Self {
			_, why, orders = x.core.Asked(x.Now(), "", deposits.PeerID(owner.String()), d)
		} else if o, ok := x.core.Deposit(x.Now(), d.Hash, d.Size); ok {
			why, orders = "", o
		}
		if why != "" {
			x.Log.Warn("what a job leaves is not kept", "owner", owner, "bytes", len(b), "why", why)
			x.tidy(h)
		}
		x.carryOut(orders, nil)
	})
}

// Bring gets what a job reads: done hears of the end, of nil if it cannot be had. It does not block.
func (x *Depot) Bring(d sharedobj.Digest, done func(b []byte)) {
	x.Spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, bringTime)
		defer cancel()
		got, err := x.Get(ctx, hex.EncodeToString(d[:]))
		if err != nil {
			x.Log.Debug("what a job reads cannot be had", "deposit", d, "error", err)
		}
		done(got.Bytes)
	})
}

// Claim asks those who are to have what a job of this user's has left whether they do, one after the other until there
// are enough, and has them keep it as this user's. What is here is this user's from then on.
func (x *Depot) Claim(ctx context.Context, c control.Deposit) (info control.DepositInfo, err error) {
	h, named := wire.ParseHash(c.Hash)
	if !named || c.Size > control.MaxDeposit {
		return info, control.Errorf(control.ErrBadInput,
			"a deposit is named by 64 hexadecimal digits, and has %d bytes at most", control.MaxDeposit)
	}
	info.Hash = c.Hash
	x.mu.Lock()
	d := deposits.Deposit{Hash: h, Size: c.Size, Until: x.Now().Add(deposits.DefaultConfig().Life)}
	if x.lib.Size(h) == c.Size {
		if orders, ok := x.core.Deposit(x.Now(), h, c.Size); ok {
			info.Here = true
			x.carryOut(orders, nil)
		}
	}
	holders := x.likely(d.Hash)
	x.mu.Unlock()
	made, err := x.sign(&d)
	if err != nil {
		return info, control.Errorf(control.ErrUnavailable, "%s", err)
	}
	for wanted := deposits.DefaultConfig().Copies; wanted > 0 && len(holders) > 0; holders = holders[1:] {
		switch x.says(ctx, string(holders[0]), made) {
		case deposits.Kept:
			info.Copies++
			wanted--
		case deposits.Coming:
			wanted--
		}
	}
	return info, ctx.Err()
}
