//go:build swarm

package chaos_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/internal/swarm/chaos"
)

var (
	seeds    = flag.Int("chaos.seeds", 10, "how many seeds are tried")
	from     = flag.Uint64("chaos.from", 1, "the first of them")
	every    = flag.Uint64("chaos.every", 1, "only each of so many seeds, as those of one theme")
	parallel = flag.Int("chaos.parallel", 2, "how many at the same time")
	brief    = flag.Bool("chaos.brief", true, "take short runs only")
	noLab    = flag.Bool("chaos.nolab", false, "do without network namespaces and small disks")
	program  = flag.String("chaos.program", "", "the satin-peer to run, as one built with -race (default: it is built)")
	keep     = flag.String("chaos.keep", "", "`DIRECTORY` for the logs of seeds that fail")
)

// patience is far more than one seed may take with all its bounds, on whatever machine.
const patience = time.Hour

// TestChaos does harm to swarms. What it prints of a seed that fails says how to repeat it.
func TestChaos(t *testing.T) {
	dir, err := os.MkdirTemp("", "chaos-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary := *program
	if binary == "" {
		if binary, err = swarm.Build(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	if *keep == "" {
		if *keep, err = os.MkdirTemp("", "satin-chaos-"); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(*keep) // which fails if there are logs in it
	}
	liar, err := swarm.BuildProgram(t.Context(), dir, "./internal/swarm/chaos/liar")
	if err == nil {
		err = os.Link(liar, liar+"-alone")
	}
	if err != nil {
		t.Fatal(err)
	}
	hall := &chaos.Hall{Binary: binary, Liar: liar, LiarAlone: liar + "-alone", Dir: dir, NoLab: *noLab}
	turns := make(chan struct{}, *parallel)
	t.Run("seeds", func(t *testing.T) {
		for i := range uint64(*seeds) {
			seed := *from + i**every
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				turns <- struct{}{}
				defer func() { <-turns }()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				report := hall.Try(ctx, chaos.Draw(seed, *brief), *keep)
				if report.Err != nil {
					t.Error(report)
				} else {
					t.Log(report)
				}
			})
		}
	})
	if line := hall.Unmasked(); line != "" {
		t.Log(line)
	}
}
