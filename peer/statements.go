package peer

import (
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// signer signs what the core says.
type signer struct {
	*base.Base
	key crypto.PrivKey
}

func (s signer) Bury(t *runs.Tombstone) []byte {
	stone := &statement.Tombstone{Run: t.Run, Reason: t.Reason, At: t.At, Until: t.Until, Seq: t.Seq,
		// A clock that was wrong while the run went on makes it decades, or less than nothing: nobody would read that.
		Took: min(max(t.Took.Milliseconds(), 0), statement.MaxTook)}
	if t.Hash != nil {
		stone.Hash = t.Hash[:]
	}
	b, err := stone.Sign(s.key)
	if err != nil {
		s.Log.Error("tombstone cannot be signed", "run", t.Run, "error", err)
	}
	return b
}

func (s signer) Claim(c *runs.Claim) []byte {
	a, err := (&statement.Answered{Run: c.Run, Hash: c.Hash, At: c.At, Until: c.Until, Of: c.Of}).Sign(s.key)
	if err != nil {
		s.Log.Error("answer cannot be signed", "run", c.Run, "error", err)
		return nil
	}
	return a.Bytes
}

// peerName is a peer's ID as packages runs and steal have it.
func peerName(id peer.ID) runs.PeerID { return runs.PeerID(id.String()) }

// manifestOf is a manifest as package runs has it.
func manifestOf(m *statement.SignedManifest) *runs.Manifest {
	r := &runs.Manifest{Run: m.Run, Owner: peerName(m.Owner), App: m.App, Version: string(m.Version[:]), Entry: m.Entry,
		Title: m.Title, Policy: m.Policy, Recovery: m.Recovery, Verify: m.Verify, Rounding: m.Rounding, Adapt: m.Adapt,
		MinPeers: m.MinPeers, MaxPeers: m.MaxPeers, MaxCores: m.MaxCores, Eager: m.Eager,
		Created: m.Created, Expires: m.Expires, Proof: m.Proof, Sealed: m.Bytes}
	for _, d := range m.Deputies {
		r.Deputies = append(r.Deputies, runs.PeerID(d))
	}
	for _, x := range m.Executables {
		r.Executables = append(r.Executables, string(x.Hash))
	}
	return r
}

func tombstoneOf(s *statement.Tombstone, author peer.ID, b []byte) *runs.Tombstone {
	t := &runs.Tombstone{Run: s.Run, Author: peerName(author), Reason: s.Reason, Seq: s.Seq, At: s.At, Until: s.Until,
		Took: time.Duration(s.Took) * time.Millisecond, Sealed: b}
	if len(s.Hash) == len(runs.Hash{}) {
		h := runs.Hash(s.Hash)
		t.Hash = &h
	}
	return t
}

func claimOf(a *statement.SignedAnswered) *runs.Claim {
	return &runs.Claim{Run: a.Run, Author: peerName(a.Author), Hash: a.Hash, At: a.At, Until: a.Until, Of: a.Of,
		Sealed: a.Bytes}
}

// outcomeOf reads what a root job came to.
func outcomeOf(m *runs.Manifest, outcome []byte) runs.Outcome {
	return runs.Outcome{Bytes: outcome, Hash: statement.HashOutcome(outcome),
		Failure: judge(m.Run, m.Entry, outcome).Failure}
}
