package peer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// A run that is verified is computed by its owner and those who steal from it, and by nobody else: they give nothing
// on, so that two of them never have an outcome from the same third. What they bring is compared before it is used
// (package verify, driver.Proving).

// quorumMode begins the one way to verify besides believing every member.
const quorumMode = "quorum="

// maxQuorum is as many as anybody may want.
const maxQuorum = 5

// proofPatience is how long somebody is waited for who was asked for a copy.
const proofPatience = time.Minute

// quorumOf reads how a run is verified: how many must come to the same; 1 is whoever brings it.
func quorumOf(mode string) (int, error) {
	if mode == "" {
		return 1, nil
	}
	text, is := strings.CutPrefix(mode, quorumMode)
	if n, err := strconv.Atoi(text); is && err == nil && n >= 2 && n <= maxQuorum {
		return n, nil
	}
	return 0, fmt.Errorf("verification %q is not known here: want members, or %sK with K from 2 to %d", clip(mode),
		quorumMode, maxQuorum)
}

// comparable says why outcomes of a run cannot be compared; "" if they can. It notes how this machine rounds where that
// matters.
func comparable(m *statement.Manifest) string {
	if m.Verify == "" {
		return ""
	}
	c, err := compute.Comparing(m.Entry, m.Arg)
	switch {
	case err != nil:
		return plain.Name(clip(oneLine(err)))
	case c.Not != "":
		return fmt.Sprintf("--verify %s compares results, and those of equal jobs of %s may honestly differ: %s",
			m.Verify, m.App, plain.Name(c.Not))
	case c.Rounded:
		m.Rounding = compute.Rounding()
	}
	return ""
}

// A jury is who can be asked for copies, and where liars are put out.
type jury struct {
	*base
	self     peer.ID
	host     interface{ Branch(peer.ID) string }
	swarm    *swarm
	evidence *cabinet
	vouch    *vouching
	banish   func(id string) error
	voice    *voice
	court    court
}

// panel is a jury for one run: see verify.View.
type panel struct {
	*jury
	of *runs.Manifest
}

// Candidates lists who can compute a copy.
func (p panel) Candidates() (list []verify.Candidate) {
	for _, c := range p.swarm.participants(p.of, true) {
		id := verify.PeerID(c.Peer.String())
		list = append(list, verify.Candidate{ID: id, Introducer: p.Introducer(id)})
	}
	return list
}

// Introducer is whom the swarm's founder has let in: that member, or the one by which it is a member at whatever
// remove. Who may invite can make as many members as it likes, so they count as one.
func (p panel) Introducer(id verify.PeerID) verify.PeerID {
	if other, err := peer.Decode(string(id)); err == nil {
		return verify.PeerID(p.host.Branch(other))
	}
	return ""
}

// Below draws a number that nobody can foresee.
func (p panel) Below(n uint64) uint64 { return rand.Uint64N(n) }

// proving has the outcomes of a run of this peer's compared; nil if they are not.
func (j *jury) proving(m *runs.Manifest) *driver.Proving {
	k, err := quorumOf(m.Verify)
	if err != nil || k < 2 || m.Owner != peerName(j.self) {
		return nil
	}
	view := panel{j, m}
	return &driver.Proving{
		Config: verify.Config{Quorum: k, Own: true, Wait: proofPatience, MaxOpen: steal.LAN().MaxLeases},
		Judged: compute.Judged, Alike: func(fn string) bool { return compute.Alike(fn, m.Rounding) },
		View: view, Rand: view, Self: verify.PeerID(j.self.String()),
		Author: func(voucher []byte) verify.PeerID {
			if id := authorOf(voucher); id != "" {
				return verify.PeerID(id.String())
			}
			return ""
		},
		Caught:  func(c driver.Caught) { j.spawn(func(context.Context) { j.caught(m.Run, &c) }) },
		Missing: func(int) {}, // this machine is the further copy
	}
}

// maxLies bounds the lies that are kept.
const maxLies = 256

// caught keeps the proof, puts out who has lied, and tells the others, who can see for themselves.
func (j *jury) caught(run job.RunID, c *driver.Caught) {
	name := string(c.Peer)
	b, err := j.accuse(run, c)
	if err == nil {
		err = j.evidence.write(name, b)
		j.tell(b)
	}
	if err != nil {
		j.log.Error("the proof of a lie cannot be kept", "peer", name, "error", err)
	}
	j.log.Warn("a peer has lied, and is put out", "peer", name, "run", run, "job", c.Job.Path.String(),
		"proof", j.evidence.path(name))
	if err := j.banish(name); err != nil {
		j.log.Error("who has lied cannot be put out", "peer", name, "error", err)
	}
}

// trust says what an answer rests on.
func trust(m *runs.Manifest, p *driver.Proofs) *report.Trust {
	t := &report.Trust{Mode: "members", Bound: "every member of the swarm is believed"}
	if k, err := quorumOf(m.Verify); err == nil && k > 1 {
		t.Mode = m.Verify
		t.Bound = fmt.Sprintf("wrong only if %d members whom the founder has let in, or others whom these have, lie alike "+
			"about the same job", k)
	}
	if p != nil {
		t.Proved, t.Copies, t.Here, t.Disputes = p.Proved, p.Copies, p.Here, p.Settled
		for _, id := range p.Caught {
			t.Caught = append(t.Caught, string(id))
		}
	}
	return t
}

// parseVerify reads what a user has asked for.
func parseVerify(mode string) (string, error) {
	if mode == "members" {
		mode = ""
	}
	if _, err := quorumOf(mode); err != nil {
		return "", control.Errorf(control.ErrBadInput, "%v", err)
	}
	return mode, nil
}
