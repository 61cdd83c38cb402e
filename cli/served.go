package cli

import (
	"os"

	"github.com/satin-peer/satin/peer/settings"
)

// managed has a daemon live under a manager of services that has started this process and wants answers: Windows' gives
// up a process that tells it nothing. The channel that live gets has a signal when the service is to stop.
type managed func(live func(stop <-chan os.Signal) error) error

// serve is a daemon's life under such a manager. Its log is the one of daemons in the background: nobody sees what it
// prints.
func serve(c console, l *settings.Loaded, start func(c console) error) error {
	_, log, err := openDaemonLog(l.StateDir)
	if err != nil {
		return failed("state_dir: %w", err)
	}
	defer log.Close()
	c.err = log
	return c.managed(func(stop <-chan os.Signal) error {
		c.signals = func() (<-chan os.Signal, func()) { return stop, func() {} }
		return start(c)
	})
}

// serviceState is what a manager of services is told.
type serviceState int

const (
	serviceRuns serviceState = iota
	serviceStops
)

// answering is the conversation with such a manager: it is told that the service runs, and, when it has asked for that,
// that it stops; the end of answering is the end of the service. That waits for the daemon, which says goodbye to the
// swarm, and comes by itself if the daemon is told to leave by a command.
func answering(live func(stop <-chan os.Signal) error, asked <-chan struct{}, tell func(serviceState)) error {
	stop, ended := make(chan os.Signal, 1), make(chan error, 1)
	go func() { ended <- live(stop) }()
	tell(serviceRuns)
	for {
		select {
		case err := <-ended:
			return err
		case <-asked:
			asked = nil
			tell(serviceStops)
			stop <- os.Interrupt
		}
	}
}
