package peer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/constants"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/sharedobj"
)

// list lists the runs.
func (x *reporter) list() []control.RunInfo {
	now := x.Now()
	x.runs.mu.Lock()
	list := []control.RunInfo{}
	for _, i := range x.runs.core.Runs() {
		list = append(list, x.describeRun(&i, x.runs.parts[i.Manifest.Run], now))
	}
	x.runs.mu.Unlock()
	sortRuns(list)
	return list
}

func sortRuns(list []control.RunInfo) {
	slices.SortFunc(list, func(a, b control.RunInfo) int {
		return cmp.Or(b.Submitted.Compare(a.Submitted), cmp.Compare(a.Run, b.Run))
	})
}

// describe is a run for people.
func (x *reporter) describe(id job.RunID) control.RunInfo {
	x.runs.mu.Lock()
	defer x.runs.mu.Unlock()
	info, ok := x.runs.core.Run(id)
	if !ok {
		return control.RunInfo{Run: fmt.Sprintf("%x", id[:])}
	}
	return x.describeRun(&info, x.runs.parts[id], x.Now())
}

// describeRun is a run for people; r is nil if this peer has had no part in it in this life. The conductor's mutex
// is held.
func (x *reporter) describeRun(i *runs.Info, r *part, now time.Time) control.RunInfo {
	m := i.Manifest
	stats := r.stats()
	peers, _, _ := r.taking(now)
	all := r.withOthers(stats)
	d := control.RunInfo{
		Run: m.Run.Hex(), App: m.App, Args: i.Args, Title: m.Title, Owner: string(m.Owner), Mine: i.Mine,
		Master: x.masterOf(i, r, now),
		State:  control.RunState(i.State), Why: i.Why, Submitted: time.Unix(m.Created, 0).UTC(),
		Elapsed: elapsed(i, now).Seconds(), CPU: all.CPUTime.Seconds(), Peers: peers, Executed: stats.Executed,
		Stats: &stats,
		Adapt: m.Adapt, Roster: rosterShown(x.runs.core.Musters.Roster(m.Run)),
		Recovery: cmp.Or(m.Recovery, "salvage"), Disputed: i.Disputed != "", MaxCores: m.MaxCores, Eager: m.Eager,
	}
	if m.Entry == module.Func {
		d.Module = fmt.Sprintf("%x", m.Version)
	}
	if owner, err := peer.Decode(d.Owner); err == nil {
		d.OwnerName = x.nameOf(owner)
	}
	for _, id := range m.Deputies {
		d.Deputies = append(d.Deputies, string(id))
	}
	switch {
	case i.Mine && i.State == runs.StateSuspended:
		d.Checkpoint = x.checkpoints.DirOf(m.Run)
	case i.State.Ended() || r == nil || r.ledger == nil:
	default:
		d.Checkpoint = r.ledger.Dir
		if err := r.ledger.Trouble(); err != nil && !errors.Is(err, ledger.ErrOpening) {
			d.NotStoring = plain.OneLine(err)
		}
	}
	d.NoRoom, d.Waits = x.runs.crew.memory.trouble(m.Run), x.waits(r, now)
	if i.Answered != nil {
		d.AnsweredBy = string(i.Answered.Author)
	}
	d.Quarantined = i.State == runs.StateRefused && x.runs.deaths.of(m.Run).Quarantined()
	if i.Disputed != "" {
		d.Why = "disputed: " + string(i.Disputed) + " came to another answer"
	}
	d.Share, d.Left, d.Efficiency = shareDone(i, r), r.left(now), r.efficiency()
	switch {
	case r == nil:
	case i.State.Ended():
		d.Peers = r.most
	case r.final == nil:
		s := r.session.Stats()
		d.Uplink = all.Uplink(s.Load.Workers, s.Rate)
	}
	return d
}

// shareDone is how much of a run's tree is done, as far as it was known when its figures were looked at last. The
// conductor's mutex is held.
func shareDone(i *runs.Info, r *part) float64 {
	switch {
	case i.State == runs.StateDone:
		return 1
	case r == nil:
		return 0
	}
	return r.reached
}

func (x *reporter) progress(i *runs.Info, r *part) control.Progress {
	now := x.Now()
	x.runs.mu.Lock()
	defer x.runs.mu.Unlock()
	peers, workers, busy := r.taking(now)
	total := r.total()
	return control.Progress{
		Run: i.Manifest.Run.Hex(), State: control.RunState(i.State), Elapsed: elapsed(i, now).Seconds(),
		Share: shareDone(i, r), Left: r.left(now), Executed: total.Executed, Peers: peers, Workers: workers, Busy: busy,
		Waits: x.waits(r, now),
	}
}

// waits says what the jobs of a run wait for; "" if none does. The conductor's mutex is held.
func (x *reporter) waits(r *part, now time.Time) string {
	if r == nil || r.final != nil {
		return ""
	}
	text := x.waitsForInput(r, now)
	if text == "" {
		text = r.begins(now)
	}
	if text != "" || r.manifest.Verify == "" {
		return text
	}
	if paused, _ := x.presence.Paused(); paused && r.manifest.Owner == peerName(x.swarm.self) {
		return "it is verified, so its first job runs on this machine, which is paused: satin-peer resume"
	}
	p := r.session.Stats().Proofs
	return lacking(&p)
}

// begins says that nobody computes a run yet as it is prepared here; "" otherwise. The conductor's mutex is held.
func (r *part) begins(now time.Time) string {
	_, workers, _ := r.taking(now)
	switch {
	case workers > 0 || !r.session.Stats().Begins:
		return ""
	case r.manifest.Entry == module.Func:
		return "its module is being compiled on this machine"
	}
	return "the process for its jobs starts on this machine"
}

// waitsForInput says what the first job of a run has not got of its input, here or, as it told, where it is. The
// conductor's mutex is held.
func (x *reporter) waitsForInput(r *part, now time.Time) string {
	all, s := constants.Mebibytes(r.input), r.session.Stats()
	if l := s.Lack; l != nil {
		rest := "and nobody who is connected has the rest"
		if l.Why != "" {
			rest = "and not more: " + l.Why
		} else if len(l.From) > 0 {
			rest = "and the rest comes from " + strings.Join(x.named(l.From), " and ")
		}
		return fmt.Sprintf("its first job waits for its input: %d of %d MiB are here, %s", min(l.Here>>20, all), all, rest)
	}
	master := r.master(&s)
	if l := r.loads[master]; l != nil && l.Lacks > 0 && now.Before(l.until) {
		return fmt.Sprintf("its first job waits for its input: %d of %d MiB are on %s", (r.input-min(l.Lacks, r.input))>>20,
			all, cmp.Or(x.nameOf(master), master.String()))
	}
	return ""
}

// masterOf is who holds the root job, as far as this peer knows; "" if nobody was heard of lately. The
// conductor's mutex is held.
func (x *reporter) masterOf(i *runs.Info, r *part, now time.Time) string {
	switch {
	case i.Answered != nil:
		return string(i.Answered.Author)
	case i.State.Ended() || r == nil:
		return string(i.Manifest.Owner)
	}
	switch s := r.session.Stats(); {
	case s.Master:
		return x.swarm.self.String()
	case i.Mine:
		return "" // it came back, and another peer, it does not know which, goes on
	case s.MasterID != "":
		return string(s.MasterID)
	case now.Sub(r.began) < x.cfg.Steal.MasterLease, i.Manifest.Verify != "" && x.swarm.Alive(i.Manifest.Owner):
		return string(i.Manifest.Owner)
	}
	return ""
}

// named are the names of some peers, or their IDs.
func (x *reporter) named(list []sharedobj.PeerID) (names []string) {
	for _, s := range list {
		if id, err := peer.Decode(string(s)); err == nil {
			names = append(names, cmp.Or(x.nameOf(id), string(s)))
		}
	}
	return names
}

// nameOf is what a peer calls itself; "" if that is nothing, or not known.
func (x *reporter) nameOf(id peer.ID) string {
	if id == x.host.ID() {
		return shown(x.cfg.Name)
	}
	if c := x.swarm.members.Get(id); c != nil {
		return c.Name
	}
	return ""
}
