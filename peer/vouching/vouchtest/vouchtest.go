// Package vouchtest makes borders, and outcomes that have one behind them, for tests.
package vouchtest

import (
	"crypto/rand"
	"log/slog"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// New is the border of a new peer, which knows some members and has put out others.
func New(t *testing.T, members, out map[peer.ID]bool) *vouching.Border {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &vouching.Border{Log: slog.New(slog.DiscardHandler), Key: key, Self: self,
		Member:  func(id peer.ID) bool { return members[id] },
		Outcast: func(id peer.ID) bool { return out[id] }}
}

// Computes makes an outcome of a peer's, of others.
func Computes(v *vouching.Border, run job.RunID, path job.Path, of ...steal.Partial) steal.Partial {
	p := steal.Partial{Path: path, Identity: job.Identity{1}, Outcome: []byte("out")}
	o := &verify.Opening{Node: driver.NodeOf(path, p.Identity), Outcome: v.Digest(p.Outcome)}
	for i := range of {
		_, authors := v.Claim(verify.Node{}, verify.Hash{}, of[i].Voucher)
		o.Of.Join(&authors)
	}
	p.Voucher = v.Vouch(run, o)
	return p
}

// Signed makes one that has left it.
func Signed(v *vouching.Border, run job.RunID, path job.Path, of ...steal.Partial) steal.Partial {
	p := Computes(v, run, path, of...)
	v.Sign(run, &p)
	return p
}
