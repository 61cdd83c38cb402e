package peer

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// Rosters say who takes part in a run: package runs has the rules, here they are signed, told and heard.

func (s signer) Enroll(r *runs.Roster) []byte {
	x := &statement.Roster{Run: r.Run, Number: r.Number, Wanted: r.Wanted, Until: r.Until}
	for _, o := range r.Out {
		x.Out = append(x.Out, statement.Outsider{Cluster: o.Cluster, Peer: string(o.Peer), Rate: int64(o.Rate),
			Left: o.Left, Times: o.Times})
	}
	for _, e := range r.Log {
		x.Log = append(x.Log, statement.RosterEntry(e))
	}
	b, err := x.Sign(s.key)
	if err != nil {
		s.Log.Error("roster cannot be signed", "run", r.Run, "error", err)
		return nil
	}
	return b
}

func rosterOf(x *statement.Roster, author peer.ID, b []byte) *runs.Roster {
	r := &runs.Roster{Run: x.Run, Author: peerName(author), Number: x.Number, Wanted: x.Wanted, Until: x.Until,
		Sealed: b}
	for _, o := range x.Out {
		r.Out = append(r.Out, runs.Outsider{Cluster: o.Cluster, Peer: runs.PeerID(o.Peer), Rate: float64(o.Rate),
			Left: o.Left, Times: o.Times})
	}
	for _, e := range x.Log {
		r.Log = append(r.Log, runs.RosterEntry(e))
	}
	return r
}

// checkRoster accepts a roster of its author: others do not tell of it, they answer questions.
func checkRoster(author peer.ID, b []byte) error {
	_, by, err := statement.OpenRoster(b)
	if err == nil && by != author {
		return fmt.Errorf("a roster of %s from %s", by, author)
	}
	return err
}

// hearRoster takes such news in.
func (x *inquiries) hearRoster(author peer.ID, b []byte) {
	r, by, err := statement.OpenRoster(b)
	if err != nil {
		return // checked before
	}
	x.runs.input(func(c *runs.Core, now time.Time) []runs.Order {
		return c.Rostered(now, rosterOf(r, by, b), peerName(author))
	})
}

// Cluster is where a peer is.
func (s *swarm) Cluster(name runs.PeerID) string {
	id, err := peer.Decode(string(name))
	switch {
	case err != nil:
		return ""
	case id == s.self:
		return s.places.Mine().Name
	}
	return s.places.Of(id).Name
}

// rosterShown is a roster for people; nil if there is none.
func rosterShown(r *runs.Roster) *control.Roster {
	if r == nil {
		return nil
	}
	c := &control.Roster{Number: r.Number, Author: string(r.Author), Wanted: r.Wanted}
	for _, o := range r.Out {
		switch {
		case o.Left == 0:
		case o.Peer != "":
			c.Peers = append(c.Peers, string(o.Peer))
		default:
			c.Clusters = append(c.Clusters, o.Cluster)
		}
	}
	for _, e := range r.Log {
		c.Log = append(c.Log, report.RosterEntry{At: time.Unix(e.At, 0).UTC(), Kind: adapt.Word(e.Text),
			Text: e.Text})
	}
	return c
}
