// Prove prints figures of proofs, as tables for a page:
//
//	go run ./prove series [-most T] [-palindromic] [-probes N] [-dir DIR]
//	go run ./prove rivals [-patience SECONDS] [-rounds N]
//	go run ./prove colouring [-most T] [-seed N] [-patience SECONDS]
//	go run ./prove growth CONFLICTS...
//
// The series are the van der Waerden numbers w(2;3,t) for t = 3 on, or the palindromic ones of both parities: each is
// proved by satin-peer on all cores, and the proof checked by satin-peer check. Rivals are the other solvers that this
// machine has, on formulas of several kinds, by processor time. `make bench-sat` at the root runs both. Growth takes
// what a series has printed, from t = 8 on, and says what comes next. A colouring of the number before w(2;3,T) shows
// that the number is not less.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("prove: ")
	if len(os.Args) < 2 {
		log.Fatal("say series, rivals, colouring or growth")
	}
	if os.Args[1] == "growth" {
		conflicts, err := given(os.Args[2:])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(grown(conflicts))
		return
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	most := flags.Int("most", 13, "the largest t, 3 to 19")
	folded := flags.Bool("palindromic", false, "the palindromic numbers")
	probes := flags.Int("probes", 200, "of Knuth's estimate, for each t from 8 on")
	dir := flags.String("dir", "", "where proofs are written (default a temporary directory)")
	patience := flags.Int("patience", 60, "seconds of processor time for a formula, or of a search")
	rounds := flags.Int("rounds", 3, "how often each solver has its turn")
	seed := flags.Uint64("seed", 7, "of the chance by which a colouring is sought")
	_ = flags.Parse(os.Args[2:])
	if *most < 3 || *most > 19 || *probes < 2 || *rounds < 1 || *patience < 1 {
		log.Fatal("-most is 3 to 19, -probes at least 2, -rounds and -patience at least 1")
	}
	if os.Args[1] == "colouring" {
		if err := printColouring(*most, *seed, time.Duration(*patience)*time.Second); err != nil {
			log.Fatal(err)
		}
		return
	}
	work, err := os.MkdirTemp(*dir, "satin-prove-")
	if err != nil {
		log.Fatal(err)
	}
	err = func() error {
		binary, err := swarm.Build(context.Background(), work)
		if err != nil {
			return err
		}
		peer := peer{binary, work}
		switch os.Args[1] {
		case "series":
			return peer.series(*most, *probes, *folded)
		case "rivals":
			return peer.rivals(*rounds, *patience)
		}
		return fmt.Errorf("no figures %q: say series, rivals, colouring or growth", os.Args[1])
	}()
	if err = errors.Join(err, os.RemoveAll(work)); err != nil {
		log.Fatal(err)
	}
}

// A peer is the command that is measured.
type peer struct{ binary, dir string }

// An answer is what a run says in JSON.
type answer struct {
	Satisfiable bool
	Attempts    uint64
	Conflicts   float64
	Error       float64 `json:"standard_error"`
}

// run has sat run alone on this machine. It gives the answer, and the processor time and the time that it took.
func (p *peer) run(args ...string) (a answer, spent, took time.Duration, err error) {
	out, spent, took, err := p.command(append([]string{"run", "sat", "--local", "--json"}, args...)...)
	if err != nil {
		return a, 0, 0, err
	}
	d := struct{ Answer *answer }{&a}
	return a, spent, took, json.Unmarshal(out, &d)
}

func (p *peer) command(args ...string) (out []byte, spent, took time.Duration, err error) {
	cmd := exec.Command(p.binary, args...)
	cmd.Env = []string{"HOME=" + p.dir, "SATIN_STATE_DIR=" + p.dir, "SATIN_RUNTIME_DIR=" + p.dir}
	began := time.Now()
	if out, err = swarm.Output(cmd); err != nil {
		return nil, 0, 0, err
	}
	return out, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(began), nil
}

// proved writes a proof and has it checked. It gives its size and what the writing, with the solving, and the checking
// took of processor time.
func (p *peer) proved(args ...string) (size int64, writing, checking time.Duration, err error) {
	formula, proof := filepath.Join(p.dir, "f.cnf"), filepath.Join(p.dir, "f.lrat")
	_, writing, _, err = p.run(append(args, "--formula", formula, "--proof", proof)...)
	if err != nil {
		return 0, 0, 0, err
	}
	_, checking, _, err = p.command("check", formula, proof)
	if err != nil {
		return 0, 0, 0, err
	}
	info, err := os.Stat(proof)
	if err != nil {
		return 0, 0, 0, err
	}
	return info.Size(), writing, checking, os.Remove(proof)
}
