package peer

import (
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// What package runs is told of the swarm, and its statements in the form in which they travel.

// view is what the core may know of the swarm.
type view struct{ p *Peer }

func (v view) Alive(id runs.PeerID) bool {
	other, err := peer.Decode(string(id))
	return err == nil && v.p.alive(other)
}

func (v view) Admitted(id runs.PeerID) bool {
	other, err := peer.Decode(string(id))
	return err == nil && (v.p.members.get(other) != nil || v.p.host.Admitted(other))
}

func (v view) Partners(m *runs.Manifest) (list []runs.PeerID) {
	for _, c := range v.p.participants(m, false) {
		list = append(list, peerName(c.Peer))
	}
	return list
}

// participants are the members that can take part in a run: those that have its application in the same version and
// are not silent. Of a module's run, all who would fetch the module are among them, unless only those are asked for
// who have it.
func (p *Peer) participants(m *runs.Manifest, ready bool) []*memberCard {
	list := p.members.list()
	fit := list[:0]
	for _, c := range list {
		if !p.places.silent(c.Peer) && p.apps.has(&c.Card, m, ready) {
			fit = append(fit, c)
		}
	}
	return fit
}

// signer signs what the core says.
type signer struct{ p *Peer }

func (s signer) Bury(t *runs.Tombstone) []byte {
	stone := &statement.Tombstone{Run: t.Run, Reason: t.Reason, At: t.At, Until: t.Until, Seq: t.Seq}
	if t.Hash != nil {
		stone.Hash = t.Hash[:]
	}
	b, err := stone.Sign(s.p.key)
	if err != nil {
		s.p.log.Error("tombstone cannot be signed", "run", t.Run, "error", err)
	}
	return b
}

func (s signer) Claim(c *runs.Claim) []byte {
	a, err := (&statement.Answered{Run: c.Run, Hash: c.Hash, At: c.At, Until: c.Until}).Sign(s.p.key)
	if err != nil {
		s.p.log.Error("answer cannot be signed", "run", c.Run, "error", err)
		return nil
	}
	return a.Bytes
}

// peerName is a peer's ID as packages runs and steal have it.
func peerName(id peer.ID) runs.PeerID { return runs.PeerID(id.String()) }

// manifestOf is a manifest as package runs has it.
func manifestOf(m *statement.SignedManifest) *runs.Manifest {
	r := &runs.Manifest{Run: m.Run, Owner: peerName(m.Owner), App: m.App, Version: string(m.Version[:]), Entry: m.Entry,
		Title: m.Title, Policy: m.Policy, Recovery: m.Recovery, MaxCores: m.MaxCores, Created: m.Created,
		Expires: m.Expires, Sealed: m.Bytes}
	for _, d := range m.Deputies {
		r.Deputies = append(r.Deputies, runs.PeerID(d))
	}
	return r
}

func tombstoneOf(s *statement.Tombstone, author peer.ID, b []byte) *runs.Tombstone {
	t := &runs.Tombstone{Run: s.Run, Author: peerName(author), Reason: s.Reason, Seq: s.Seq, At: s.At, Until: s.Until,
		Sealed: b}
	if len(s.Hash) == len(runs.Hash{}) {
		h := runs.Hash(s.Hash)
		t.Hash = &h
	}
	return t
}

func claimOf(a *statement.SignedAnswered) *runs.Claim {
	return &runs.Claim{Run: a.Run, Author: peerName(a.Author), Hash: a.Hash, At: a.At, Until: a.Until, Sealed: a.Bytes}
}

// outcomeOf reads what a root job came to.
func outcomeOf(m *runs.Manifest, outcome []byte) runs.Outcome {
	return runs.Outcome{Bytes: outcome, Hash: statement.HashOutcome(outcome),
		Failure: judge(m.Run, m.Entry, outcome).Failure}
}
