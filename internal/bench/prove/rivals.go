package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// solvers are those that Debian packages and that take a file in DIMACS; exit codes are those of the SAT competitions.
var solvers = []string{"cadical", "kissat", "cryptominisat5", "picosat", "minisat", "glucose"}

const (
	exitModel   = 10
	exitNoModel = 20
)

// rivals prints the median processor time of each solver for each formula.
func (p *peer) rivals(rounds, patience int) error {
	there := slices.DeleteFunc(slices.Clone(solvers), func(name string) bool {
		_, err := exec.LookPath(name)
		return err != nil
	})
	if len(there) == 0 {
		return errors.New("no other solver is installed: apt-get install cadical minisat picosat")
	}
	fmt.Printf("| formula | model | satin-peer, 1 worker, s | %s |\n|---|---|---|%s\n", strings.Join(there, ", s | ")+", s",
		strings.Repeat("---|", len(there)))
	for _, f := range formulas() {
		file := filepath.Join(p.dir, "rival.cnf")
		if err := f.write(p, file); err != nil {
			return err
		}
		times := make([][]time.Duration, len(there)+1)
		verdicts := map[bool]string{}
		for range rounds {
			for i := range times {
				name := "satin-peer"
				if i > 0 {
					name = there[i-1]
				}
				spent, model, done, err := p.solve(name, file, patience)
				if err != nil {
					return fmt.Errorf("%s on %s: %w", name, f.name, err)
				}
				if !done {
					spent = -1
				} else if verdicts[model] = name; verdicts[!model] != "" {
					return fmt.Errorf("%s: %s and %s do not agree", f.name, name, verdicts[!model])
				}
				times[i] = append(times[i], spent)
			}
		}
		model := "?"
		for m := range verdicts {
			model = map[bool]string{true: "yes", false: "no"}[m]
		}
		fmt.Printf("| %s | %s |", f.name, model)
		for _, t := range times {
			slices.Sort(t)
			if median := t[len(t)/2]; median < 0 {
				fmt.Printf(" > %d |", patience)
			} else {
				fmt.Printf(" %.2f |", median.Seconds())
			}
		}
		fmt.Println()
	}
	return nil
}

// solve has a solver decide the formula in a file, within so many seconds of processor time, which the system ends.
func (p *peer) solve(name, file string, patience int) (spent time.Duration, model, done bool, err error) {
	line := []string{name, file}
	if name == "satin-peer" {
		line = []string{p.binary, "run", "sat", "--local", "--workers", "1", file}
	}
	limit := fmt.Sprintf(`ulimit -t %d; exec "$@"`, patience)
	cmd := exec.Command("sh", append([]string{"-c", limit, "sh"}, line...)...)
	cmd.Env = []string{"HOME=" + p.dir, "SATIN_STATE_DIR=" + p.dir, "SATIN_RUNTIME_DIR=" + p.dir,
		"PATH=" + os.Getenv("PATH")}
	out, err := swarm.Output(cmd)
	if end := (*exec.ExitError)(nil); err != nil && !errors.As(err, &end) {
		return 0, false, false, err
	}
	spent = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if cmd.ProcessState.ExitCode() < 0 && spent >= time.Duration(patience)*time.Second*9/10 {
		return 0, false, false, nil // a signal ended it
	}
	switch code := cmd.ProcessState.ExitCode(); {
	case code == exitModel || code == 0 && strings.Contains(string(out), "s SATISFIABLE"):
		return spent, true, true, nil
	case code == exitNoModel || code == 0 && strings.Contains(string(out), "s UNSATISFIABLE"):
		return spent, false, true, nil
	}
	return 0, false, false, fmt.Errorf("exit code %d: %.200s", cmd.ProcessState.ExitCode(), out)
}

// A formula is made by satin-peer, by its arguments, or here.
type formula struct {
	name string
	args []string
	made [][]int
}

func (f *formula) write(p *peer, file string) error {
	if f.args != nil {
		// --estimate is the cheapest run that writes the formula
		_, _, _, err := p.run(append(f.args, "--formula", file, "--threshold", "1", "--estimate", "2")...)
		return err
	}
	most := 0
	var b strings.Builder
	for _, c := range f.made {
		for _, l := range c {
			most = max(most, l, -l)
			fmt.Fprint(&b, l, " ")
		}
		b.WriteString("0\n")
	}
	return os.WriteFile(file, []byte(fmt.Sprintf("p cnf %d %d\n%s", most, len(f.made), b.String())), 0o644)
}
