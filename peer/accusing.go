package peer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/alarm"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// An accusation shows that somebody has lied about a job of a run that is verified: what was said of it, and what its
// accuser says of it, both signed. It needs no belief: one of the two has signed what is not true, and whoever takes
// part in the run runs the job once more and sees which, so an accuser that lies is out itself. Where the application
// can tell from one word alone, there is no other one; nor where the job, run again with outcomes of its children that
// the accused has signed as well, comes to something else: nobody else says what the job comes to.
type accusation struct {
	Run      job.RunID `cbor:"1,keyasint"`
	Path     job.Path  `cbor:"2,keyasint"`
	Function string    `cbor:"3,keyasint"`
	Argument []byte    `cbor:"4,keyasint"`
	Said     testimony `cbor:"5,keyasint"`
	Truth    testimony `cbor:"6,keyasint"`
	// Children are those of the job, all that were signed; those without an outcome are run like any other job.
	Children []driver.OpenedChild `cbor:"7,keyasint,omitempty"`
	// Manifest is that of the run, for whoever does not know it, if it is not too long.
	Manifest []byte `cbor:"8,keyasint,omitempty"`
}

// testimony is what somebody has signed that came of the job. Where outcomes are judged, all of it is there.
type testimony struct {
	Digest  verify.Hash `cbor:"1,keyasint"`
	Outcome []byte      `cbor:"2,keyasint,omitempty"`
	Voucher []byte      `cbor:"3,keyasint,omitempty"`
}

// maxAccusation bounds an encoded accusation in bytes; a longer one is kept here and not told.
const maxAccusation = 48 << 10

// A charge is an accusation whose signatures hold.
type charge struct {
	accusation
	text          []byte
	accuser       peer.ID // who tells of it
	of            *runs.Manifest
	said, against peer.ID // who has signed; against is "" if one word is all
}

// openAccusation checks an accusation from anywhere: that there are two that contradict each other, or one, about the
// same job.
func openAccusation(accuser peer.ID, b []byte) (*charge, error) {
	if len(b) > maxAccusation {
		return nil, fmt.Errorf("an accusation of %d bytes, at most %d are accepted", len(b), maxAccusation)
	}
	c := &charge{text: b, accuser: accuser}
	if err := wire.Value().Decode(b, &c.accusation); err != nil {
		return nil, err
	}
	node := driver.NodeOf(c.Path, job.Identify(c.Function, c.Argument))
	author := func(w *testimony) (peer.ID, error) {
		if _, _, elsewhere := port.Referred(w.Outcome); elsewhere {
			return "", errors.New("an outcome that is not here")
		}
		if (len(w.Outcome) > 0 || compute.Judged(c.Function)) && compute.Digest(w.Outcome) != w.Digest {
			return "", errors.New("an outcome that was not signed")
		}
		v, err := statement.OpenVoucher(w.Voucher, c.Run, node, w.Digest)
		if err != nil {
			return "", err
		}
		return v.Author, nil
	}
	var err error
	if len(c.Children) > 0 {
		err = c.signedChildren(node)
	}
	if err != nil {
		return nil, err
	}
	if c.said, err = author(&c.Said); err == nil && len(c.Truth.Voucher) > 0 {
		if c.against, err = author(&c.Truth); err == nil && c.Said.Digest == c.Truth.Digest {
			err = errors.New("two that say the same")
		}
	}
	return c, err
}

// signedChildren says whether the children are those that were committed to.
func (a *accusation) signedChildren(n verify.Node) error {
	v, err := statement.ReadVoucher(a.Said.Voucher, n, a.Said.Digest)
	if err != nil {
		return err
	}
	o := &verify.Opening{Node: n, Outcome: a.Said.Digest, Time: v.Time}
	if made := (driver.Made{Children: driver.GivenOf(a.Children)}); made.Names() {
		return errors.New("an outcome of a child that is not here")
	}
	for _, g := range driver.GivenOf(a.Children) {
		if len(g.Bytes) > 0 && compute.Digest(g.Bytes) != g.Outcome {
			return errors.New("an outcome of a child that was not signed")
		}
		o.Children = append(o.Children, g.Claim)
	}
	if !o.Opens(&v.Claim) || len(a.Truth.Voucher) > 0 {
		return errors.New("children that were not signed, or more said than they show")
	}
	return nil
}

// A court tries accusations, one at a time.
type court struct {
	engine func(of *runs.Manifest) (port.Live, error) // with one core, for one trial
	known  func(run job.RunID) *runs.Manifest         // if this peer takes part, or has
	unfit  func(m *statement.SignedManifest) string
	out    func(id peer.ID) bool
	live   func(run job.RunID) *session.Session // nil if it is over

	mu      sync.Mutex
	repeats alarm.Repeats
	docket  alarm.Docket[*charge]
}

// convene lets a jury do what it decides, and hear what others accuse of; before anybody speaks.
func (j *jury) convene(p *Peer) {
	j.banish, j.expel, j.voice = p.door.condemn, p.visitors.expel, p.voice
	j.live, j.court.live = p.runs.sessions.of, p.runs.sessions.of
	j.guest, j.issuer = p.visitors.guest, p.visitors.issuer
	j.warn, p.exclusion.warn = p.meetings.warn, p.meetings.warn
	j.court.known = func(run job.RunID) *runs.Manifest { return takesPart(p.runs, run) }
	j.receipts.swarm, j.receipts.known = p.host.SwarmName, j.court.known
	j.court.unfit = p.crew.apps.unfit
	j.court.engine, j.court.out = p.crew.trialEngine, p.host.Roll().Outcast
	p.voice.hear(gossip.KindAccusation, checkAccusation, func(author peer.ID, b []byte) { j.hear(author, b) })
}

// accuse makes an accusation of what was found out here.
func (j *jury) accuse(run job.RunID, c *driver.Caught) ([]byte, error) {
	if job.Identify(c.Job.Function, c.Job.Arg) != c.Job.Identity {
		return nil, errors.New("its job is not known whole any more")
	}
	a := accusation{Run: run, Path: c.Job.Path, Function: c.Job.Function, Argument: c.Job.Arg,
		Said: testimony{compute.Digest(c.Said.Outcome), nil, c.Said.Voucher}}
	if c.Alone {
		a.Said.Digest, a.Children = c.Claimed, driver.ChildrenOf(c.Children)
	}
	if c.Truth.Outcome != nil {
		a.Truth.Digest = compute.Digest(c.Truth.Outcome)
		truth := steal.Partial{Path: c.Job.Path, Identity: c.Job.Identity, Outcome: c.Truth.Outcome}
		truth.Voucher = j.vouch.Vouch(run, &verify.Opening{Node: driver.NodeOf(truth.Path, truth.Identity),
			Outcome: a.Truth.Digest})
		j.vouch.Sign(run, &truth)
		a.Truth.Voucher = truth.Voucher
	}
	if compute.Judged(c.Job.Function) {
		a.Said.Outcome, a.Truth.Outcome = c.Said.Outcome, c.Truth.Outcome
	}
	if m := j.court.known(run); m != nil {
		a.Manifest = statement.Unbacked(m.Sealed)
	}
	b, err := wire.Value().Encode(&a)
	if err == nil && len(b) > maxAccusation {
		a.Manifest = nil
		return wire.Value().Encode(&a)
	}
	return b, err
}

// checkAccusation says whether one may be passed on.
func checkAccusation(author peer.ID, b []byte) error {
	_, err := openAccusation(author, b)
	return err
}

// hear takes in an accusation by a member; false if it should be said again, for there is no room for it now.
func (j *jury) hear(author peer.ID, b []byte) (heard bool) {
	c, err := openAccusation(author, b)
	if err != nil {
		return true // checked before
	}
	if c.said == j.self || j.court.out(c.said) || j.evidence.Has(c.said.String()) {
		return true
	}
	m := j.manifest(c)
	if m == nil || m.Verify == "" || c.Function != m.Entry && !strings.HasPrefix(c.Function, m.App+".") {
		return true // of another application its author may have another version than this peer
	}
	c.of = m
	j.court.mu.Lock()
	begin, heard := j.court.docket.Hear(j.Now(), alarm.Accusation[*charge]{Accuser: alarm.PeerID(author),
		Hand:    alarm.PeerID(cmp.Or(j.hand(verify.PeerID(author.String())), verify.PeerID(j.self.String()))),
		Accused: alarm.PeerID(j.host.Branch(c.said)), Hash: sha256.Sum256(b), Of: c})
	j.court.mu.Unlock()
	if begin {
		j.Spawn(j.sit)
	}
	return heard
}

// sit tries what waits.
func (j *jury) sit(ctx context.Context) {
	for ctx.Err() == nil {
		j.court.mu.Lock()
		a, ok := j.court.docket.Next()
		j.court.mu.Unlock()
		if !ok {
			return
		}
		c, begun := a.Of, j.Now()
		liar := j.court.try(ctx, c)
		j.court.mu.Lock()
		j.court.docket.Tried(a, j.Now().Sub(begun), liar == c.said, liar != "")
		j.court.mu.Unlock()
		if liar == "" || liar == j.self {
			j.Log.Info("an accusation shows nothing here", "accuser", c.accuser, "accused", c.said, "run", c.Run)
			continue
		}
		if liar == c.said {
			j.keep(c)
		}
		j.Log.Warn("a peer has lied, as was shown here, and is put out", "peer", liar, "accuser", c.accuser, "run", c.Run,
			"job", c.Path.String())
		if err := j.banish(liar.String()); err != nil {
			j.Log.Error("a liar cannot be put out", "peer", liar, "error", err)
		}
	}
}

// try says who has lied: who was accused, who accuses, or, "", that it cannot be told here.
func (c *court) try(ctx context.Context, a *charge) peer.ID {
	of := alarm.Case{By: alarm.PeerID(a.said), Against: alarm.PeerID(a.against), Said: a.Said.Digest,
		Truth: a.Truth.Digest, Judged: compute.Judged(a.Function),
		Alike: compute.Alike(a.Function, a.Argument, a.of.Rounding), Silent: compute.Silent(a.Function)}
	if liar, over := of.Plain(); over {
		return peer.ID(liar)
	}
	ctx, cancel := context.WithTimeout(ctx, alarm.TrialTime)
	defer cancel()
	e, err := c.engine(a.of)
	if err != nil {
		return ""
	}
	defer e.Close()
	t := trial{e: e, ctx: ctx, live: c.live(a.Run), job: steal.Job{Path: a.Path,
		Identity: job.Identify(a.Function, a.Argument), Function: a.Function, Arg: a.Argument}}
	return peer.ID(of.Try(bench{&t, a}))
}

// A bench tries a charge: see alarm.Bench.
type bench struct {
	*trial
	of *charge
}

func (b bench) Judge(truth bool) alarm.Essence {
	outcome := b.of.Said.Outcome
	if truth {
		outcome = b.of.Truth.Outcome
	}
	what, ok := b.essence(outcome)
	return alarm.Essence{Hash: compute.Digest(what), Wrong: what == nil, Void: !ok}
}

func (b bench) Run() (alarm.Hash, bool) {
	b.given = slices.DeleteFunc(driver.GivenOf(b.of.Children), func(g driver.Given) bool { return len(g.Bytes) == 0 })
	own, ok := b.run()
	if ok && compute.Judged(b.of.Function) {
		own, ok = b.essence(own)
	}
	return compute.Digest(own), ok
}

// trial is one job on an engine of its own.
type trial struct {
	e     port.Live
	ctx   context.Context
	job   steal.Job
	given []driver.Given   // outcomes of jobs below it,
	used  []bool           // and which of them it has spawned
	live  *session.Session // of the job's run: what the job reads is there; nil if it is over
	ran   steal.SegmentID
}

// run computes the job; false if that takes too long, reads what is not here, or shares a lattice of its own, so that
// it may honestly come to other things. What is given is found by the engine as the outcome of a lost job would be.
func (t *trial) run() ([]byte, bool) {
	var paths []job.Path
	for _, g := range t.given {
		paths = append(paths, driver.PathOf(g.Node))
	}
	known, err := steal.NewOrphans(paths)
	if err != nil {
		return nil, false
	}
	t.used = make([]bool, len(t.given))
	t.job.Restarted = len(paths) > 0
	t.ran++
	t.e.Do(&port.Order{Kind: port.LostWork, Orphans: known})
	t.e.Do(&port.Order{Kind: port.Cores, Max: 1})
	t.e.Do(&port.Order{Kind: port.Run, Segment: t.ran, Job: &t.job})
	e, ok := t.await(port.Finished)
	return e.Outcome, ok
}

// found gives the engine what is known of jobs that it was about to begin.
func (t *trial) found(jobs []steal.Taken) {
	for i := range jobs {
		n := driver.NodeOf(jobs[i].Job.Path, jobs[i].Job.Identity)
		at := slices.IndexFunc(t.given, func(g driver.Given) bool { return g.Node == n })
		if at < 0 {
			t.e.Do(&port.Order{Kind: port.PutBack, Ref: jobs[i].Ref, Restarted: true})
			continue
		}
		t.used[at] = true
		t.e.Do(&port.Order{Kind: port.Deliver, Ref: jobs[i].Ref, Outcome: t.given[at].Bytes})
	}
}

func (t *trial) close() {
	if t != nil {
		t.e.Close()
	}
}

// essence is what of an outcome is compared; nil if it is wrong by itself.
func (t *trial) essence(outcome []byte) ([]byte, bool) {
	t.e.Do(&port.Order{Kind: port.Judge, Job: &t.job, Outcome: outcome, Shared: &port.Shared{Ticket: 1}})
	e, ok := t.await(port.Judged)
	switch {
	case ok && e.Shared.Changed:
		return nil, false // it proves itself, or says nothing: nobody has lied
	case !ok, !e.Good:
		return nil, ok
	}
	return e.Outcome, true
}

// read gives the engine a version that the job reads, if this peer's part in the run has it.
func (t *trial) read(d sharedobj.Digest) bool {
	if t.live == nil {
		return false
	}
	here := t.live.Value(t.ctx, d)
	if here != nil {
		t.e.Do(here)
	}
	return here != nil
}

func (t *trial) await(kind port.EventKind) (port.Event, bool) {
	for t.ctx.Err() == nil {
		events, again := t.e.Poll()
		for i := range events {
			switch events[i].Kind {
			case kind:
				return events[i], true
			case port.Shares:
				if compute.Silent(t.job.Function) {
					return port.Event{}, false
				}
			case port.Found:
				t.found(events[i].Jobs)
			case port.Wanted:
				if !t.read(events[i].Shared.Digest) {
					return port.Event{}, false
				}
			case port.Died:
				return port.Event{}, false
			}
		}
		if len(events) > 0 {
			continue
		}
		again = cmp.Or(again, alarm.TrialTime)
		select {
		case <-t.e.Bell():
		case <-time.After(again):
		case <-t.ctx.Done():
		}
	}
	return port.Event{}, false
}

// takesPart gives the manifest of a run, if this peer takes part in it, or has: its jobs may be tried.
func takesPart(t *conductor, run job.RunID) *runs.Manifest {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.parts[run]; r != nil {
		return r.manifest
	}
	return nil
}

// trialEngine starts what runs one job, beside all else, on one core.
func (c *crew) trialEngine(of *runs.Manifest) (port.Live, error) {
	if of == nil {
		return nil, errors.New("its run is not known here any more")
	}
	m := &statement.SignedManifest{} // it has the module for a moment, and no run has it for that
	m.Entry, m.Verify = of.Entry, of.Verify
	copy(m.Version[:], of.Version)
	defer c.modules.unuse(manifestOf(m))
	return c.engine(m, compute.Config{Run: of.Run, Self: string(c.self), Workers: 1, Idle: !c.cfg.FullPriority,
		KeepAfter: -1, Lattices: true})
}
