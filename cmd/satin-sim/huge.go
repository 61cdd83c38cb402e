package main

import (
	"flag"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/sim/paper"
)

const maxHuge = 100_000

// huge measures what a peer costs in swarms of many sizes.
func huge(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("huge", flag.ContinueOnError)
	peers := fs.String("peers", "64,1024,10000", "`sizes` of the swarms")
	clusters := fs.String("clusters", "4,64,80", "`numbers` of their clusters")
	long := fs.Duration("time", time.Hour, "virtual time that each works for, about, at least 10s")
	dir := fs.String("out", "", "write sim-huge.md into this `folder` instead of to standard output")
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	n, ofClusters := strings.Split(*peers, ","), strings.Split(*clusters, ",")
	if len(n) != len(ofClusters) || *long < 10*time.Second || *long > 24*time.Hour {
		return usage("--peers %s in --clusters %s for %v: as many numbers of both, and 10s to 24h, are possible", *peers,
			*clusters, *long)
	}
	debug.SetGCPercent(100) // of this much memory there is no four times as much
	var sizes []paper.Huge
	for i := range n {
		p, err := strconv.Atoi(n[i])
		c, wrong := strconv.Atoi(ofClusters[i])
		if err != nil || wrong != nil || p < 2 || p > maxHuge || c < 1 || p%c != 0 {
			return usage("%s peers in %s clusters: 2 to %d are possible, as many in each cluster", n[i], ofClusters[i], maxHuge)
		}
		sizes = append(sizes, paper.Huge{Peers: p, Clusters: c, For: *long})
	}
	doc, err := paper.MakeHuge(paper.Options{Seeds: 1, Progress: progress}, sizes)
	if err != nil {
		return err
	}
	doc.Made("satin-sim huge --peers %s --clusters %s --time %v", *peers, *clusters, *long)
	return deliver(doc, *dir, "huge", out)
}
