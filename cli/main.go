// Package cli is the command satin-peer around anybody's applications:
//
//	func main() { cli.Main(golomb.App) }
//
// is a whole one, with every subcommand, the daemon and the dashboard. Peers of different commands work together in a
// swarm: on a run work those who have its application in the same version.
//
// The answer goes to standard output, everything else to standard error. Exit codes:
//
//	0    the answer is there, or what was asked has been done
//	1    a job failed, the answer is wrong or could not be written, or the daemon could not do it, or there is none
//	2    bad input: an unknown application or flag, an argument, setting or file that is not allowed
//	130  interrupted (Ctrl-C); 143 terminated (SIGTERM); 129 its terminal was closed (SIGHUP); a second Ctrl-C ends it
//	     at once
//	141  nobody reads standard output any more
//
// A daemon that was told to leave, by a signal or by satin-peer leave, ends with 0.
package cli

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kardianos/service"
	"golang.org/x/term"

	"github.com/satin-peer/satin/apps"
	computing "github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/settings"
)

// Main is the command: it does what the process's arguments say, with these applications, and exits. It panics if two
// of them have the same name.
func Main(list ...apps.App) {
	if len(os.Args) == 2 && os.Args[1] == computeCommand {
		os.Exit(computing.Main(os.Stdin, os.Stdout))
	}
	os.Exit(run(os.Args[1:], sorted(list), newConsole()))
}

// computeCommand is what a daemon starts this program with, to run the jobs of one run. It is not for people.
const computeCommand = "compute-for-daemon"

// sorted gives applications in the order of their names.
func sorted(list []apps.App) []apps.App {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b apps.App) int { return strings.Compare(a.Name, b.Name) })
	for i := range list[:max(len(list)-1, 0)] {
		if list[i].Name == list[i+1].Name {
			panic(fmt.Sprintf("cli: two applications have the name %q", list[i].Name))
		}
	}
	return list
}

// A console is what the command talks to outside itself.
type console struct {
	in  io.Reader
	out io.Writer // the answer
	err io.Writer // everything else
	// screen is err for who draws on it: see run
	screen io.Writer

	// width gives the columns of the terminal that err writes to, 0 if it is not one.
	width func() int

	// signals begins to catch interrupts; after release the next one ends the process as if nobody had caught any,
	// unless it comes together with one that was caught.
	signals func() (caught <-chan os.Signal, release func())

	// every sends the time at an interval, until stop.
	every func(interval time.Duration) (ticks <-chan time.Time, stop func())

	dirs    settings.Dirs
	environ []string // as os.Environ gives it

	// open makes a peer in this process.
	open opener

	// strike lets a fault happen to this process.
	strike func(f fault) error

	// modules are the modules that are run, by their names.
	modules map[module.Hash]*runModule

	args []string // of the command line

	// daemonTicks is how often a command looks for a daemon that may be starting, every lookEvery, before it says
	// that there is none.
	daemonTicks int

	manager func(cfg *service.Config) (manager, error) // of the system's services
	managed managed                                    // nil: no manager that wants answers has started this process

	// browse shows a page in the user's browser; shows says whether somebody sees what the command prints.
	browse func(link string) error
	shows  bool

	// patience bounds how long an interrupted command waits for what it is doing to end. An aborted run ends at
	// once, a file that is being written soon, the sequential program when it is done.
	patience time.Duration
}

// abortPatience leaves time to exit within a second.
const abortPatience = 500 * time.Millisecond

// newConsole is the process's own. It ignores SIGPIPE for good: a write to a closed pipe is then an error
// like others, which becomes the exit code if it is the answer that nobody reads, and does not end a run if
// it is its progress.
func newConsole() console {
	signal.Ignore(syscall.SIGPIPE)
	return console{
		in:       os.Stdin,
		out:      os.Stdout,
		err:      os.Stderr,
		width:    terminalWidth,
		signals:  func() (<-chan os.Signal, func()) { return catchSignals(sameSignal) },
		every:    everyTick,
		dirs:     settings.FindDirs(),
		environ:  os.Environ(),
		open:     openPeer(processes()),
		strike:   strike,
		patience: abortPatience,

		daemonTicks: int(startingWithin / lookEvery),
		browse:      browse, manager: newManager, managed: underManager(), shows: term.IsTerminal(int(os.Stdout.Fd())),
	}
}

// defaultColumns is the width of a terminal that does not tell.
const defaultColumns = 80

func terminalWidth() int {
	fd := int(os.Stderr.Fd())
	if !term.IsTerminal(fd) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	columns, _, err := term.GetSize(fd)
	if err != nil || columns <= 0 {
		return defaultColumns
	}
	return columns
}

// sameSignal is how long after a signal another one is taken for the same. Who sends one to a process and to its
// group, as timeout does, sends two.
const sameSignal = 500 * time.Millisecond

// catchSignals catches signals as a console does. Those that come less than same after the one that was caught go
// where nobody looks, and so does a second SIGHUP at any time: a terminal that is closed sends it, and its shell.
func catchSignals(same time.Duration) (<-chan os.Signal, func()) {
	caught, again := make(chan os.Signal, 1), make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as in a shell script's background job, which Ctrl-C is not meant for, or after nohup
			signal.Notify(again, s)
			signal.Notify(caught, s)
		}
	}
	return caught, func() {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
		signal.Stop(caught)
		if len(again) == 0 { // none was caught
			same = 0
		}
		time.AfterFunc(same, func() { signal.Stop(again) })
	}
}

func everyTick(interval time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(interval)
	return t.C, t.Stop
}
