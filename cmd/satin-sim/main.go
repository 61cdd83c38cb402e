// Command satin-sim runs the seeded simulator: one run, a table of the papers, or thousands of schedules with faults.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

const help = `satin-sim simulates a swarm in virtual time. The protocol cores and policies are the real ones.

Commands:
  run       simulate one application on one network; show figures, a trace or a timeline
  table     make a table of the papers, published figures beside ours
  huge      show what a peer costs in swarms of thousands
  exact     run random schedules with faults and check every invariant
  soak      run them by the hour; tells where to go on after an interruption
  liars     run schedules with peers that lie, and show what each way to verify costs and lets through
  replay    run one of these schedules again, with its trace
  record    run a real application and print its job tree, for run --tree
  nws       write the synthetic network trace of scenario 9
  list      list applications, policies, scenarios, tables and faults

Examples:
  satin-sim run --app raytracer --scenario scenario10 --policy acrs --timeline
  satin-sim run --app integrate --clusters 16,16,16,16 --latency 100ms --bandwidth 100000 --policy rs --seed 3
  satin-sim run --app tsp --clusters 4,4 --fault crash@30s,peer=5 --fault drop@10s+20s,amount=0.3 --trace | less
  satin-sim table table1 --seeds 3
  satin-sim table all --seeds 3 --out docs/results
  satin-sim table scenarios --seeds 4 --keep runs
  satin-sim huge --peers 64,1024,10000 --clusters 4,64,80 --time 1h
  satin-sim exact --seeds 20000
  satin-sim soak --seeds 1000000 --from 250000
  satin-sim replay 4711
  satin-sim record nqueens 13 > queens.tree; satin-sim run --tree queens.tree --clusters 4,4

satin-sim COMMAND --help describes a command's flags.
`

// errUsage marks errors that are the caller's: exit status 2.
var errUsage = errors.New("")

// gcPercent trades memory, of which the simulator needs little, for time.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "satin-sim: %v\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "satin-sim: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out, progress io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(out, help)
		return usage("no command is given")
	}
	commands := map[string]func([]string, io.Writer, io.Writer) error{
		"run": runOne, "table": table, "exact": exact, "soak": soak, "replay": replay, "record": recordTree, "nws": nws,
		"list": list, "liars": tellLies, "huge": huge,
	}
	switch command, ok := commands[args[0]]; {
	case ok:
		return command(args[1:], out, progress)
	case args[0] == "help" || args[0] == "--help" || args[0] == "-h":
		fmt.Fprint(out, help)
		return nil
	}
	return usage("there is no command %q; there are run, table, huge, exact, soak, liars, replay, record, nws, list", args[0])
}

// usageError is an error of the caller.
type usageError struct{ error }

func (usageError) Is(target error) bool { return target == errUsage }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// parse reads flags, says what is wrong in one line, and checks the number of arguments.
func parse(fs *flag.FlagSet, args []string, least, most int, out io.Writer) error {
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "Flags of satin-sim %s:\n", fs.Name())
		fs.SetOutput(out)
		fs.PrintDefaults()
		return err
	case err != nil:
		return usageError{err}
	case fs.NArg() < least || fs.NArg() > most:
		return usage("%s takes %s, not %d; flags come before them", fs.Name(), argumentsText(least, most), fs.NArg())
	}
	return nil
}

func argumentsText(least, most int) string {
	switch {
	case most == 0:
		return "no arguments"
	case least == most:
		return fmt.Sprintf("%d argument", most)
	}
	return fmt.Sprintf("%d to %d arguments", least, most)
}
