// Bench prints the figures that satin promises, as ratios: contenders run in turn within the same minute, round after
// round, in programs of their own that stay warm; ratios are taken within a round, and medians of the rounds are given
// with their quartiles. See package ask for how it talks to those programs, and interleave.go for the order.
//
//	go run . [-rounds N] [-write] [-cells CELLS] [SECTION ...]
//
// Sections are fib, apps, leaf, thief, udp, steal, swarm and wide; without any, all run, in about an hour on two cores. It is a module of
// its own, so that the rivals it measures stay out of satin's go.mod. `make bench BENCH=fib` at the root runs a section.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"
)

// A section measures one promise.
type section struct {
	name    string
	measure func(w *workshop, rounds int) ([]table, error)
}

var sections = []section{
	{"fib", forkJoin},
	{"apps", applications},
	{"leaf", leaf},
	{"thief", thief},
	{"udp", packets},
	{"steal", stealing},
	{"swarm", swarms},
	{"wide", wideArea},
}

// resultsFile is where -write puts the figures.
const resultsFile = "../../docs/results/bench.md"

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	rounds := flag.Int("rounds", 9, "how often all contenders take their turn, 3 to 1000")
	write := flag.Bool("write", false, "also write the figures of a whole run to docs/results/bench.md")
	flag.Parse()
	if *rounds < 3 || *rounds > 1000 {
		log.Fatalf("-rounds is %d; allowed are 3 to 1000", *rounds)
	}
	chosen, err := choose(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	if *write && len(chosen) < len(sections) {
		log.Fatal("-write is for a run of all sections")
	}
	report, err := measure(chosen, *rounds)
	if err != nil {
		log.Fatal(err)
	}
	if *write {
		if err := os.WriteFile(resultsFile, []byte(report), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// choose finds the named sections; all of them if none is named.
func choose(names []string) ([]section, error) {
	if len(names) == 0 {
		return sections, nil
	}
	var chosen []section
	for _, name := range names {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			var known []string
			for _, s := range sections {
				known = append(known, s.name)
			}
			return nil, fmt.Errorf("no section %q; there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, sections[i])
	}
	return chosen, nil
}

// measure runs the sections and prints each table as it comes. The report is all of them.
func measure(chosen []section, rounds int) (report string, err error) {
	w, err := newWorkshop()
	if err != nil {
		return "", err
	}
	defer w.close()
	show := func(text string) {
		fmt.Println(text)
		report += text + "\n"
	}
	show(fmt.Sprintf("# Figures of satin\n\n%s, %s.\n\nMedians and quartiles of the rounds; made by `make bench`.\n",
		time.Now().Format("2 January 2006"), machine()))
	for _, s := range chosen {
		tables, err := s.measure(w, rounds)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		for _, t := range tables {
			show(t.String())
		}
	}
	return report, nil
}
