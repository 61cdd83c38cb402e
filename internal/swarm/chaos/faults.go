//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// play waits for an act's cue and does what it says. What ends by itself ends later.
func (t *trial) play(ctx context.Context, a Act) error {
	if !t.await(ctx, a.On, a) {
		return nil // the run has ended
	}
	if a.Kind == Enter {
		t.note("%d newcomers, %.0f %% is done", len(a.Who), 100*t.watch.done())
		return t.enter(ctx, a)
	}
	if t.faster && (a.Kind == Resume || a.Kind == Copy) {
		t.note("%s: the run had ended", a)
		return nil
	}
	who := t.cast(a)
	if len(who) == 0 {
		t.note("%s: nobody is left", a)
		return nil
	}
	t.note("%s %s, %.0f %% is done", a.Kind, numbers(who), 100*t.watch.done())
	switch a.Kind {
	case Kill:
		return t.kill(ctx, a, who)
	case Stop:
		return t.halt(ctx, a, who)
	case Pause:
		return pause(ctx, t, a, who)
	case Term, Leave:
		t.leave(ctx, a, who)
		return nil
	case Cut:
		return t.cut(ctx, a, who)
	case Fill:
		return t.fill(ctx, a, who)
	case Reap:
		return reap(t, who)
	case Suspend:
		return t.suspend(ctx, who[0])
	case Resume:
		return t.resume(ctx, who[0], t.run)
	case Copy:
		return t.resumeCopy(ctx, who[0])
	}
	return fmt.Errorf("there is no fault %q", a.Kind)
}

func numbers(list []*swarm.Process) string {
	var n []int
	for _, p := range list {
		n = append(n, p.Number)
	}
	return fmt.Sprint(n)
}

// cast finds the processes that an act is about, as far as they are there.
func (t *trial) cast(a Act) (list []*swarm.Process) {
	who := slices.Clone(a.Who)
	if a.Master {
		who = append(who, t.watch.masters()...)
	}
	slices.Sort(who)
	for _, n := range slices.Compact(who) {
		if p := t.everybody()[n]; p.Alive() && !t.isAway(n) {
			list = append(list, p)
		}
	}
	return list
}

func (t *trial) isAway(number int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.away[number]
}

// setAway notes that a process cannot be asked for a while, or can again.
func (t *trial) setAway(p *swarm.Process, away bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away[p.Number] = away
}

// await waits for a cue. It is false if the run ended first; one that does not come for long is not waited for.
func (t *trial) await(ctx context.Context, c Cue, a Act) bool {
	late := time.NewTimer(cueTime)
	defer late.Stop()
	for {
		ended := t.watch.ended()
		switch {
		case t.shown(c, a):
			return true
		case ended && c.Sign != Ended:
			t.note("%s: the run had ended", a)
			return false
		}
		select {
		case <-late.C:
			t.note("%s: not seen in %v, done all the same", a, cueTime)
			return true
		case <-ctx.Done():
			return false
		case <-time.After(lookEvery):
		}
	}
}

// shown says whether a cue can be seen.
func (t *trial) shown(c Cue, a Act) bool {
	switch c.Sign {
	case AtOnce:
		return true
	case Progress:
		return t.watch.done() >= c.Share
	case Holding:
		return t.watch.done() >= c.Share && !slices.ContainsFunc(a.Who, func(n int) bool {
			return n != t.plan.Owner && t.everybody()[n].Alive() && !t.watch.holding(n)
		})
	case Takeover:
		return slices.ContainsFunc(t.watch.masters(),
			func(n int) bool { return n != t.plan.Owner && t.everybody()[n].Alive() })
	case Ended:
		return t.watch.ended()
	case Compiling:
		return compiling(t, t.cast(a))
	case There:
		return !slices.ContainsFunc(a.Who, func(n int) bool {
			s, ok := t.watch.at(n)
			return !ok || s.pid != t.everybody()[n].PID() || !t.everybody()[n].Alive()
		})
	}
	return false
}

// compiling says whether for each of them a process computes, and the module of one is not compiled yet. What is
// compiled it writes to a folder of the daemon's.
func compiling(t *trial, who []*swarm.Process) bool {
	some := false
	for _, p := range who {
		list, err := p.Computing()
		code, bad := filepath.Glob(filepath.Join(t.root(p), "modules", "compiled", "*", "wazero*", "*"))
		if errors.Join(err, bad) != nil || len(list) == 0 {
			return false
		}
		some = some || len(code) == 0
	}
	return some
}

// until waits for the end of something that lasts for so long, or of the trial.
func (t *trial) until(d time.Duration) {
	select {
	case <-t.over:
	case <-time.After(d):
	}
}

func (t *trial) kill(ctx context.Context, a Act, who []*swarm.Process) error {
	for _, p := range who { // all at once: none sees another die
		if err := p.Signal(syscall.SIGKILL); err != nil {
			return err
		}
	}
	for _, p := range who {
		<-p.Ended()
		t.watch.forget(p.Number)
	}
	t.comeBack(ctx, a, who)
	return nil
}

// reap kills the processes that compute for others: the daemons are to live.
func reap(t *trial, who []*swarm.Process) error {
	for _, p := range who {
		n, err := p.KillComputing()
		if err != nil {
			return err
		}
		t.note("%d processes that compute for %d are killed", n, p.Number)
	}
	return nil
}

// comeBack starts processes again when it is time.
func (t *trial) comeBack(ctx context.Context, a Act, who []*swarm.Process) {
	if a.Back.Sign == Never {
		return
	}
	if a.Return != nil {
		who = slices.DeleteFunc(slices.Clone(who), func(p *swarm.Process) bool {
			return !slices.Contains(a.Return,
				p.Number)
		})
	}
	t.later.Go(func() {
		a.Who = nil // what they did before does not count
		for _, p := range who {
			a.Who = append(a.Who, p.Number)
		}
		t.await(ctx, a.Back, a)
		if ctx.Err() != nil {
			return
		}
		t.note("start %s again", numbers(who))
		for _, p := range who {
			ctx, cancel := context.WithTimeout(ctx, formTime)
			if err := p.Restart(ctx); err != nil {
				t.wrong("peer %d does not come back: %w", p.Number, err)
			}
			cancel()
			t.mu.Lock()
			t.fresh[p.Number] = true
			t.mu.Unlock()
			t.setAway(p, false)
		}
	})
}

// halt stops processes and lets them go on after a time.
func (t *trial) halt(_ context.Context, a Act, who []*swarm.Process) error {
	for _, p := range who {
		t.setAway(p, true)
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
	}
	t.later.Go(func() {
		t.until(a.For)
		t.note("%s go on", numbers(who))
		for _, p := range who {
			if err := p.Signal(syscall.SIGCONT); err != nil {
				t.wrong("peer %d cannot go on: %w", p.Number, err)
			}
			t.setAway(p, false)
		}
	})
	return nil
}

// pause takes their cores from processes, and gives them back after a time.
func pause(ctx context.Context, t *trial, a Act, who []*swarm.Process) error {
	for _, p := range who {
		if _, err := p.Command(ctx, "pause"); err != nil {
			return err
		}
	}
	t.later.Go(func() {
		t.until(a.For)
		t.note("%s have their cores again", numbers(who))
		for _, p := range who {
			if _, err := p.Command(ctx, "resume"); err != nil && ctx.Err() == nil {
				t.wrong("peer %d cannot go on: %w", p.Number, err)
			}
		}
	})
	return nil
}

// leave tells processes to leave, and sees that they do.
func (t *trial) leave(ctx context.Context, a Act, who []*swarm.Process) {
	for _, p := range who {
		t.setAway(p, true)
		began := time.Now()
		t.later.Go(func() {
			t.depart(ctx, p, a.Kind == Leave)
			t.note("%d has left after %d ms", p.Number, time.Since(began).Milliseconds())
		})
	}
	t.later.Go(func() {
		for _, p := range who {
			<-p.Ended()
		}
		t.comeBack(ctx, a, who)
	})
}

// depart tells one process to leave and waits for its end.
func (t *trial) depart(ctx context.Context, p *swarm.Process, command bool) {
	ended := p.Ended()
	if command {
		ctx, cancel := context.WithTimeout(ctx, leaveTime)
		defer cancel()
		if _, err := p.Command(ctx, "leave"); err != nil {
			t.wrong("peer %d: %w", p.Number, err)
		}
	} else if err := p.Signal(syscall.SIGTERM); err != nil {
		t.wrong("peer %d: %w", p.Number, err)
	}
	go observe(p, ended, strings.Count(p.Log(), hasLeft), t.note)
	select {
	case <-ended:
		if state := p.State(); !state.Success() {
			t.wrong("peer %d was told to leave, and ended with %s", p.Number, state)
		}
	case <-time.After(leaveTime):
		if p.Exiting() {
			t.note("peer %d has ended, and the kernel has not taken it down in %v", p.Number, leaveTime)
			<-ended
			return
		}
		t.wrong("peer %d was told to leave and has not in %v: %s", p.Number, leaveTime, p.Lingers())
		_ = p.Signal(syscall.SIGQUIT) // where it hangs is to be in its log
		<-ended
	}
}

// hasLeft is the last but one thing that a process does when it leaves: it says so, and closes its socket.
const hasLeft = "msg=left"

// observe notes what a process waits for that is still there although it has said, once more than before, that it has
// left.
func observe(p *swarm.Process, ended <-chan struct{}, before int, note func(format string, args ...any)) {
	var said time.Time
	for {
		select {
		case <-ended:
			return
		case <-time.After(4 * lookEvery):
		}
		if said.IsZero() && strings.Count(p.Log(), hasLeft) > before {
			said = time.Now()
		}
		if !said.IsZero() && time.Since(said) > lingerTime {
			note("peer %d has said that it has left %v ago and is still there: %s", p.Number, lingerTime, p.Lingers())
			return
		}
	}
}

// cut divides the network and joins it again after a time.
func (t *trial) cut(ctx context.Context, a Act, who []*swarm.Process) error {
	divide := func(off []*swarm.Process) error {
		if t.lab != nil {
			return t.lab.Divide(t.everybody(), nil, off)
		}
		name := ""
		if len(off) > 0 {
			name = site(off[0].Number % clusters)
		}
		return t.shaper.Divide(ctx, name)
	}
	if err := divide(who); err != nil {
		return err
	}
	t.later.Go(func() {
		t.until(a.For)
		t.note("the network is whole again")
		if err := divide(nil); err != nil {
			t.wrong("the network cannot be made whole: %w", err)
		}
	})
	return nil
}

// fill leaves no room on disks, for a time.
func (t *trial) fill(_ context.Context, a Act, who []*swarm.Process) error {
	if t.lab == nil {
		return nil // which has been noted
	}
	for _, p := range who {
		if err := t.lab.Fill(p); err != nil {
			return err
		}
	}
	t.later.Go(func() {
		t.until(a.For)
		t.note("there is room again on the disks of %s", numbers(who))
		for _, p := range who {
			if err := t.lab.Free(p); err != nil {
				t.wrong("peer %d: %w", p.Number, err)
			}
		}
	})
	return nil
}

// enter has newcomers join by some process that is there.
func (t *trial) enter(ctx context.Context, a Act) error {
	for range a.Who {
		through := slices.IndexFunc(t.swarm.Peers, func(p *swarm.Process) bool {
			return p.Alive() &&
				!t.isAway(p.Number)
		})
		ctx, cancel := context.WithTimeout(ctx, formTime)
		defer cancel()
		p, err := t.swarm.StartThrough(ctx, t.swarm.Peers[through], t.settings(len(t.swarm.Peers))...)
		if err != nil {
			return err
		}
		t.mu.Lock()
		t.fresh[p.Number], t.all = true, slices.Clone(t.swarm.Peers)
		t.mu.Unlock()
		t.watch.add(p)
	}
	return nil
}
