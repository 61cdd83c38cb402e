package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/peer/control"
)

func newCampaignCommand(list []apps.App, c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Prove in many runs that a formula has no model, for weeks",
		Long: `A campaign is a proof that is too much for one run. It is a directory: the formula, the cubes into which it is
divided, and of each that was proved the piece, named by its hash and checked when it came. "new" makes the directory,
"run" has the parts computed, in the swarm if there is a daemon, and goes on where it was when it is given again;
"status" says how far it is and what may be left; "export" writes all of it as static files for anybody;
"check" checks everything again, here or in an exported directory; "proof" makes one proof of the pieces. In a swarm other
members keep copies: "copies" says how many, "collect" has the campaign again from them; "verdicts" has others check the
pieces and sign what they find.`,
		Example: `  satin-peer campaign new w12 --parts 200 -- sat --waerden 3,12,135
  satin-peer campaign run w12
  satin-peer campaign status w12
  satin-peer campaign export w12 /var/www/w12
  satin-peer campaign check w12`,
		SuggestionsMinimumDistance: typoDistance,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return group("command", cmd, args) }
	cmd.AddCommand(newCampaignNew(list, c), newCampaignRun(list, c), newCampaignStatus(c), newCampaignExport(),
		newCampaignCheck(c), newCampaignProof(c), newCampaignCopies(c), newCampaignCollect(c),
		newCampaignVerdicts(list, c))
	return cmd
}

func newCampaignNew(list []apps.App, c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new DIR -- APPLICATION [ARGUMENT]...",
		Short: "Divide a problem, and make the directory of its campaign",
		Long: `new divides a problem and writes DIR. It guesses by a few probes what the whole will take, and makes as many parts
as keep the piece of each below --piece MiB, as it travels, on average to the half of it; 10,000 at most. A part of which a few
probes guess more when its turn comes is divided again, and is a campaign in this one. --piece 0 guesses and divides nothing
more. The title, which is published, is the problem's unless --title says another.`,
		Example: "  satin-peer campaign new w12 -- sat --waerden 3,12,135",
	}
	const most = 100_000
	o, parts := &options{}, 0
	numberFlag(cmd.Flags(), &parts, "parts", 0, most,
		fmt.Sprintf("how many parts to make, 1 to %d (default by the guess)", most))
	piece := cmd.Flags().Float64("piece", defaultPiece, "how many `MiB` the proof of a part should have at most")
	title := cmd.Flags().String("title", "", "what the campaign is about, in a `LINE`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return apps.WrongArgs(args, "DIR, --, and a problem as satin-peer run takes it")
		}
		const largest = 256 // a result's
		if err := apps.FloatRange("--piece", *piece, 0, largest); err != nil {
			return err
		}
		t, err := readTask(list, control.RunInfo{App: args[1], Args: args[2:]})
		if err != nil {
			return err
		}
		if t.problem.Parts == nil || t.problem.Writes() {
			return &apps.InputError{What: args[1],
				Want: "a problem that can be divided and proved, and writes no file: sat with a whole formula"}
		}
		if *title == "" {
			*title = t.problem.Title
		}
		kept := *t
		if len(t.args) > 0 {
			kept.args = []string{formulaFile} // as the directory has it: see argumentsOf
		}
		plan := campaign.Plan{Title: oneLine(*title), App: t.app, Args: commandLine(&kept)}
		if *piece > 0 {
			guess, err := guessWhole(c, list, o, t)
			if err != nil {
				return err
			}
			plan.Guess, plan.Most = &guess, *piece*(1<<20)/t.problem.Parts.PieceBytes
			fmt.Fprintf(c.err, "%s conflicts are guessed, standard error %s\n", scaled(guess.Conflicts),
				scaled(guess.StandardError))
		}
		if parts == 0 {
			parts = plan.FirstParts()
		}
		if err := makeCampaign(args[0], &plan, t.problem.Parts, parts); err != nil {
			return err
		}
		fmt.Fprintf(c.err, "%s: %d parts; satin-peer campaign run %s begins\n", oneLine(args[0]), len(plan.Cubes),
			oneLine(args[0]))
		return nil
	}
	return cmd
}

func newCampaignRun(list []apps.App, c console) *cobra.Command {
	o, keep := &options{recovery: "salvage", atOnce: runsAtOnce}, 0
	cmd := &cobra.Command{
		Use:   "run DIR",
		Short: "Have the parts of a campaign computed, and check their proofs",
		Long: `run has the parts computed that are not proved: in the swarm, --at-once of them at a time, if there is a daemon,
else one after the other on this machine. The proof of each is checked here when it comes, and only then counts. Ctrl-C, a
restart of the machine or of the daemon lose nothing: the same command goes on, and runs that the swarm went on
with meanwhile are not begun again. With --stay proofs do not come here: the member that finds one keeps it, two others
keep copies, and "campaign verdicts" has two more check it; of parts of which that fails the proof is brought here. A model, if a part has one, is written to the directory: then there is
nothing to prove, and no other part is begun.`,
		Example: `  satin-peer campaign run w12
  satin-peer campaign run w12 --at-once 16 --keep 20000
  satin-peer campaign run w12 --stay`,
	}
	flags := cmd.Flags()
	numberFlag(flags, &o.atOnce, "at-once", 1, maxAtOnce, "how many parts a daemon has at once; each gets the same share of the cores")
	numberFlag(flags, &o.workers, "workers", 1, satin.MaxWorkers, "cores to use without a daemon (default all)")
	numberFlag(flags, &o.nice, "nice", 0, maxNice, "lower the priority of the workers by 0 to 19, without a daemon")
	flags.StringVar(&o.verify, "verify", "members", "as of satin-peer run; the proofs are checked in any case")
	numberFlag(flags, &keep, "keep", 0, 1<<30, "`MiB` of proofs to keep; what comes then is checked and not kept (0: all is kept)")
	stay := flags.Bool("stay", false, "have proofs stay with the members that find them, to be checked by others")
	copies := flags.Bool("copies", true, "have members keep copies of what is proved")
	addPlaceFlags(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := openCampaign(args)
		if err != nil {
			return err
		}
		if err := notEmpty(flags); err != nil {
			return err
		}
		dir.keep(int64(keep) << 20)
		return dir.run(c, list, o, flags, *copies, *stay)
	}
	return cmd
}

// campaignCommand is a command about one directory, which is its first argument; it has so many.
func campaignCommand(cmd *cobra.Command, n int, do func(dir *campaignDir, args []string) error) *cobra.Command {
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := apps.ArgCount(args, n, cmd.Use[len(cmd.Name())+1:]); err != nil {
			return err
		}
		dir, err := openCampaign(args[:1])
		if err != nil {
			return err
		}
		return do(dir, args[1:])
	}
	return cmd
}

func newCampaignStatus(c console) *cobra.Command {
	var asJSON *bool
	cmd := campaignCommand(&cobra.Command{
		Use:     "status DIR",
		Short:   "Say how far a campaign is, and what may be left",
		Example: "  satin-peer campaign status w12 --json",
	}, 1, func(dir *campaignDir, _ []string) error {
		s := dir.state(time.Now())
		left, known := s.Left()
		sum, model := s.Sum(), modelIn(dir.dir)
		if *asJSON {
			d := map[string]any{"title": s.Title, "parts": len(s.Cubes), "proved": s.Done(), "unchecked": s.Unchecked(),
				"sum": sum}
			if known {
				d["left"] = left
			}
			if model != "" {
				d["model"] = model
			}
			return c.writeJSON(d)
		}
		fmt.Fprintf(c.out, "%s\n%d of %d parts proved: %s conflicts, %s clauses, %s of proof\n", oneLine(s.Title), s.Done(),
			len(s.Cubes), grouped(sum.Conflicts), grouped(uint64(sum.Steps)), fileSize(sum.Bytes))
		switch {
		case model != "":
			fmt.Fprintf(c.out, "a part has a model, and so the formula: it is in %s\n", oneLine(model))
		case s.Done() == len(s.Cubes):
			fmt.Fprintln(c.out, "all is proved; satin-peer campaign check checks it again")
		case known:
			fmt.Fprintf(c.out, "left: %s conflicts, standard error %s, by the %d parts that were begun first\n",
				scaled(left.Conflicts), scaled(left.StandardError), left.From)
		default:
			fmt.Fprintln(c.out, "too few of the parts that were begun first are done to say what is left")
		}
		if n := s.Unchecked(); n > 0 {
			fmt.Fprintf(c.out, "of %d more a proof is with who found it, and nobody has checked it\n", n)
		}
		return nil
	})
	asJSON = addJSON(cmd, "the same")
	return cmd
}

func newCampaignExport() *cobra.Command {
	return campaignCommand(&cobra.Command{
		Use:   "export DIR OUT",
		Short: "Write a campaign as static files for anybody",
		Long: `export writes OUT: a page, index.html, the formula, the plan and the pieces. Nothing in it but the title names a file,
nothing a machine or a person: a peer is called by the first 12 digits of the SHA-256 of its peer ID, which its owner can work
out. Those who have signed verdicts are named by their keys, in the files pieces/*.signed.json alone: leave these out if they
are not to be, and their word counts for nothing. OUT can be checked as DIR can.`,
		Example: "  satin-peer campaign export w12 /var/www/w12",
	}, 2, func(dir *campaignDir, args []string) error {
		if err := mayExport(dir.Plan, args[0]); err != nil {
			return err
		}
		return dir.export(args[0], time.Now())
	})
}

func newCampaignCheck(c console) *cobra.Command {
	verdicts := 0
	cmd := campaignCommand(&cobra.Command{
		Use:   "check DIR",
		Short: "Check all proofs of a campaign, and that its cubes are all there is",
		Long: `check follows all pieces step by step, compares them with their hashes, and checks that the cubes are all there is. It
believes nobody, and needs no daemon. The exit code is 0 if the whole is proved, 1 if not, nor of a campaign that is a part of
another. With --verdicts a piece that is not here counts if so many others have signed that it is right (satin-peer campaign
verdicts): then the whole rests on their word, which is said.`,
		Example: `  satin-peer campaign check w12
  satin-peer campaign check w12 --verdicts 2`,
	}, 1, func(dir *campaignDir, _ []string) error {
		words := map[string]int{}
		proved, onWords, err := dir.checkAll(verdicts, words)
		if err != nil {
			return failed("%w", err)
		}
		if proved+onWords < len(dir.Cubes) {
			return failed("%d of %d parts have a right proof here, and the cubes are all there is", proved, len(dir.Cubes))
		}
		if len(dir.Of) > 0 { // whoever has made the directory may call it what he likes
			return failed("all parts are right, but of a part: that no model has all of %d is not that there is none", dir.Of)
		}
		if onWords == 0 {
			_, err = fmt.Fprintf(c.out, "s VERIFIED UNSAT\nc %s: %d parts\n", oneLine(dir.Title), proved)
			return err
		}
		_, err = fmt.Fprintf(c.out, "c %s: %d parts have a right proof here, %d rest on the word of others\n",
			oneLine(dir.Title), proved, onWords)
		for _, a := range slices.Sorted(maps.Keys(words)) {
			fmt.Fprintf(c.out, "c %s has signed %d\n", a, words[a])
		}
		return err
	})
	numberFlag(cmd.Flags(), &verdicts, "verdicts", 0, mostSigners, "`NUMBER` of others whose signed word counts for a piece that is not here")
	return cmd
}

func newCampaignProof(c console) *cobra.Command {
	return campaignCommand(&cobra.Command{
		Use:   "proof DIR FILE",
		Short: "Make one proof of the pieces of a campaign",
		Long: `proof writes the pieces and the cover as one proof in LRAT, for any checker of the format, compressed if the name
of FILE ends in .gz. The formula is DIR/formula.cnf.`,
		Example: `  satin-peer campaign proof w12 w12.lrat.gz
  satin-peer check w12/formula.cnf w12.lrat.gz`,
	}, 2, func(dir *campaignDir, args []string) error {
		err := apps.CheckOutput(args[0], dir.formula(), dir.path(planFile), dir.path(copiesFile), dir.path(pageFile))
		if err == nil && isOwn(dir.dir, args[0]) {
			err = &apps.InputError{What: args[0], Got: "a file among the campaign's own", Want: "another one to write to"}
		}
		if err != nil {
			return err
		}
		clauses, err := dir.clauses()
		if err == nil {
			err = dir.proofsHere()
		}
		if err == nil {
			err = apps.WriteText(args[0], func(w io.Writer) error { return dir.writeProof(w, clauses) })
		}
		if err != nil {
			return failed("%w", err)
		}
		fmt.Fprintf(c.err, "satin-peer check %s %s checks it\n", oneLine(dir.formula()), oneLine(args[0]))
		return nil
	})
}
