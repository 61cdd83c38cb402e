package peer

import (
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// outcomeOfRun describes the end of an own run. The answer is on the disk, or in memory if it could not be put there.
func (x *reporter) outcomeOfRun(info *runs.Info, r *part) control.Outcome {
	m, name := info.Manifest, info.Manifest.Run.Hex()
	o := control.Outcome{Failure: info.Why}
	head, _, _, err := readAnswer(x.files.answers, name, 1)
	if err != nil {
		head = &answer{}
	}
	if info.State == runs.StateDone || info.State == runs.StateFailed {
		var outcome []byte
		if info.Unsaved != nil {
			outcome, head.Of = info.Unsaved.Bytes, info.Unsaved.Of
		} else if outcome = outcomeIn(x.files.answers, name); statement.HashOutcome(outcome) != info.Hash {
			outcome = nil
			o.Failure = "the answer was kept in " + x.files.answers.Path(name) + " and cannot be read there any more"
		}
		if outcome != nil {
			o = judge(m.Run, m.Entry, outcome)
		}
	}
	o.Run, o.State, o.Elapsed = name, control.RunState(info.State), info.Took.Seconds()
	if o.State == control.RunDone && o.Failure != "" {
		o.State = control.RunFailed
	}
	if r != nil {
		x.runs.mu.Lock()
		o.Peers, o.Stats, o.Trust, o.Gave = r.most, *r.total(), trust(m, &r.proofs, info.Answered), r.gave(x.host.ID())
		if r.restored > 0 && m.Verify != "" {
			o.Trust.Bound += fmt.Sprintf("; that, and all that is counted, is of what was computed since this machine last "+
				"took the run up: %d results that it had by then had been compared before, and are in none of it", r.restored)
		}
		o.Sworn, o.Unheard = r.oaths.all(), r.unheard()
		x.runs.mu.Unlock()
	} else if o.Peers = head.Peers; err == nil && m.Verify == "" {
		o.Trust = trust(m, nil, info.Answered)
	}
	if info.Answered != nil {
		o.AnsweredBy = string(info.Answered.Author)
	}
	if o.Trust != nil && m.Verify == "" && o.State != control.RunFailed {
		x.restsOn(o.Trust, head.Of, o.AnsweredBy)
	}
	o.Disputed, o.Warning = info.Disputed != "", x.warning(info, o.Trust)
	return o
}

// restsOn says on whose word an answer rests besides this peer's, and who of them was put out since.
func (x *reporter) restsOn(t *report.Trust, keys []byte, by string) {
	of := statement.AuthorsOf(keys)
	if id, err := peer.Decode(by); err == nil {
		of.Add(string(id))
	}
	of.Drop(string(x.host.ID()))
	t.Members, t.More = len(of.Names), of.More
	for _, name := range of.Names {
		if id := peer.ID(name); x.host.Roll().Outcast(id) {
			t.Revoked = append(t.Revoked, id.String())
		}
	}
	if t.Bound += fmt.Sprintf("; it rests on the word of %d", t.Members); t.More {
		t.Bound += ", and of others for whose names there was no room"
	}
}

// judge reads the root job's outcome, and leaves the result to whoever asks for it.
func judge(run job.RunID, entry string, outcome []byte) (o control.Outcome) {
	fn, ok := engine.Lookup(entry)
	if !ok {
		o.Failure = fmt.Sprintf("this program has no function %q any more", entry)
		return o
	}
	value, err, panicked, bad := compute.OpenOutcome(run, outcome, fn)
	switch {
	case bad != nil:
		o.Failure = "the root job's outcome cannot be read: " + plain.Line(bad.Error())
	case panicked != nil:
		o.Failure, o.Stack = plain.Text(panicked.Error()), plain.Text(string(panicked.Stack))
	case err != nil:
		o.Failure = plain.Text(err.Error())
	default:
		o.Result = value
	}
	return o
}

// warning is what the user should know although there is an answer.
func (x *reporter) warning(info *runs.Info, t *report.Trust) string {
	var all []string
	if t != nil && len(t.Revoked) > 0 {
		all = append(all, fmt.Sprintf("the answer was made of results of %s, who is out of the swarm now: run it again "+
			"if that should not be believed", strings.Join(t.Revoked, ", ")))
	}
	if info.Stored != "" {
		all = append(all, "the answer could not be kept on the disk and is lost if the daemon ends before there is room: "+info.Stored)
	}
	if by := info.Disputed; by != "" {
		if by == peerName(x.swarm.self) {
			by = "this peer"
		}
		all = append(all, fmt.Sprintf("the answer is disputed: %s came to another one, which is kept in %s; the program "+
			"is not a function of its argument, or a machine is broken", by,
			x.files.disputes.Path(info.Manifest.Run.Hex())))
	}
	return strings.Join(all, "; ")
}

// elapsed is the time since a run began, until its end. Of others' runs it goes by what their owners say, so that all
// peers tell the same, as far as their clocks do.
func elapsed(i *runs.Info, now time.Time) time.Duration {
	if i.State.Ended() {
		return i.Took
	}
	return max(0, now.Sub(i.Began))
}
