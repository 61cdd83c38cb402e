package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/runs"
)

// gone says whether nobody hears any more what a life says.
func (x *being) gone() bool {
	return x.m.life() != x
}

// command has something done on a goroutine, and notes that it comes to its end; r may be nil.
func (w *livesWorld) command(x *being, r *lifeRun, what string, f func(ctx context.Context) error,
	then func(err error)) {
	name := fmt.Sprintf("p%d: %s", x.m.mine, what)
	w.say("%s", name)
	w.mu.Lock()
	w.open[name]++
	if r != nil {
		r.busy++
		r.muddled = r.muddled || r.busy > 1
	}
	w.mu.Unlock()
	x.m.busy.Go(func() {
		err := f(x.peer.Ctx)
		gone := x.gone()
		w.say("%s: %v", name, err)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.open[name]--; w.open[name] == 0 {
			delete(w.open, name)
		}
		if r != nil {
			r.busy--
			r.muddled = r.muddled || gone && err != nil
		}
		then(err)
	})
}

func (w *livesWorld) submit(x *being, c errand) {
	arg, err := wire.Value().Encode(c)
	if err != nil {
		w.fail("%v", err)
		return
	}
	var info control.RunInfo
	w.command(x, nil, fmt.Sprintf("submit %v", c), func(ctx context.Context) (err error) {
		info, err = x.peer.owner.submit(ctx, control.Submission{App: "peertest", Function: "peertest.chore",
			Argument: arg,
			Args:     []string{"chore"}})
		return err
	}, func(err error) {
		if err != nil {
			return
		}
		id, _ := job.ParseRunID(info.Run)
		r := &lifeRun{owner: x.m, id: id, of: c}
		w.runs = append(w.runs, r)
		x.m.busy.Go(func() { w.wait(x, r) })
	})
}

// wait waits for a run, as long as the life lasts.
func (w *livesWorld) wait(x *being, r *lifeRun) {
	w.command(x, nil, "wait "+r.id.String(), func(ctx context.Context) error {
		o, err := x.peer.owner.wait(ctx, r.id.Hex(), nil)
		if err == nil {
			w.judge(r, &o)
		}
		return err
	}, func(error) {})
}

// judge looks at what somebody is told who has waited.
func (w *livesWorld) judge(r *lifeRun, o *control.Outcome) {
	want, _, _, _ := compute.OpenOutcome(r.id, choreOutcome(chore(nil, r.of)), choreFunc())
	switch o.State {
	case control.RunDone:
		if string(o.Result) != string(want) || o.Disputed {
			w.fail("run %s has the answer %x, want %x; disputed: %t", r.id, o.Result, want, o.Disputed)
		}
	case control.RunFailed:
		if !strings.Contains(o.Failure, "it killed the processes") {
			w.fail("run %s has failed: %s", r.id, o.Failure)
		}
	}
}

func (w *livesWorld) cancel(x *being, r *lifeRun) {
	var over bool
	w.command(x, r, "cancel "+r.id.String(), func(ctx context.Context) error {
		err := x.peer.owner.cancel(ctx, r.id.Hex())
		i, _, there := x.peer.runs.info(r.id) // which the world's mutex may not be held for
		over = there && i.State == runs.StateCancelled
		return err
	}, func(err error) {
		if err == nil && over {
			r.cancelled, r.suspended = true, false
		} else if over {
			r.doubtful = true
		}
	})
}

func (w *livesWorld) suspend(x *being, r *lifeRun) {
	w.command(x, r, "suspend "+r.id.String(), func(ctx context.Context) error {
		return x.peer.owner.suspend(ctx, r.id.Hex())
	}, func(err error) {
		if err == nil && !r.muddled {
			r.suspended, r.kept = true, nil
			if x.m.platter.isFlushed(x.peer.checkpoints.DirOf(r.id)) {
				r.kept = w.onDisk(x, r)
			}
		}
	})
}

// onDisk is what the disk has of a run that nobody has open.
func (w *livesWorld) onDisk(x *being, r *lifeRun) map[string]bool {
	kept := map[string]bool{}
	snap, err := checkpoint.Read(x.peer.checkpoints.DirOf(r.id), checkpoint.Header{}, nil)
	if err != nil {
		return kept
	}
	defer snap.Close()
	for rec, err := range snap.Records() {
		if err == nil && rec.Kind == checkpoint.JobResult {
			kept[fmt.Sprint(rec.Path)] = true
		}
	}
	return kept
}

// remembers says that a new life has what was kept of suspended runs.
func (w *livesWorld) remembers(x *being) {
	w.mu.Lock()
	list := slices.Clone(w.runs)
	w.mu.Unlock()
	for _, r := range list {
		w.mu.Lock()
		sound := r.owner == x.m && r.suspended && !r.muddled && !r.doubtful && r.busy == 0
		w.mu.Unlock()
		if sound {
			there := w.onDisk(x, r)
			for path := range r.kept {
				if !there[path] {
					w.fail("p%d: job %s of suspended run %s is not kept any more", x.m.mine, path, r.id)
				}
			}
		}
	}
}

func (w *livesWorld) resume(x *being, r *lifeRun) {
	x.m.mu.Lock()
	x.m.tries += 2
	x.m.mu.Unlock()
	w.command(x, r, "resume "+r.id.String(), func(ctx context.Context) error {
		_, err := x.peer.owner.resume(ctx, control.Resumption{Run: r.id.Hex()})
		return err
	}, func(err error) {
		if err == nil {
			r.suspended = false
			x.m.busy.Go(func() { w.wait(x, r) })
		}
	})
}
