package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
)

// longestShare is the longest that a link may be good.
const longestShare = 30 * 24 * time.Hour

func newShareCommand(c console) *cobra.Command {
	var s control.Sharing
	all, stop, life := false, false, 24*time.Hour
	cmd := newDaemonCommand(c, cobra.Command{
		Use:   "share [RUN]",
		Short: "Print a link by which anybody's browser helps with a run",
		Long: `share prints a link to a page of the daemon that runs on this machine. Whoever opens it, on a computer or a phone, sees what he would
help with, presses a button, and his browser computes for the run until he closes the page. RUN is what satin-peer runs shows, or its
first digits; with --all the link is for whatever this peer takes part in.

Whoever has the link may help, until it expires, and what a browser brings is believed as this peer is: share it with those whom you
would let into the swarm, or verify the run. The page is served apart from the dashboard: nothing of that is reachable from there. It
listens on this machine only unless --listen says otherwise. Anywhere else it has TLS, by --cert and --key, or by a certificate of its
own, of which browsers warn. How it listens is said once: until --stop, later links are to the same place. Where other members of the
swarm share, too, a page that has lost this daemon goes on there.

Browsers have the built-in applications, and most run modules.`,
		Example: `  satin-peer share 4f1c
  satin-peer share --all --for 2h
  satin-peer share --stop
  satin-peer share 4f1c --listen 192.0.2.7:8443 --cert cert.pem --key key.pem
  satin-peer share --all --listen 127.0.0.1:8080 --url https://help.example.org`,
	}, 0, 1, func(ctx context.Context, d *control.Client, args []string) error {
		if stop {
			return stopSharing(ctx, d, all || len(args) == 1 || s != (control.Sharing{}))
		}
		if all == (len(args) == 1) {
			got := "neither"
			if all {
				got = "both"
			}
			return &apps.InputError{What: "RUN and --all", Got: got, Want: "one of them"}
		}
		if (s.Cert == "") != (s.Key == "") {
			return &apps.InputError{What: "--cert and --key", Got: "one of them", Want: "both, or none"}
		}
		s.Seconds = int64(life / time.Second)
		if err := absolute(&s.Cert, &s.Key); err != nil {
			return err
		}
		if !all {
			run, err := findRun(ctx, d, args[0])
			if err != nil {
				return err
			}
			s.Run = run.Run
		}
		link, err := d.Share(ctx, s)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.out, link.Link)
		return err
	})
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "for whatever this peer takes part in")
	f.BoolVar(&stop, "stop", false, "close the page instead: all visits end, and no link leads anywhere")
	durationFlag(f, &life, "for", time.Second, longestShare, "how `LONG` the link is good, 1s to 720h")
	f.StringVar(&s.Listen, "listen", "", "the IP `ADDRESS` and port of the page; by default any port of this machine only")
	f.StringVar(&s.URL, "url", "", "where browsers find it, if not there: `https://NAME` or https://NAME:PORT")
	f.StringVar(&s.Cert, "cert", "", "a `FILE` with a certificate and its chain (PEM)")
	f.StringVar(&s.Key, "key", "", "a `FILE` with its key (PEM)")
	return cmd
}

// stopSharing closes the page; more says that something else is asked for, too.
func stopSharing(ctx context.Context, d *control.Client, more bool) error {
	if more {
		return &apps.InputError{What: "--stop", Got: "more", Want: "it alone"}
	}
	_, err := d.Share(ctx, control.Sharing{Stop: true})
	return err
}

// absolute makes the names of files whole: the daemon is somewhere else.
func absolute(files ...*string) error {
	for _, file := range files {
		if *file == "" {
			continue
		}
		path, err := filepath.Abs(*file)
		if err != nil {
			return failed("%w", err)
		}
		*file = path
	}
	return nil
}
