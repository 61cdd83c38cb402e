package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/peer/control"
)

// A part that is too much for one run, as few probes guess, is divided again: it is a campaign of its own, in a
// directory of the one that it is a part of, about its cube. It counts as proved when all of its parts are, and
// what is said of the whole is said of what is in it.

func (d *campaignDir) partDir(part int) string { return d.path(partsDir, fmt.Sprintf("%04d", part+1)) }

// errInner is what is wrong with a directory that is not that of a part's campaign.
var errInner = errors.New("its campaign is about something else")

// inner opens the campaign of a part that was divided; fs.ErrNotExist if it was not.
func (d *campaignDir) inner(part int) (*campaignDir, error) {
	if _, err := os.Stat(filepath.Join(d.partDir(part), planFile)); err != nil {
		return nil, err
	}
	in, err := openCampaign([]string{d.partDir(part)})
	if err == nil && (in.Formula != d.Formula || !slices.Equal(in.Of, d.Cubes[part])) {
		err = errInner
	}
	if err != nil {
		return nil, fmt.Errorf("part %d: %w", part+1, err)
	}
	return in, nil
}

// defaultPiece is the bound of a part's proof in MiB, as it travels: compressed it is what one run checks for a
// verdict.
const defaultPiece = 16

// probesOfPart is how many there are of a part that may be too much, and probesOfWhole of a new campaign.
const probesOfPart, probesOfWhole = 4, 64

// divide has a part proved as a campaign of its own, if it is too much for one run. False: it is not.
func (v *prover) divide(ctx context.Context, b *batch, d *campaignDir, in *input) (bool, error) {
	part := in.line - 1
	inner, err := v.divided(ctx, b, d, in)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	inner.room = d.room // others that are divided are proved meanwhile
	of := &batch{console: b.console, o: b.o, d: b.d}
	v.fill(of, inner)
	if err := of.inTurn(ctx); err != nil {
		return false, err
	}
	if err := d.takeInner(part, inner); err != nil {
		return false, err
	}
	v.kept()
	b.mu.Lock()
	b.done++
	b.mu.Unlock()
	return true, d.writePage()
}

// inTurn does what is in a part that was divided, one run after the other: those of other parts go on beside it.
func (b *batch) inTurn(ctx context.Context) error {
	for _, in := range b.inputs {
		if b.isDone(in) {
			continue
		}
		if err := b.one(ctx, in); err != nil {
			return fmt.Errorf("part %d of it: %w", in.line, err)
		}
	}
	return nil
}

// divided is the campaign of a part, which is made if a guess says that it is too much: fs.ErrNotExist if it is not.
func (v *prover) divided(ctx context.Context, b *batch, d *campaignDir, in *input) (*campaignDir, error) {
	inner, err := d.inner(in.line - 1)
	if errors.Is(err, fs.ErrNotExist) && d.MayBeLarge() {
		return v.open(ctx, b, d, in)
	}
	return inner, err
}

// open makes the campaign of a part, if its guess says that it is too much: fs.ErrNotExist if not.
func (v *prover) open(ctx context.Context, b *batch, d *campaignDir, in *input) (*campaignDir, error) {
	part := in.line - 1
	cube := d.Cubes[part]
	t, err := v.task(d, v.parts.Guess(cube, probesOfPart))
	if err != nil {
		return nil, err
	}
	in.task = t
	r, stop, err := b.start(in)
	if err != nil {
		return nil, err
	}
	defer stop()
	s, err := r.solve(ctx)
	if err != nil {
		return nil, err
	}
	guess, err := guessed(s)
	if err != nil {
		return nil, err
	}
	if guess.Conflicts <= d.Most {
		return nil, fs.ErrNotExist
	}
	plan := campaign.Plan{Title: fmt.Sprintf("%s, part %d", d.Title, part+1), App: d.App, Args: d.Args, Of: cube,
		Guess: &guess, Most: d.Most}
	if err := makeCampaign(d.partDir(part), &plan, v.parts, campaign.PartsFor(guess, d.Most)); err != nil {
		return nil, err
	}
	return d.inner(part)
}

// guessWhole has this machine guess what a whole problem will take.
func guessWhole(c console, list []apps.App, o *options, whole *task) (g campaign.Guess, err error) {
	t, err := readTask(list, control.RunInfo{App: whole.app,
		Args: slices.Concat(whole.problem.Parts.Guess(nil, probesOfWhole), commandLine(whole))})
	if err != nil {
		return g, err
	}
	pool, err := o.pool()
	if err != nil {
		return g, err
	}
	defer pool.Close()
	s, err := c.attend(newLocalRun(t.problem, pool))
	if err != nil {
		return g, err
	}
	return guessed(s)
}

// guessed reads the answer of a run that guesses.
func guessed(s solution) (g campaign.Guess, err error) {
	var said struct {
		Conflicts float64
		Error     float64 `json:"standard_error"`
		Probes    int
	}
	err = s.read(&said)
	return campaign.Guess{Conflicts: said.Conflicts, StandardError: said.Error, Probes: said.Probes}, err
}

// takeInner writes down what there is of a part that was divided: it is proved if its campaign is whole, open if parts
// of that are.
func (d *campaignDir) takeInner(part int, inner *campaignDir) error {
	text, err := os.ReadFile(inner.path(planFile))
	if err != nil {
		return err
	}
	s := inner.state(time.Time{})
	p := s.Sum()
	p.Part, p.Divided, p.File, p.Unchecked = part+1, true, campaign.Sum(text), s.Unchecked()
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(inner.pieces, nil) {
		return d.reopenPart(part)
	}
	return d.renew(part, &p)
}

// checkAll has the checker follow all pieces, and those of the campaigns in this one. It says how many parts have a
// right proof here, and how many rest, in part at least, on the word of others, of whom it counts how much each has
// signed.
func (d *campaignDir) checkAll(verdicts int, words map[string]int) (proved, onWords int, err error) {
	if err := d.checkCover(); err != nil {
		return 0, 0, err
	}
	for part, p := range d.pieces {
		switch {
		case p == nil:
		case p.Divided:
			inner, err := d.inner(part)
			if err != nil {
				return 0, 0, err
			}
			right, said, err := inner.checkAll(verdicts, words)
			if err != nil {
				return 0, 0, fmt.Errorf("part %d: %w", part+1, err)
			}
			if right == len(inner.Cubes) {
				proved++
			} else if right+said == len(inner.Cubes) {
				onWords++
			}
		case p.Dropped && !d.isHere(p):
			authors, err := d.signed(part)
			if err != nil {
				return 0, 0, fmt.Errorf("part %d: %w", part+1, err)
			}
			if verdicts > 0 && len(authors) >= verdicts {
				onWords++
				for _, a := range authors {
					words[a]++
				}
			}
		default:
			if _, _, err := d.checkPiece(part, d.pieceFile(p), p.File); err != nil {
				return 0, 0, fmt.Errorf("part %d: %w; without %s it is open again, and campaign run proves it", part+1, err,
					d.record(part))
			}
			proved++
		}
	}
	return proved, onWords, nil
}

// proofsHere says which part has no proof here.
func (d *campaignDir) proofsHere() error {
	for part, p := range d.pieces {
		if p == nil || p.Dropped && !d.isHere(p) {
			return fmt.Errorf("part %d has no proof here", part+1)
		}
		if p.Divided {
			inner, err := d.inner(part)
			if err == nil {
				err = inner.proofsHere()
			}
			if err != nil {
				return fmt.Errorf("part %d: %w", part+1, err)
			}
		}
	}
	return nil
}

// writeProof writes one proof of all pieces. The formula has so many clauses.
func (d *campaignDir) writeProof(w io.Writer, clauses int) error {
	return d.Whole(w, clauses, func(part int) (io.ReadCloser, error) {
		if !d.pieces[part].Divided {
			return openPiece(d.pieceFile(d.pieces[part]))
		}
		inner, err := d.inner(part)
		if err != nil {
			return nil, err
		}
		r, out := io.Pipe()
		go func() { out.CloseWithError(inner.writeProof(out, clauses)) }()
		return r, nil
	})
}
