package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
)

// maxPause is the longest pause that ends by itself.
const maxPause = 30 * 24 * time.Hour

func newPauseCommand(c console) *cobra.Command {
	until := ""
	cmd := newDaemonCommand(c, cobra.Command{
		Use:   "pause [TIME]",
		Short: "Stop computing, for a while or until resume",
		Long: `pause stops the workers of the daemon: what they compute is taken up again afterwards, here or by others. The peer remains in
the swarm. TIME is a duration such as 1h or 90m, --until a time of the day such as 18:00; without either the pause lasts until
satin-peer resume. A daemon that is started again is still paused. What is to be so every day is a setting: hours,
workers_here, yield_to, on_battery.`,
		Example: `  satin-peer pause 1h
  satin-peer pause --until 18:00
  satin-peer pause`,
	}, 0, 1, func(ctx context.Context, d *control.Client, args []string) error {
		if until != "" {
			long, err := untilTime(until, args, time.Now())
			if err != nil {
				return err
			}
			args = []string{long.String()}
		}
		if len(args) == 0 {
			if err := d.Pause(ctx, 0); err != nil {
				return err
			}
			fmt.Fprintln(c.err, "paused until satin-peer resume")
			return nil
		}
		long, err := durationIn("TIME", args[0], time.Second, maxPause)
		if err != nil {
			return err
		}
		if err := d.Pause(ctx, long); err != nil {
			return err
		}
		fmt.Fprintf(c.err, "paused until %s\n", clock(time.Now().Add(long)))
		return nil
	})
	cmd.Flags().StringVar(&until, "until", "", "the `TIME` of the day at which it ends, such as 18:00")
	return cmd
}

func newFinishCommand(c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "finish",
		Short: "Stop computing when the jobs at hand are done",
		Long: `finish has the daemon take no more jobs from others. What it has it does, and sends the results home; then it is paused, until
satin-peer resume, which also takes finish back. The root of a run that is here, of an own one as a rule, counts as a job: suspend
or cancel ends those sooner. satin-peer status says how many jobs are left.`,
		Example: "  satin-peer finish",
	}, 0, 0, func(ctx context.Context, d *control.Client, _ []string) error {
		if err := d.Finish(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(c.err, "it takes no more jobs, and pauses when those that it has are done")
		return err
	})
}

// untilTime is how long it is to the next time that a clock of this machine shows what the user wrote.
func untilTime(text string, args []string, now time.Time) (time.Duration, error) {
	at, err := time.ParseInLocation("15:04", text, now.Location())
	if err != nil {
		return 0, &apps.InputError{What: "--until", Got: text, Want: "a time of the day from 00:00 to 23:59"}
	}
	if len(args) > 0 {
		return 0, &apps.InputError{What: "TIME", Got: args[0], Want: "none beside --until"}
	}
	end := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
	if !end.After(now.Add(time.Second)) {
		end = time.Date(now.Year(), now.Month(), now.Day()+1, at.Hour(), at.Minute(), 0, 0, now.Location())
	}
	return end.Sub(now), nil
}

func newCancelCommand(c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run, on all peers",
		Long: "cancel ends a run that this peer owns, on all peers, also one that is suspended. RUN is what satin-peer runs " +
			"shows, or its first digits.",
		Example: `  satin-peer cancel 4f1c20aa9be04d52b7a0f6c1d2e3f405
  satin-peer cancel 4f1c`,
	}, 1, 1, func(ctx context.Context, d *control.Client, args []string) error {
		run, err := findRun(ctx, d, args[0])
		if err != nil {
			return err
		}
		if run.State.Final() {
			return control.Errorf(control.ErrRefused, "run %s has ended already: it is %s", run.Run, run.State)
		}
		if err := d.Cancel(ctx, run.Run); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.err, "cancelled: %s, run %s\n", oneLine(run.Title), run.Run)
		return err
	})
}
