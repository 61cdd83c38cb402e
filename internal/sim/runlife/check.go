package runlife

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/satin-peer/satin/runs"
)

// watch looks at an order before it is carried out: what is told is on the disk, or the disk has refused it.
func (w *world) watch(m *member, o runs.Order) {
	switch o := o.(type) {
	case runs.Announce:
		p := w.byID[o.Run]
		if _, there := m.files[fileName{runs.OwnFile, o.Run}]; !there && !p.damaged && p.owner == m &&
			!m.trouble[fileName{runs.OwnFile, o.Run}] {
			w.fail("%s announces run %d, which is not written down", m.id, p.n)
		}
	case runs.TellClaim:
		if o.Claim.Author != m.id {
			return
		}
		for _, kind := range []runs.File{runs.HeldFile, runs.RivalFile} {
			a, there := m.files[fileName{kind, o.Claim.Run}].(*runs.Answer)
			if there && a.Outcome.Hash == o.Claim.Hash || m.trouble[fileName{kind, o.Claim.Run}] {
				return
			}
		}
		w.fail("%s tells of an answer of run %d that is not on its disk", m.id, w.byID[o.Claim.Run].n)
	case runs.Bury:
		s := &o.Tombstone
		p := w.byID[s.Run]
		a, there := m.files[fileName{runs.AnswerFile, s.Run}].(*runs.Answer)
		if s.Author == m.id && s.Reason == runs.Finished && !m.trouble[fileName{runs.AnswerFile, s.Run}] &&
			(!there || s.Hash == nil || *s.Hash != a.Outcome.Hash) {
			w.fail("%s says that run %d is finished, and its answer is not on the disk", m.id, p.n)
		}
		_, noted := m.files[fileName{runs.CancelledFile, s.Run}]
		if s.Author == m.id && s.Reason == runs.Cancelled && !noted && !m.trouble[fileName{runs.CancelledFile, s.Run}] {
			w.fail("%s says that run %d is cancelled, which is not written down", m.id, p.n)
		}
	}
}

// wrote looks at a file that was just written: an accepted answer is never another one, and beside one that is kept is
// the manifest.
func (w *world) wrote(m *member, name fileName, content any) {
	if a, ok := content.(*runs.Answer); ok && name.kind != runs.DisputeFile && a.Manifest == nil {
		w.fail("%s keeps an answer of run %d without its manifest", m.id, w.byID[name.run].n)
	}
	if name.kind != runs.AnswerFile {
		return
	}
	p, a := w.byID[name.run], content.(*runs.Answer)
	if p.answered && a.Outcome.Hash != p.answer {
		w.fail("the answer of run %d is replaced by another one", p.n)
	}
	p.answered, p.answer = true, a.Outcome.Hash
}

// look looks at a member after each input.
func (w *world) look(m *member) {
	w.lookAtRosters(m)
	all := m.core.Runs()
	if c := runs.DefaultConfig(); len(all) > c.Active+2*c.Ended+c.Answers+c.Own+c.Held {
		w.fail("%s knows %d runs", m.id, len(all))
	}
	for _, s := range m.sessions {
		if m.finals[s.p.id] && m != s.p.owner {
			w.fail("%s takes part in run %d, whose owner has ended it", m.id, s.p.n)
		}
		if m == s.p.owner && s.p.cancelled {
			w.fail("%s takes part in its run %d, which it has cancelled", m.id, s.p.n)
		}
		if m == s.p.owner && s.p.suspended && !s.p.damaged {
			w.fail("%s takes part in its run %d, which it has suspended", m.id, s.p.n)
		}
	}
	for i := range all {
		if p := w.byID[all[i].Manifest.Run]; p.owner == m && all[i].Stored == "" && p.answered &&
			all[i].State == runs.StateDone && all[i].Hash != p.answer {
			w.fail("%s says that the answer of run %d is another one than its disk", m.id, p.n)
		}
	}
}

// end looks at everything when it must have come to its end.
func (w *world) end() {
	for _, p := range w.runs {
		m := p.owner
		i, there := m.core.Run(p.id)
		a, have := m.files[fileName{runs.AnswerFile, p.id}].(*runs.Answer)
		_, noted := m.files[fileName{runs.CancelledFile, p.id}]
		switch {
		case !p.accepted && !there:
		case p.unwritten && (!there || i.State == runs.StateCancelled):
		case !there && noted: // by a command that was cut off
		case p.cancelled:
			if there && i.State != runs.StateCancelled || have {
				w.fail("run %d was cancelled, and is %s; an answer: %t", p.n, i.State, have)
			}
		case p.suspended && !p.damaged:
			if i.State != runs.StateSuspended {
				w.fail("run %d was suspended, and is %s: %s", p.n, i.State, i.Why)
			}
		case !there && p.damaged && w.forgotten(p): // all that was known of it was on a disk that lost it
		case !there && p.damaged && (p.killer || p.module != 0) && !w.known(p): // who knows is silent
		case p.suspended && i.State == runs.StateSuspended:
		case i.State == runs.StateCancelled && p.ended: // a command was cut off by a crash
		case i.State == runs.StateSuspended && (p.outdated() || p.slept):
		case i.State == runs.StateRefused && p.gone() && !w.known(p):
		case p.killer:
			w.endOfKiller(p, &i, have)
		case i.State != runs.StateDone || !have && i.Unsaved == nil:
			w.fail("run %d of %s has no answer: it is %q: %s", p.n, m.id, i.State, i.Why)
		}
		if have && !p.impure && string(a.Outcome.Bytes) != string(truth(p, m).Bytes) {
			w.fail("run %d has a wrong answer", p.n)
		}
		if i.Disputed != "" {
			w.counts.Disputes++
			if !p.impure {
				w.fail("run %d is disputed, and all answers are equal", p.n)
			}
		}
		for _, o := range w.members {
			w.endAt(p, o, &i, there)
		}
	}
	for _, m := range w.members {
		if len(m.tickets) > 0 {
			w.fail("%s: %d commands have no end", m.id, len(m.tickets))
		}
	}
}

// truth is what a run must come to at its owner.
func truth(p *project, m *member) runs.Outcome {
	if p.killer {
		return failure(p)
	}
	return outcome(p, m)
}

// forgotten says whether nobody has anything of a run.
func (w *world) forgotten(p *project) bool {
	for _, m := range w.members {
		_, held := m.files[fileName{runs.HeldFile, p.id}]
		if held || m.session(p) != nil || m.kept[p.id] != nil {
			return false
		}
	}
	return true
}

// known says whether somebody else than its owner keeps an answer of a run that is true, or takes part.
func (w *world) known(p *project) bool {
	keeps := func(m *member, kind runs.File) bool {
		a, held := m.files[fileName{kind, p.id}].(*runs.Answer)
		return held && string(a.Outcome.Bytes) == string(truth(p, w.member(a.Claim.Author)).Bytes)
	}
	return w.tried(p) || slices.ContainsFunc(w.members, func(m *member) bool {
		return m != p.owner && (keeps(m, runs.HeldFile) || keeps(m, runs.RivalFile))
	})
}

// tried says whether somebody takes part in a run.
func (w *world) tried(p *project) bool {
	return slices.ContainsFunc(w.members, func(m *member) bool { return m.session(p) != nil })
}

// endAt looks at what is left of a run on a member.
func (w *world) endAt(p *project, o *member, i *runs.Info, there bool) {
	if o.session(p) != nil && (!there || i.State.Ended()) {
		w.fail("%s takes part in run %d, which is %q", o.id, p.n, i.State)
	}
	over := i.State == runs.StateDone || i.State == runs.StateCancelled || i.State == runs.StateFailed
	if over && there && i.Unsaved == nil {
		if j, known := o.core.Run(p.id); known && j.State == runs.StateRefused {
			w.fail("%s leaves run %d alone, which is %q: %s", o.id, p.n, i.State, j.Why)
		}
		if o.kept[p.id] != nil {
			w.fail("%s has a checkpoint of run %d, which is %q", o.id, p.n, i.State)
		}
	}
	if j, known := o.core.Run(p.id); known && !there && j.State == runs.StateRefused && !w.tried(p) &&
		!o.tolls[p.id].Quarantined() {
		w.fail("%s keeps run %d in mind, which nobody computes: %s", o.id, p.n, j.Why)
	}
	for _, kind := range []runs.File{runs.HeldFile, runs.RivalFile} {
		a, held := o.files[fileName{kind, p.id}].(*runs.Answer)
		switch {
		case !held:
		case i.State == runs.StateCancelled:
			w.fail("%s keeps an answer of run %d, which is cancelled", o.id, p.n)
		case i.State != runs.StateDone && i.State != runs.StateFailed:
		case a.Outcome.Hash == i.Hash:
			w.fail("%s keeps an answer of run %d that its owner has", o.id, p.n)
		case i.Disputed == "":
			w.fail("%s keeps another answer of run %d than its owner has, and there is no dispute", o.id, p.n)
		}
	}
}

// Failure is a schedule that broke an invariant.
type Failure struct {
	Seed uint64
	Err  error
}

// maxFailures is how many schedules that fail are named.
const maxFailures = 10

// Check runs schedules and gives the first of those that broke an invariant:
//
//   - what is told of a run is on the disk of who tells it, or that disk has refused it;
//   - a run has one accepted answer, whatever crashes, and a second one is shown as a dispute;
//   - nobody takes part in a run whose owner was heard to have ended it;
//   - a cancelled run never comes back, a suspended one stays so until it is resumed;
//   - every command has one end;
//   - a run fails by a job that has killed two members' processes, and by no other;
//   - nobody takes part, a tick later, in a run that a roster keeps it out of, and nobody leaves it that owns it or
//     holds its root;
//   - a roster that is believed was made by the owner or a deputy, and no older one comes after it; some time after
//     the last fault there is one;
//   - of a run that is verified there is no answer but its owner's, no roster, and no failure but by jobs that have
//     killed members in two hands, or a process of its owner's; nobody is caught who is honest;
//   - some time after the last fault whoever can take part in a run does, unless a roster says who;
//   - after some quiet every run has an answer at its owner, unless that has cancelled or suspended it, or its module
//     is nowhere; nobody takes part in it any more or leaves it alone, and nobody keeps what its owner has.
func Check(from, n uint64, kind Kind) (total Counts, failures []Failure) {
	for seed := from; seed < from+n; seed++ {
		c, err := Run(seed, kind, nil)
		total.add(&c)
		if err != nil {
			total.Failed++
		}
		if err != nil && len(failures) < maxFailures {
			failures = append(failures, Failure{seed, err})
		}
	}
	return total, failures
}

func (c *Counts) add(d *Counts) {
	c.Events += d.Events
	c.Lost += d.Lost
	c.Crashes += d.Crashes
	c.Cut += d.Cut
	c.Misset += d.Misset
	c.Answers += d.Answers
	c.Disputes += d.Disputes
	c.Messages += d.Messages
	c.Restored += d.Restored
	c.Found += d.Found
	c.Deaths += d.Deaths
	c.Doomed += d.Doomed
	c.Rosters += d.Rosters
	c.Benched += d.Benched
	c.Agreed += d.Agreed
	c.Alone += d.Alone
	c.Compared += d.Compared
	c.Caught += d.Caught
	c.Fetched += d.Fetched
	c.Helped += d.Helped
}

// Replay runs a schedule twice and is an error if the two are not the same; the trace of the first is written.
func Replay(seed uint64, kind Kind, trace io.Writer) error {
	var a, b bytes.Buffer
	_, err := Run(seed, kind, &a)
	_, again := Run(seed, kind, &b)
	if !bytes.Equal(a.Bytes(), b.Bytes()) || fmt.Sprint(err) != fmt.Sprint(again) {
		return errors.New("the same seed gave two runs")
	}
	_, _ = trace.Write(a.Bytes())
	return err
}
