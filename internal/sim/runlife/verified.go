package runlife

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// In some schedules most runs are verified: their owner alone has the root, and compares what others compute, where
// jobs are moved by package steal. Members are in three hands, and all that are in one of them lie: about what they
// compute, about answers, about who leads, and about jobs that kill.

// hands is how many there are.
const hands = 3

// strict says whether nobody but its owner can have come to an answer of a run.
func (p *project) strict() bool { return p.manifest.Verify != "" }

// A party are the members that lie, in one of the hands; nil: there is none, and no run is verified.
type party struct {
	w      *world
	hand   int
	random *rand.Rand
}

// prove draws whether a run is verified.
func (y *party) prove(p *project) {
	if y == nil || y.random.IntN(5) == 0 {
		return
	}
	p.manifest.Verify, p.manifest.Deputies, p.impure = "quorum=2", nil, false
	if y.random.IntN(2) == 0 {
		p.work += time.Duration(y.random.Int64N(int64(300 * time.Second)))
	}
	if y.random.IntN(3) == 0 { // no honest owner says both
		p.manifest.Adapt = "volunteers"
	}
}

// has says whether a member lies.
func (y *party) has(m *member) bool { return y != nil && m.i%hands == y.hand }

// Hand is who has brought a member in.
func (m *member) Hand(id runs.PeerID) string {
	o := m.w.member(id)
	if m.w.party == nil || o == nil {
		return string(id)
	}
	return fmt.Sprint("hand ", o.i%hands)
}

// scheme draws when they say something.
func (y *party) scheme() {
	if y != nil {
		y.w.after(time.Duration(y.random.Int64N(int64(troubled))), y.deceive)
	}
}

// deceive has all liars say the same that is not true.
func (y *party) deceive() {
	if len(y.w.runs) == 0 {
		return
	}
	p, what := y.w.runs[y.random.IntN(len(y.w.runs))], y.random.IntN(3)
	for _, m := range y.w.members {
		if y.has(m) && m.core != nil && m != p.owner && !slices.Contains(p.manifest.Deputies, m.id) {
			y.lie(m, p, what) // a deputy was trusted
		}
	}
}

func (y *party) lie(m *member, p *project, what int) {
	w := y.w
	out := outcomeOf(fmt.Appendf(nil, "lie %d", y.random.IntN(3)))
	c := &runs.Claim{Run: p.id, Author: m.id, Hash: out.Hash, At: m.clock().Unix(), Until: p.manifest.Expires,
		Sealed: []byte("lie")}
	if !p.strict() && what != 2 {
		return // lies about answers are the other schedules'
	}
	w.say("%s lies about run %d: %d", m.id, p.n, what)
	for _, o := range w.members {
		if o == m {
			continue
		}
		switch what {
		case 0: // it has the root, and an answer
			w.send(m, o, func() {
				o.input(o.core.Led(o.clock(), p.id, m.id))
				o.input(o.core.Claimed(o.clock(), c, m.id))
			})
		case 1: // and wants it kept for the owner
			m.keepAt(runs.KeepAt{Run: p.id, Peer: o.id, Answer: &runs.Answer{Claim: c, Outcome: out}})
		default: // a job has killed it; so say others in one hand, and one alone where nobody is verified
			if !p.strict() && m.i != y.hand {
				continue
			}
			w.send(m, o, func() {
				o.input(o.core.Deaths.DeathTold(o.clock(), p.id, m.id, []runs.Suspect{{Path: job.Path{3}}}, "lie"))
			})
		}
	}
}

// convincing says whether so many victims of a job of a run are believed by its owner.
func (p *project) convincing(victims []*member) bool {
	if len(victims) < 2 {
		return false
	}
	in := map[string]bool{}
	for _, m := range victims {
		in[m.Hand(m.id)] = true
	}
	return !p.strict() || slices.Contains(victims, p.owner) || len(in) >= 2
}

// wrote looks at a file of a run that is verified, which was just written.
func (p *project) wrote(m *member, name fileName, content any) {
	a, ok := content.(*runs.Answer)
	if !ok || !p.strict() {
		return
	}
	if m != p.owner || name.kind != runs.AnswerFile || a.Claim != nil {
		m.w.fail("%s writes an answer of run %d that its owner has not come to", m.id, p.n)
	}
}

// helped looks, some time after the last fault, whether all members that could take part in a run do.
func helped(w *world) {
	for _, p := range w.runs {
		i, there := p.owner.core.Run(p.id)
		if !there || i.State != runs.StateRunning || p.said != nil || p.outdated() {
			continue
		}
		for _, m := range w.members {
			switch {
			case m.tolls[p.id].Quarantined() || p.gone():
			case m.session(p) == nil:
				j, known := m.core.Run(p.id)
				if j.Answered != nil && !p.strict() {
					continue // a deputy says so, and may lie
				}
				w.fail("%s takes no part in run %d, which goes on: known %t, %q, %s", m.id, p.n, known, j.State, j.Why)
			default:
				w.counts.Helped++
			}
		}
	}
}

// plan is what a part's core is to know of a run that is verified, and how its driver compares, at its owner.
func (x *part) plan(run *steal.Run) *driver.Proving {
	switch {
	case !x.p.strict():
		return nil
	case x.m != x.p.owner:
		run.Hoard, run.Recovery, run.Root = true, steal.Naive, steal.Job{}
		return nil
	}
	run.Proving = true
	return &driver.Proving{Config: verify.Config{Quorum: 2, Own: true, Wait: 20 * time.Second, MaxOpen: 64},
		View: bench{x}, Rand: bench{x},
		Judged:   func(string) bool { return false },
		Alike:    func(string, []byte) bool { return true },
		Doubtful: func(string) bool { return false },
		Author:   func(voucher []byte) verify.PeerID { return verify.PeerID(voucher) },
		Caught: func(c driver.Caught) {
			x.m.w.counts.Caught++
			if m := x.m.w.member(runs.PeerID(c.Peer)); !x.m.w.party.has(m) {
				x.m.w.fail("%s is caught, and honest", c.Peer)
			}
		},
		Passed: func([]verify.PeerID) {}, Missing: func(int) {},
		Agreed: func(_ verify.Node, _ *steal.Job, _ []byte, by [][]byte) {
			if len(by) > 0 {
				x.m.w.counts.Compared++
			}
		},
	}
}

// bench is an owner's view of the others.
type bench struct{ *part }

func (b bench) Candidates() (list []verify.Candidate) {
	for _, id := range b.alive {
		if v := verify.PeerID(id); runs.PeerID(id) != b.m.id {
			list = append(list, verify.Candidate{ID: v, Introducer: b.Introducer(v)})
		}
	}
	return list
}

func (b bench) Introducer(id verify.PeerID) verify.PeerID {
	return verify.PeerID(b.m.Hand(runs.PeerID(id)))
}
func (b bench) Trusted(verify.PeerID) bool  { return false }
func (b bench) Passed(verify.PeerID) uint64 { return 0 }
func (b bench) Below(n uint64) uint64       { return b.m.w.party.random.Uint64N(n) }

// notary is a driver's, if its run is verified: a voucher is its author's name.
type notary struct{ *part }

func (x *part) notary() driver.Notary {
	if !x.p.strict() {
		return nil
	}
	return notary{x}
}

func (x notary) Vouch(job.RunID, *verify.Opening) []byte { return []byte(x.m.id) }
func (x notary) Digest(outcome []byte) verify.Hash       { return sha256.Sum256(outcome) }
func (x notary) Out(*verify.Authors) bool                { return false }
func (x notary) Claim(n verify.Node, outcome verify.Hash, _ []byte) (verify.Claim, verify.Authors) {
	return (&verify.Opening{Node: n, Outcome: outcome}).Claim(), verify.Authors{}
}

// spoil is what a liar sends in the place of a result.
func (x *part) spoil(m *steal.Message) *steal.Message {
	if !x.p.strict() || m.Result == nil || !x.m.w.party.has(x.m) || len(m.Result.Outcome) == 0 || x.m == x.p.owner {
		return m
	}
	r, lie := *m.Result, *m
	r.Outcome = []byte("lie")
	lie.Result = &r
	return &lie
}

// prevents says why a member does not begin a part in a run; "" if it does.
func (m *member) prevents(p *project) string {
	if t := m.tolls[p.id]; t.Quarantined() {
		return t.Text(p.id)
	}
	return m.library.unfit(p)
}
