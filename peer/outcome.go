package peer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/peer/statement"
)

// outcomeOf describes the end of an own run.
func (p *Peer) outcomeOf(r *run) control.Outcome {
	p.runs.mu.Lock()
	defer p.runs.mu.Unlock()
	o := control.Outcome{}
	if r.outcome != nil {
		o = judge(r.manifest, r.outcome)
	} else {
		o.Failure = r.why
	}
	o.Run, o.State, o.Elapsed = r.manifest.Run.Hex(), r.state, r.elapsed(time.Now()).Seconds()
	o.Peers, o.Stats = r.most, *r.total()
	if r.answered != nil {
		o.AnsweredBy = r.answered.Author.String()
	}
	o.Disputed = r.disputed != ""
	o.Warning = p.warning(r.manifest.Run, r.stored, r.disputed)
	return o
}

// storedOutcome finds the answer to a run of an earlier life.
func (p *Peer) storedOutcome(name string) (control.Outcome, bool) {
	id, ok := job.ParseRunID(name)
	if !ok {
		return control.Outcome{}, false
	}
	a, err := p.answers.load(id)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			p.log.Warn("stored answer cannot be read", "run", id, "error", err)
		}
		return control.Outcome{}, false
	}
	m, err := statement.OpenManifest(a.Manifest)
	if err != nil || m.Owner != p.host.ID() || m.Run != id {
		p.log.Warn("stored answer does not fit its run", "run", id, "error", err)
		return control.Outcome{}, false
	}
	o := judge(m, a.Outcome)
	o.Run, o.Elapsed, o.Peers, o.State = name, time.Duration(a.Elapsed).Seconds(), a.Peers, control.RunDone
	if o.Failure != "" {
		o.State = control.RunFailed
	}
	if by := a.by(); by != nil {
		o.AnsweredBy = by.Author.String()
	}
	other := p.disputedBy(id)
	o.Disputed, o.Warning = other != "", p.warning(id, nil, other)
	return o, true
}

// judge reads the root job's outcome.
func judge(m *statement.SignedManifest, outcome []byte) (o control.Outcome) {
	fn, ok := satin.Lookup(m.Entry)
	if !ok {
		o.Failure = fmt.Sprintf("this program has no function %q any more", m.Entry)
		return o
	}
	_, err, panicked, bad := session.DecodeOutcome(m.Run, outcome, fn)
	switch {
	case bad != nil:
		o.Failure = "the root job's outcome cannot be read: " + bad.Error()
	case panicked != nil:
		o.Failure, o.Stack = panicked.Error(), string(panicked.Stack)
	case err != nil:
		o.Failure = err.Error()
	default:
		var raw session.Outcome
		if bad := wire.Value().Decode(outcome, &raw); bad == nil {
			o.Result = raw.Value
		}
	}
	return o
}

// warning is what the user should know although there is an answer.
func (p *Peer) warning(run job.RunID, stored error, disputedBy string) string {
	var all []string
	if stored != nil {
		all = append(all, "the answer could not be kept on the disk and is lost when the daemon ends: "+stored.Error())
	}
	if disputedBy != "" {
		all = append(all, fmt.Sprintf(
			"the answer is disputed: %s came to another one, which is kept in %s; the program is not a function of its argument, or a machine is broken", disputedBy, p.disputes.path(run.Hex())))
	}
	return strings.Join(all, "; ")
}

// disputedBy is the peer that came to another answer to a run of an earlier life; "" if there is none.
func (p *Peer) disputedBy(run job.RunID) string {
	second, err := p.disputes.head(run)
	if err != nil {
		return ""
	}
	if by := second.by(); by != nil {
		return by.Author.String()
	}
	return "this peer"
}
