package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

// Where the whole of a campaign is too large to be kept, pieces are checked by other members, each by a job of a
// run in which results are compared, and what these have signed is kept in their place. So who has no piece can
// still see who says that it is right, and whoever does not know these believes nothing.

// signedFile is what is kept of a piece beside its record: 0012.signed.json.
type signedFile struct {
	Run  string       `json:"run"`
	Said report.Sworn `json:"said"`
}

func (d *campaignDir) signedPath(part int) string {
	return d.path(piecesDir, fmt.Sprintf("%04d.signed.json", part+1))
}

// fewestSigners and mostSigners are how many are asked: as run --verify quorum has it.
const fewestSigners, mostSigners = 2, 5

func newCampaignVerdicts(list []apps.App, c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verdicts DIR",
		Short: "Have other members check the proofs of a campaign, and sign what they find",
		Long: `verdicts has each piece checked by --by other members, whom different people have let into the swarm, and keeps what
they have signed in DIR. This machine takes part: a piece that its own workers were given has no verdict, and is tried again
as long as that helps. Of a proof that was left with its finder and that nobody has any more the part is open again; one
that is lost while it is checked has the run wait: stop it, and begin again. Those that take less than a second it has mostly checked before others ask. With --drop a piece
that has its verdicts is not kept any more. What a verdict is worth depends on who gives it: campaign check counts such a
piece only with --verdicts, and says whose word that is.`,
		Example: `  satin-peer campaign verdicts w12
  satin-peer campaign verdicts w12 --by 3 --drop
  satin-peer campaign check w12 --verdicts 3`,
	}
	flags := cmd.Flags()
	by := fewestSigners
	numberFlag(flags, &by, "by", fewestSigners, mostSigners,
		fmt.Sprintf("how many others check each, %d to %d", fewestSigners, mostSigners))
	drop := flags.Bool("drop", false, "do not keep pieces that have their verdicts")
	addPlaceFlags(flags)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := openCampaign(args)
		if err != nil {
			return err
		}
		return dir.verdicts(c, list, flags, by, *drop)
	}
	return cmd
}

// verdicts has pieces checked, as many as one run takes at a time, until a round brings nothing more.
func (d *campaignDir) verdicts(c console, list []apps.App, flags *pflag.FlagSet, by int, drop bool) error {
	o := &options{recovery: "salvage", verify: fmt.Sprintf("quorum=%d,others", by)}
	b := &batch{console: c, o: o}
	stop, err := b.connect(flags)
	if err != nil {
		return err
	}
	defer stop()
	if b.d == nil {
		return daemonError(control.ErrNotRunning)
	}
	b.console.warnPaused(b.d)
	whole, err := wholeOf(d, list)
	if err != nil {
		return err
	}
	p := whole.problem.Parts
	if p == nil || p.Check == nil {
		return &apps.InputError{What: d.App, Want: "an application that checks its proofs"}
	}
	have, all, err := d.judged(b, list, p, by, drop)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%d of %d pieces are checked by %d others, who have signed it\n", have, all, by)
	return err
}

// judged has the pieces checked of this campaign and of those in it, and says how many have their verdicts.
func (d *campaignDir) judged(b *batch, list []apps.App, p *apps.Parts, by int, drop bool) (have, all int, err error) {
	for more := true; more; {
		more = false
		for _, parts := range d.unsigned(by, p.MostChecked) {
			n, err := d.hear(b, list, p, parts, by)
			if err != nil {
				return 0, 0, err
			}
			more = more || n > 0
		}
	}
	if have, all, err = d.sumVerdicts(by, drop); err != nil {
		return 0, 0, err
	}
	for part, piece := range d.pieces {
		if piece == nil || !piece.Divided {
			continue
		}
		inner, err := d.inner(part)
		if err != nil {
			return 0, 0, err
		}
		h, a, err := inner.judged(b, list, p, by, drop)
		if err == nil && piece.Unchecked > 0 {
			err = d.takeInner(part, inner)
		}
		if err != nil {
			return 0, 0, err
		}
		have, all = have+h, all+a
	}
	return have, all, nil
}

// unsigned lists parts whose pieces are kept and are not yet signed for by so many, in the order of the plan, as
// many together as one run takes.
func (d *campaignDir) unsigned(by int, most int64) (groups [][]int) {
	const together = 64
	formula, err := os.Stat(d.formula())
	if err != nil {
		return nil
	}
	room := int64(0)
	for part, p := range d.pieces {
		if p == nil || len(p.Verdicts) >= by {
			continue
		}
		bytes := p.Bytes
		if d.isLeft(p) {
			bytes = 0 // it does not go with the run
		} else if !d.isHere(p) || formula.Size()+p.Bytes > most {
			continue
		}
		if room -= bytes; len(groups) == 0 || room < 0 || len(groups[len(groups)-1]) == together {
			groups = append(groups, nil)
			room = most - formula.Size() - bytes
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], part)
	}
	return groups
}

// hear has some pieces checked in a run, keeps what was signed, and says of how many.
func (d *campaignDir) hear(b *batch, list []apps.App, p *apps.Parts, parts []int, by int) (n int, err error) {
	if parts, err = d.stillKept(context.Background(), b.d, parts, by); err != nil || len(parts) == 0 {
		return 0, err
	}
	var files []string
	var cubes [][]int32
	for _, part := range parts {
		files, cubes = append(files, d.leftWord(d.pieces[part])), append(cubes, d.Cubes[part])
	}
	args := p.Check(d.formula(), files, cubes)
	t, err := taskOf(d, list, args)
	if err != nil {
		return 0, err
	}
	run, err := handIn(b.console, t, b.o, b.d)
	if err != nil {
		return 0, err
	}
	s, err := b.console.attend(&swarmRun{console: b.console, d: b.d, run: run.Run, problem: t.problem, ownsIt: true})
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(b.console.err, oneLine(s.answer.Text))
	for i := range s.sworn {
		file := &signedFile{run.Run, s.sworn[i]}
		for _, part := range parts {
			authors, err := d.signers(part, file)
			if err == nil && len(authors) >= by && len(authors) > len(d.pieces[part].Verdicts) {
				if err := d.keepVerdicts(part, file, authors); err != nil {
					return n, err
				}
				n++
			}
		}
	}
	return n, d.reopen(parts, args[len(args)-len(parts):], s)
}

// keepVerdicts writes what was signed of a piece, and then that there is such a thing.
func (d *campaignDir) keepVerdicts(part int, file *signedFile, authors []string) error {
	if err := d.writeJSON(d.signedPath(part), file); err != nil {
		return err
	}
	next := *d.pieces[part]
	next.Verdicts = authors
	return d.renew(part, &next)
}

func (d *campaignDir) renew(part int, p *campaign.Piece) error {
	err := d.writeJSON(d.record(part), p)
	if err == nil {
		d.pieces[part] = p
	}
	return err
}

// errNotAbout is what is wrong with what was signed about something else.
var errNotAbout = errors.New("what was signed is not that this piece is right")

// signers says who has signed that the piece of a part is right. It believes nothing of what a file says.
func (d *campaignDir) signers(part int, file *signedFile) ([]string, error) {
	arg, result, authors, err := peer.OpenSworn(file.Run, &file.Said)
	if err == nil && !d.isRight(part, arg, result) {
		err = errNotAbout
	}
	return authors, err
}

// isRight says whether a job's argument and result are that the piece of a part is right.
func (d *campaignDir) isRight(part int, arg, result any) bool {
	claim, is := arg.(apps.Claim)
	said, ok := result.(apps.Verdict)
	if !is || !ok {
		return false
	}
	formula, piece, cube := claim.Claims()
	return said.Right() && formula == d.Formula && piece == d.pieces[part].File && slices.Equal(cube, d.Cubes[part])
}

// signed reads who has signed for a part's piece, as the file beside its record shows it; nobody if there is none.
func (d *campaignDir) signed(part int) ([]string, error) {
	const most = 64 << 10 // bytes
	text, err := apps.ReadFile(d.signedPath(part), most)
	if err != nil {
		return nil, nil
	}
	var file signedFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	return d.signers(part, &file)
}

// sumVerdicts says how many pieces have verdicts, and drops these if that is wanted.
func (d *campaignDir) sumVerdicts(by int, drop bool) (have, all int, err error) {
	for part, p := range d.pieces {
		if p == nil || p.Divided {
			continue
		}
		all++
		authors, err := d.signed(part)
		if err != nil || len(authors) < by {
			continue
		}
		have++
		if drop && !p.Dropped {
			next := *p
			next.Dropped = true
			if err := d.renew(part, &next); err != nil {
				return 0, 0, err
			}
			if err := os.Remove(d.pieceFile(p)); err != nil {
				return 0, 0, failed("%w", err)
			}
		}
	}
	return have, all, nil
}
