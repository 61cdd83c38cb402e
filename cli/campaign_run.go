package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/control"
)

// run has the parts computed that are not proved: a batch whose answers are pieces.
func (d *campaignDir) run(c console, list []apps.App, o *options, flags *pflag.FlagSet, copies, stay bool) error {
	if err := hasModel(d.dir); err != nil {
		return err
	}
	unlock, err := lockCampaign(d.dir)
	if err != nil {
		return err
	}
	defer unlock()
	o.each = d.dir
	whole, err := wholeOf(d, list)
	if err != nil {
		return err
	}
	if whole.problem.Parts == nil {
		return &apps.InputError{What: d.App, Want: "an application that proves parts"}
	}
	b := &batch{console: c, o: o}
	stop, err := b.connect(flags)
	if err != nil {
		return err
	}
	defer stop()
	var k *copier
	if b.d != nil {
		if b.console.warnPaused(b.d); copies {
			k = d.copier(b.d)
		}
	}
	proving := &prover{list: list, parts: whole.problem.Parts, kept: func() { b.copyTo(k, whatIsNew) }}
	if stay {
		if err := proving.leave(b, d); err != nil {
			return err
		}
	}
	proving.fill(b, d)
	err = b.run()
	b.copyTo(k, andTheHead)
	if err != nil {
		return err
	}
	name := oneLine(d.dir)
	if n := d.state(time.Time{}).Unchecked(); n > 0 {
		fmt.Fprintf(c.err, "the proofs of %d of %d parts are with those who found them, and nobody has checked them: "+
			"satin-peer campaign verdicts %s has others do it\n", n, len(d.Cubes), name)
		return nil
	}
	fmt.Fprintf(c.err, "all %d parts are proved; satin-peer campaign check %s checks them again\n", len(d.Cubes), name)
	return nil
}

// lockCampaign keeps a second run of a campaign out of its directory: both would compute everything, and one would put
// its proofs where the other has just checked its own.
func lockCampaign(dir string) (unlock func(), err error) {
	file := filepath.Join(dir, lockFile)
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() { // others may have put it there
		return nil, failed("%s is no regular file", file)
	}
	lock := flock.New(file)
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, failed("locking %s: %w", file, cause.Of(err))
	case !locked:
		return nil, failed("another satin-peer campaign run works on %s", dir)
	}
	return func() { _ = lock.Unlock() }, nil
}

// argumentsOf are those of a campaign's problem. A file that they name is the formula, which is in the directory: where
// it was when the campaign began, or on another machine, there may be none, or another.
func argumentsOf(d *campaignDir) []string {
	args := slices.Clone(d.Args)
	if n := len(args); n > 0 && args[n-1] == formulaFile {
		args[n-1] = d.formula()
	}
	return args
}

// taskOf reads arguments about a campaign's formula.
func taskOf(d *campaignDir, list []apps.App, args []string) (*task, error) {
	return readTask(list, control.RunInfo{App: d.App, Args: args})
}

// wholeOf reads the problem that a campaign's plan names. Others may have written that: it names no file to be written.
func wholeOf(d *campaignDir, list []apps.App) (*task, error) {
	t, err := taskOf(d, list, argumentsOf(d))
	if err == nil && t.problem.Writes() {
		err = &apps.InputError{What: d.path(planFile), Want: "a problem that writes no file"}
	}
	return t, err
}

// A prover has the parts of a campaign proved, and of those in it.
type prover struct {
	list  []apps.App
	parts *apps.Parts
	kept  func() // after each piece
}

// fill makes the batch that of a campaign's parts.
func (v *prover) fill(b *batch, d *campaignDir) {
	b.dir, b.running = d.path(piecesDir), map[*input]computation{}
	for _, part := range d.Order() {
		in := &input{line: part + 1, text: strings.Trim(fmt.Sprint(d.Cubes[part]), "[]")}
		in.read = func() (*task, error) {
			return v.task(d, v.parts.Args(d.Cubes[part], d.path(piecesDir, in.file(pieceEnd))))
		}
		in.instead = func(ctx context.Context) (bool, error) { return v.divide(ctx, b, d, in) }
		b.inputs = append(b.inputs, in)
	}
	b.isDone = func(in *input) bool { return d.pieces[in.line-1] != nil }
	b.over = func() error { return hasModel(d.dir) }
	b.keep = func(in *input, s solution) error {
		err := b.takePiece(d, in, s)
		if err == nil {
			v.kept()
		}
		return err
	}
}

// task is a run about a campaign's problem.
func (v *prover) task(d *campaignDir, args []string) (*task, error) {
	return taskOf(d, v.list, slices.Concat(args, argumentsOf(d)))
}

// copyTo has members keep copies of what is proved, if that is wanted. A campaign goes on without.
func (b *batch) copyTo(k *copier, what extent) {
	if k == nil {
		return
	}
	err := k.handIn(context.Background(), what)
	switch {
	case err != nil:
		fmt.Fprintf(b.console.err, "satin-peer: no copies are made of what is new: %s\n", oneLine(err.Error()))
	case what == andTheHead:
		fmt.Fprintf(b.console.err, "if this machine is lost: %s\n", k.collectLine())
	}
}

// takePiece keeps the proof that a part's run brought, if the checker accepts it.
func (b *batch) takePiece(d *campaignDir, in *input, s solution) error {
	if s.unsaved != nil {
		return s.unsaved
	}
	var said struct {
		Satisfiable         bool
		Attempts, Conflicts uint64
	}
	_ = s.read(&said) // an application without these figures has none
	if said.Satisfiable {
		model := d.path(in.file(modelEnd))
		text, err := describe(in.task, b.o, s)
		if err == nil {
			err = apps.WriteFile(model, durable.Bytes(text))
		}
		return errors.Join(fmt.Errorf("it has a model, so there is nothing to prove: it is in %s", model), err)
	}
	file := d.path(piecesDir, in.file(pieceEnd))
	p := campaign.Piece{Elapsed: s.end.at.Seconds(), Gave: s.gave, Attempts: said.Attempts, Conflicts: said.Conflicts}
	if err := d.take(in.line-1, file, p); err != nil {
		return err
	}
	return d.writePage()
}
