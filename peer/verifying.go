package peer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/alarm"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// A run that is verified is computed by its owner and those who steal from it, and by nobody else: they give
// nothing on, so that two of them never have an outcome from the same third. What they bring is compared before it
// is used (package verify, driver.Proving).

// The ways to verify besides believing every member begin so.
const (
	quorumMode = "quorum="
	doubtMode  = "doubt="
	spotMode   = "spot="
)

const (
	// maxQuorum is as many as anybody may want.
	maxQuorum = 5
	// leastSpot is as few nodes as anybody may want to have challenged.
	leastSpot = 1e-4
	// leastDoubt and mostDoubt bound the probability that one may want.
	leastDoubt, mostDoubt = 1e-9, 0.1
	// assumedLiars is the share of strangers that lie at most, as is assumed where records count.
	assumedLiars = 0.2
	// checkedAgain is the share of results that are compared although one record is enough.
	checkedAgain = 0.2
	// proofPatience is how long somebody is waited for who was asked for a copy.
	proofPatience = time.Minute
)

// othersOnly after a way to verify has the owner's machine make no copies: jobs wait until others can.
const othersOnly = ",others"

// modeOf reads how a run is verified; a quorum of 1, and no doubt, is whoever brings it.
func modeOf(asked string) (c verify.Config, err error) {
	mode, alone := strings.CutSuffix(asked, othersOnly)
	c = verify.Config{Quorum: 1, Own: !alone, Wait: proofPatience, MaxOpen: steal.LAN().MaxLeases}
	if asked == "" {
		return c, nil
	}
	if text, is := strings.CutPrefix(mode, quorumMode); is {
		if n, err := strconv.Atoi(text); err == nil && n >= 2 && n <= maxQuorum {
			c.Quorum = n
			return c, nil
		}
	}
	if text, is := strings.CutPrefix(mode, doubtMode); is {
		if x, err := strconv.ParseFloat(text, 64); err == nil && x >= leastDoubt && x <= mostDoubt {
			c.Doubt, c.Liars, c.Again = x, assumedLiars, checkedAgain
			return c, nil
		}
	}
	if text, is := strings.CutPrefix(mode, spotMode); is && !alone {
		if x, err := strconv.ParseFloat(text, 64); err == nil && x >= leastSpot && x <= 1 {
			c.Spot = x
			return c, nil
		}
	}
	return c, fmt.Errorf("verification %q is not known here: want members, %sR with a share R of the nodes from %g to 1, "+
		"%sK with K from 2 to %d, or %sP with a probability P from %g to %g; %s after the last two has others make all copies",
		plain.Clip(asked), spotMode, leastSpot, quorumMode, maxQuorum, doubtMode, leastDoubt, mostDoubt, othersOnly)
}

// comparable says why outcomes of a run cannot be compared; "" if they can. It notes how this machine rounds where
// that matters.
func comparable(m *statement.Manifest) string {
	if m.Verify == "" {
		return ""
	}
	c, err := compute.Comparing(m.Entry, m.Arg)
	switch {
	case m.Eager > 0:
		return "--eager cannot go with --verify " + m.Verify + ", which says what is computed more than once"
	case err != nil:
		return plain.Name(plain.Clip(plain.OneLine(err)))
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
	*base.Base
	board    *switchboard.Board
	self     peer.ID
	host     interface{ Branch(peer.ID) string }
	swarm    *swarm
	cores    int // of this machine, for jobs
	trusted  map[verify.PeerID]bool
	records  *records
	receipts *receipts
	evidence *cabinet.Cabinet
	vouch    *vouching.Border
	banish   func(id string) error
	expel    func(steal.PeerID) bool   // visitors.expel
	guest    func(steal.PeerID) *guest // visitors.guest
	issuer   func(steal.PeerID) peer.ID
	voice    *voice
	warn     func(*meeting) // meetings.warn
	court    court
	turn     atomic.Int64 // of the proofs that are told
	trials   trials
	live     func(run job.RunID) *session.Session // nil if it is over
}

// open opens what lasts of a jury.
func (j *jury) open(cfg *Config) (err error) {
	dir := cfg.Host.StateDir
	if j.evidence, err = base.OpenCabinet(j.Base, filepath.Join(dir, "lies"), ".lie", maxLies); err != nil {
		return err
	}
	j.records = &records{Base: j.Base, all: verify.Records{Hand: j.hand}}
	if j.records.file, err = base.OpenCabinet(j.Base, filepath.Join(dir, "records"), ".list", 1); err != nil {
		return err
	}
	j.records.recall()
	j.receipts = &receipts{Base: j.Base, board: j.board, vouch: j.vouch, cores: max(j.cores, runtime.NumCPU())}
	if err = j.receipts.open(dir); err != nil {
		return err
	}
	j.trusted = map[verify.PeerID]bool{}
	for _, name := range cfg.Trusted {
		if _, err := peer.Decode(name); err != nil {
			return fmt.Errorf("setting trusted: %q is no peer ID: want those that satin-peer status prints", plain.Clip(name))
		}
		j.trusted[verify.PeerID(name)] = true
	}
	return nil
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
// remove. Whoever may invite can make as many members as it likes, so they count as one. Whoever is no member at all is
// a browser's tab, and let in by whoever has signed its ticket: that is this peer, if nobody else is known.
func (j *jury) Introducer(id verify.PeerID) verify.PeerID {
	if hand := j.hand(id); hand != "" {
		return hand
	}
	self := verify.PeerID(j.self.String())
	return cmp.Or(j.hand(verify.PeerID(j.issuer(steal.PeerID(id)).String())), j.hand(self), self)
}

// hand is the same where it is known, and else "": what one does of whom it is not known is not the others' fault.
func (j *jury) hand(id verify.PeerID) verify.PeerID {
	if other, err := peer.Decode(string(id)); err == nil {
		return verify.PeerID(j.host.Branch(other))
	}
	return ""
}

// Trusted says whether the user has vouched for a peer.
func (p panel) Trusted(id verify.PeerID) bool { return p.trusted[id] }

// Passed is what is known of a peer.
func (p panel) Passed(id verify.PeerID) uint64 { return p.records.of(id) }

// Below draws a number that nobody can foresee.
func (p panel) Below(n uint64) uint64 { return rand.Uint64N(n) }

// proving has the outcomes of a run of this peer's compared; nil if they are not.
func (j *jury) proving(m *runs.Manifest) *driver.Proving {
	cfg, err := modeOf(m.Verify)
	if err != nil || m.Verify == "" || m.Owner != peerName(j.self) {
		return nil
	}
	cfg.AtOnce = j.cores
	view := panel{j, m}
	return &driver.Proving{
		Config: cfg,
		Judged: compute.Judged, Alike: func(fn string, arg []byte) bool { return compute.Alike(fn, arg, m.Rounding) },
		Doubtful: compute.Silent,
		View:     view, Rand: view,
		Author: func(voucher []byte) verify.PeerID {
			if id := vouching.AuthorOf(voucher); id != "" {
				return verify.PeerID(id.String())
			}
			return ""
		},
		Open:    func(o verify.Open) { j.ask(m.Run, o) },
		Rerun:   func(t *driver.Trial) { j.rerun(m.Run, t) },
		Passed:  j.records.pass,
		Caught:  func(c driver.Caught) { j.Spawn(func(context.Context) { j.caught(m.Run, &c) }) },
		Missing: j.missing(m.Run),
	}
}

// missing says once of a run that its jobs wait for more members; its status says for how many at any time.
func (j *jury) missing(run job.RunID) func(int) {
	var once sync.Once
	return func(n int) {
		once.Do(func() {
			j.Log.Warn("jobs wait until more members by others take part, to compare results: satin-peer runs says how many",
				"run", run, "members", n)
		})
	}
}

// lacking says what the jobs of a run wait for where this machine makes no copies; "" if none does.
func lacking(p *driver.Proofs) string {
	if p.Waiting == 0 {
		return ""
	}
	return fmt.Sprintf("jobs whose results wait to be compared: %d, until %d more members by others take part "+
		"(in an open swarm all count as one)", p.Waiting, p.Missing)
}

// maxLies bounds the lies that are kept.
const maxLies = alarm.MaxRepeats

// caught keeps the proof, puts out whoever has lied, and tells the others, who can see for themselves.
func (j *jury) caught(run job.RunID, c *driver.Caught) {
	name := string(c.Peer)
	j.records.fall(c.Peer)
	b, err := j.accuse(run, c)
	if err == nil {
		err = j.evidence.Write(name, b)
	}
	if err != nil {
		j.Log.Error("the proof of a lie cannot be kept", "peer", name, "error", err)
	}
	if j.expel(steal.PeerID(c.Peer)) { // nobody else knows it
		j.Log.Warn("a browser's tab has lied, and is put out", "tab", name, "run", run, "job", c.Job.Path.String(),
			"proof", j.evidence.Path(name))
		return
	}
	if len(b) > 0 {
		j.tell(name, b)
	}
	j.Log.Warn("a peer has lied, and is put out", "peer", name, "run", run, "job", c.Job.Path.String(),
		"proof", j.evidence.Path(name))
	if err := j.banish(name); err != nil {
		j.Log.Error("a liar cannot be put out", "peer", name, "error", err)
	}
}

// trust says what an answer rests on; by is the claim of whoever had it, if that was not the owner.
func trust(m *runs.Manifest, p *driver.Proofs, by *runs.Claim) *report.Trust {
	t := &report.Trust{Mode: "members", Bound: "every member of the swarm is believed"}
	if by != nil {
		t.Bound += "; the answer is the word of " + string(by.Author) +
			", who says that it led the run while this peer was away or computed nothing"
	}
	if p == nil {
		p = &driver.Proofs{}
	}
	c, err := modeOf(m.Verify)
	switch {
	case err != nil || m.Verify == "":
	case c.Doubt > 0:
		t.Mode, t.WrongAtMost, t.OnLiars = m.Verify, p.Doubt, p.OnLiars
		t.Bound = doubtBound(&c, p)
	case c.Spot > 0:
		t.Mode, t.Bound = m.Verify, spotBound(&c)
	default:
		t.Mode = m.Verify
		t.Bound = fmt.Sprintf("wrong only if %d members whom the founder has let in, or others whom these have, lie alike "+
			"about the same job", c.Quorum)
	}
	t.Proved, t.Copies, t.Here, t.Disputes = p.Proved, p.Copies, p.Here, p.Settled
	if p.Unlike > 0 {
		t.Bound += fmt.Sprintf("; of %d jobs that share a lattice of their own results may honestly differ: this machine's count",
			p.Unlike)
	}
	t.Nodes, t.Reran, t.RerunSeconds = p.Nodes, p.Reran, p.Took.Seconds()
	for _, id := range p.Caught {
		t.Caught = append(t.Caught, string(id))
	}
	return t
}

// spotBound is what spot checks find, and what they do not.
func spotBound(c *verify.Config) string {
	return fmt.Sprintf("%g of the nodes of each job of others were run again, drawn after it had come, one at least: that "+
		"finds those who skip work and machines that err often; one wrong node of a job, among many, it finds with probability %.2g only",
		c.Spot, 1-math.Exp(-c.Spot))
}

// doubtBound is in which case an answer may be wrong where records count. See package verify for the formulas.
func doubtBound(c *verify.Config, p *driver.Proofs) string {
	if p.Proved == 0 && p.Doubt == 0 && p.OnLiars == 0 {
		return "it rests on this machine alone, as no result of another was used"
	}
	alone := math.Ceil(c.Liars / ((1 - c.Liars) * math.E * c.Doubt))
	text := fmt.Sprintf("wrong with probability at most %.2g, and each result of another with at most %g, if at most one "+
		"stranger in %.0f lies, in a share of its results that does not change; one that begins to lie after %.0f that "+
		"were right is compared in one case of %.0f, and some %.0f of its results may be used until it is caught", p.Doubt, c.Doubt,
		1/c.Liars, alone, 1/c.Again, (1-c.Again)/c.Again)
	if p.OnLiars > 0 {
		text += fmt.Sprintf("; NOT SO HERE: %d results that were used rest on the word of those alone who were caught later: "+
			"run it again", p.OnLiars)
	}
	return text
}

// parseVerify reads what a user has asked for.
func parseVerify(mode string) (string, error) {
	if mode == "members" {
		mode = ""
	}
	if _, err := modeOf(mode); err != nil {
		return "", control.Errorf(control.ErrBadInput, "%v", err)
	}
	return mode, nil
}
