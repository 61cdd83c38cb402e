// Bench prints the figures that satin promises, as ratios: contenders run in turn within the same minute,
// round after round, in programs of their own that stay warm; ratios are taken within a round, and medians of
// the rounds are given with their quartiles. See package ask for how it talks to those programs, and
// interleave.go for the order.
//
//	go run . [-rounds N] [-write] [-cells CELLS] [SECTION ...]
//
// Sections are fib, apps, golomb, leaf, thief and udp, of one machine's engine; steal, swarm, cost, apart and members,
// of processes that work together; idle, of those that do not; wide and adaptive, of processes over an emulated
// network; recovery and alarms, of those that are lost; objects, of what they share; hosts and steps, of a search and a
// program in steps that lose some; tab, of browsers that help; yield, of the owner's program beside a daemon; and
// watched and page, of what it costs to be watched. Without any, those of the engine run, in about a third of an hour
// on two cores. APPS="uts sat" in the environment chooses among the applications of apps and of apart. -write keeps the
// figures in docs/results, in a page for each of these. It is a module of its own, so that the rivals it measures stay
// out of satin's go.mod. `make bench BENCH=fib` at the root runs a section, `make bench-swarm` those of processes.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A section measures one promise.
type section struct {
	name    string
	page    string // in docs/results
	measure func(w *workshop, rounds int) ([]table, error)
}

var sections = []section{
	{"fib", enginePage, forkJoin},
	{"apps", enginePage, applications},
	{"golomb", enginePage, rulers},
	{"leaf", enginePage, leaf},
	{"thief", enginePage, thief},
	{"udp", enginePage, packets},
	{"steal", swarmPage, stealing},
	{"swarm", swarmPage, swarms},
	{"cost", swarmPage, costs},
	{"apart", swarmPage, apart},
	{"members", swarmPage, vouching},
	{"idle", idlePage, idling},
	{"wide", widePage, wideArea},
	{"adaptive", adaptivePage, adapting},
	{"recovery", recoveryPage, recoveries},
	{"alarms", recoveryPage, alarms},
	{"objects", objectsPage, sharing},
	{"hosts", objectsPage, hosts},
	{"steps", objectsPage, steps},
	{"tab", tabPage, tabs},
	{"yield", yieldPage, yielding},
	{"watched", watchedPage, watching},
	{"page", watchedPage, showing},
}

// The pages that -write makes, and where.
const (
	enginePage   = "bench.md"
	swarmPage    = "swarm.md"
	idlePage     = "idle.md"
	widePage     = "wide.md"
	adaptivePage = "adaptive.md"
	watchedPage  = "dashboard.md"
	recoveryPage = "recovery.md"
	objectsPage  = "objects.md"
	tabPage      = "tab.md"
	yieldPage    = "yield.md"
	resultsDir   = "../../docs/results"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	rounds := flag.Int("rounds", 9, "how often all contenders take their turn, 3 to 1000")
	write := flag.Bool("write", false, "also write the figures to docs/results; all sections of one page must run")
	flag.Parse()
	if *rounds < 3 || *rounds > 1000 {
		log.Fatalf("-rounds is %d; allowed are 3 to 1000", *rounds)
	}
	chosen, err := choose(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	page, err := pageOf(chosen)
	if *write && err != nil {
		log.Fatal(err)
	}
	report, err := measure(chosen, *rounds)
	if err != nil {
		log.Fatal(err)
	}
	if *write {
		if err := os.WriteFile(filepath.Join(resultsDir, page), []byte(report), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// pageOf is the page that the sections make: all of its own, and no other.
func pageOf(chosen []section) (string, error) {
	var pages []string
	of := map[string][]string{}
	for _, s := range sections {
		if of[s.page] == nil {
			pages = append(pages, s.page)
		}
		of[s.page] = append(of[s.page], s.name)
	}
	page := chosen[0].page
	if len(chosen) == len(of[page]) && !slices.ContainsFunc(chosen, func(s section) bool { return s.page != page }) {
		return page, nil
	}
	for i, p := range pages {
		pages[i] = strings.Join(of[p], " ")
	}
	return "", fmt.Errorf("-write is for all sections of one page: %s", strings.Join(pages, ", or "))
}

// choose finds the named sections; those of the engine if none is named.
func choose(names []string) ([]section, error) {
	var chosen []section
	if len(names) == 0 {
		for _, s := range sections {
			if s.page == enginePage {
				chosen = append(chosen, s)
			}
		}
		return chosen, nil
	}
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

// heading says when, where and how the figures were made.
func heading(chosen []section, rounds int) string {
	names := ""
	for _, s := range chosen {
		names += " " + s.name
	}
	return fmt.Sprintf("# Figures of satin\n\n%s, %s.\n\nMedians and quartiles of the rounds; made by "+
		"`cd internal/bench && go run . -rounds %d%s`.\n", time.Now().Format("2 January 2006"), machine(), rounds, names)
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
	show(heading(chosen, rounds))
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
