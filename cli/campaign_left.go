package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/control"
)

// Where proofs are more than the owner's line carries they stay on the disks of those who find them:
//
//   - A part is *open*.
//   - It is *left* when a run has ended whose job has left its proof where it ran, and named it: it has a record, and
//     its machine and two others keep copies (peer/depot/made.go). All that is known is what that machine has said.
//   - It is *checked* when two other members have had the proof, from whoever has it, and signed that it is right
//     (campaign_verdicts.go). Only then it counts.
//   - It is *here* if somebody has collected it, and counts like any other piece.
//   - It is open again if it is found to be wrong, or if nobody has all of it any more. Open parts that are not left
//     are proved as ever, with the proof brought here: so whoever lies about a part costs its time and no more.

// leftDir has the names of the runs that leave proofs.
const leftDir = "left"

// isHere says whether the proof of a part is a file here, which is kept.
func (d *campaignDir) isHere(p *campaign.Piece) bool {
	if p.Divided || len(p.Kept) == 0 {
		return !p.Divided && !p.Dropped
	}
	_, err := os.Stat(d.pieceFile(p))
	return err == nil
}

// isLeft says whether it is elsewhere.
func (d *campaignDir) isLeft(p *campaign.Piece) bool { return len(p.Kept) > 0 && !d.isHere(p) }

// leave has the open parts proved, some by each run, and their proofs left where they are found.
func (v *prover) leave(b *batch, d *campaignDir) error {
	if b.d == nil {
		return &apps.InputError{What: "--stay", Want: "a daemon: without others there is nobody with whom proofs could stay"}
	}
	of, err := v.leaving(b, d)
	if err != nil {
		return err
	}
	return of.run()
}

// leaving is the batch of those runs. Of their parts those are divided first that are guessed to be too much.
func (v *prover) leaving(b *batch, d *campaignDir) (*batch, error) {
	const together = 64
	of := &batch{console: b.console, o: b.o, d: b.d, dir: d.path(leftDir), running: map[*input]computation{},
		isDone: func(*input) bool { return false }, over: func() error { return hasModel(d.dir) }}
	parts := map[*input]*[]int{}
	group := 0
	for all := range slices.Chunk(d.Order(), together) { // the same whatever is done: their runs are found again
		group++
		open := slices.DeleteFunc(slices.Clone(all), func(part int) bool { return d.pieces[part] != nil })
		if len(open) == 0 {
			continue
		}
		in := &input{line: group, text: fmt.Sprintf("%d parts", len(open))}
		parts[in] = &open
		in.instead = func(ctx context.Context) (all bool, err error) {
			if open, err = v.leaveDivided(ctx, b, d, open); err == nil && len(open) == 0 {
				of.mu.Lock()
				of.done++
				of.mu.Unlock()
			}
			return err == nil && len(open) == 0, err
		}
		in.read = func() (*task, error) {
			cubes := [][]int32{}
			for _, part := range open {
				cubes = append(cubes, d.Cubes[part])
			}
			return v.task(d, v.parts.Leave(cubes))
		}
		of.inputs = append(of.inputs, in)
	}
	of.keep = func(in *input, s solution) error {
		err := d.takeLeft(*parts[in], s)
		v.kept()
		return err
	}
	if err := os.MkdirAll(of.dir, 0o755); err != nil {
		return nil, failed("%w", err)
	}
	return of, nil
}

// leaveDivided has those of some parts proved that are too much for one run, with the proofs of their parts left where
// they are found, and gives the others.
func (v *prover) leaveDivided(ctx context.Context, b *batch, d *campaignDir, parts []int) (whole []int, err error) {
	guesses := &batch{console: b.console, o: b.o, d: b.d, dir: d.path(piecesDir)}
	for _, part := range parts {
		inner, err := v.divided(ctx, guesses, d, &input{line: part + 1})
		if errors.Is(err, fs.ErrNotExist) {
			whole = append(whole, part)
			continue
		}
		if err == nil {
			err = v.leaveInner(ctx, b, inner)
		}
		if err == nil {
			err = d.takeInner(part, inner)
		}
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", part+1, err)
		}
		v.kept()
	}
	return whole, nil
}

func (v *prover) leaveInner(ctx context.Context, b *batch, d *campaignDir) error {
	of, err := v.leaving(b, d)
	if err == nil {
		err = of.inTurn(ctx)
	}
	return err
}

// takeLeft writes down what was left of some parts. Of one of which nothing can be made, nothing is: it stays open.
func (d *campaignDir) takeLeft(parts []int, s solution) error {
	var said struct{ Pieces []campaign.Piece }
	if err := s.read(&said); err != nil || len(said.Pieces) != len(parts) {
		return errors.Join(err, fmt.Errorf("%d pieces of %d parts", len(said.Pieces), len(parts)))
	}
	for i, p := range said.Pieces {
		n := int64(len(p.Kept))
		if n == 0 || p.Bytes <= (n-1)*satin.MaxKept || p.Bytes > n*satin.MaxKept || !isHash(p.File) ||
			slices.ContainsFunc(p.Kept, func(h string) bool { return !isHash(h) }) {
			continue
		}
		next := campaign.Piece{Part: parts[i] + 1, File: p.File, Bytes: p.Bytes, Kept: p.Kept, Dropped: true,
			Attempts: p.Attempts, Conflicts: p.Conflicts, Gave: map[string]float64{}}
		share := float64(len(parts)) // of what the run took: nobody has told of one part
		next.Elapsed = s.end.at.Seconds() / share
		for peer, seconds := range s.gave {
			next.Gave[peer] = seconds / share
		}
		d.mu.Lock()
		err := d.renew(parts[i], &next)
		d.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// leftWord names a piece for a run that checks it: a file, or what it is called elsewhere.
func (d *campaignDir) leftWord(p *campaign.Piece) string {
	if d.isLeft(p) {
		return fmt.Sprintf("kept:%s:%d:%s", p.File, p.Bytes, strings.Join(p.Kept, "+"))
	}
	return d.pieceFile(p)
}

// claim asks for each deposit of a piece who has it, and has them keep it as this user's. It says how many others have
// the one that fewest have, and whether somebody, or this machine, has each.
func claim(ctx context.Context, d control.Daemon, p *campaign.Piece) (fewest int, all bool, err error) {
	all = true
	for i, h := range p.Kept {
		size := min(satin.MaxKept, p.Bytes-int64(i)*satin.MaxKept)
		info, err := d.Deposit(ctx, control.Deposit{Hash: h, Size: size})
		if err != nil {
			return 0, false, err
		}
		if i == 0 || info.Copies < fewest {
			fewest = info.Copies
		}
		all = all && (info.Copies > 0 || info.Here)
	}
	return fewest, all, nil
}

// stillKept is those of some parts whose proof somebody says that he has; a run that is to check another would wait. Of
// these one that nobody has signed for is open again, unless fewer members are connected than are to check it: this
// machine may be away.
func (d *campaignDir) stillKept(ctx context.Context, daemon control.Daemon, parts []int, by int) (there []int,
	err error) {
	for _, part := range parts {
		p, all := d.pieces[part], true
		if d.isLeft(p) {
			_, all, err = claim(ctx, daemon, p)
		}
		switch {
		case err != nil:
		case all:
			there = append(there, part)
		case !p.Checked():
			err = d.giveUp(ctx, daemon, part, by)
		}
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}

// giveUp takes back what is written down of a part whose proof nobody has, if at least so many others are there to ask.
func (d *campaignDir) giveUp(ctx context.Context, daemon control.Daemon, part, others int) error {
	members, err := daemon.Peers(ctx)
	if err != nil || len(slices.DeleteFunc(members, func(p control.PeerInfo) bool { return !p.Connected })) < others {
		return err
	}
	return d.reopenPart(part)
}

// reopen takes back what was said of parts that are left and whose proof is wrong. Words are how the run was told of
// each.
func (d *campaignDir) reopen(parts []int, words []string, s solution) error {
	var said struct{ Refused []string }
	if err := s.read(&said); err != nil {
		return err
	}
	for i, part := range parts {
		p := d.pieces[part]
		if !d.isLeft(p) || p.Checked() || !slices.Contains(said.Refused, words[i]) {
			continue
		}
		if err := d.reopenPart(part); err != nil {
			return err
		}
	}
	return nil
}

// reopenPart takes back what is written down of a part.
func (d *campaignDir) reopenPart(part int) error {
	if err := durable.Remove(d.record(part)); err != nil {
		return failed("%w", err)
	}
	d.pieces[part] = nil
	return nil
}
