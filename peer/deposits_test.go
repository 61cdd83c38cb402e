package peer_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/deposits"
)

// What a member wants kept is at another when it has gone, and comes from there to one that has never met it.
func TestDepositsOutliveTheirMaker(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	soon := func(c *peer.Config) {
		c.Deposits = deposits.DefaultConfig()
		c.Deposits.Soon = 20 * time.Millisecond
	}
	a, b := open(t, soon), open(t, soon)
	if _, err := b.Join(ctx, address(t, a)); err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("piece "), 50_000)
	info, err := a.Deposit(ctx, control.Deposit{Bytes: want})
	for ; err == nil && info.Copies == 0; info, err = a.Deposit(ctx, control.Deposit{Hash: info.Hash}) {
		select {
		case <-ctx.Done():
			t.Fatal("nobody keeps it")
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	c := open(t)
	if _, err := c.Join(ctx, address(t, b)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Deposited(ctx, info.Hash)
	if err != nil || !bytes.Equal(got.Bytes, want) {
		t.Errorf("%d bytes, %v", len(got.Bytes), err)
	}
	for _, bad := range []string{"", "xyz", info.Hash[:10]} {
		if _, err := c.Deposit(ctx, control.Deposit{Hash: bad}); !errors.Is(err, control.ErrBadInput) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := c.Deposit(ctx, control.Deposit{Bytes: make([]byte, control.MaxDeposit+1)}); !errors.Is(err,
		control.ErrRefused) {
		t.Errorf("one that is too large: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	none := "00" + info.Hash[2:]
	if _, err := c.Deposited(over, none); !errors.Is(err, control.ErrUnavailable) {
		t.Errorf("one that nobody has: %v", err)
	}
}
