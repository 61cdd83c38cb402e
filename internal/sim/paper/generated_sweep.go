package paper

import (
	"fmt"
	"time"
)

// generatedSweep changes one range at a time, to about half and to about twice of what it is.
var generatedSweep = []struct {
	what   string
	change func(*generatedRanges)
}{
	{"as above", func(*generatedRanges) {}},
	{"20s of work for every peer", func(g *generatedRanges) { g.each = 20 * time.Second }},
	{"80s of work", func(g *generatedRanges) { g.each = 80 * time.Second }},
	{"3 to 6 clusters", func(g *generatedRanges) { g.clusters = [2]int{3, 6} }},
	{"6 to 24 clusters", func(g *generatedRanges) { g.clusters = [2]int{6, 24} }},
	{"1 to 8 peers in a cluster", func(g *generatedRanges) { g.size = [2]float64{1, 8} }},
	{"8 to 64 peers in a cluster", func(g *generatedRanges) { g.size = [2]float64{8, 64} }},
	{"at most 48 peers, 32 in a cluster", func(g *generatedRanges) { g.peers, g.size[1] = 48, 32 }},
	{"at most 192 peers", func(g *generatedRanges) { g.peers = 192 }},
	{"20 to 200 KB/s", func(g *generatedRanges) { g.rate = [2]float64{20e3, 200e3} }},
	{"200 KB/s to 10 MB/s", func(g *generatedRanges) { g.rate = [2]float64{200e3, 10e6} }},
	{"1 to 10 ms", func(g *generatedRanges) { g.latency = [2]float64{1e-3, 1e-2} }},
	{"10 to 200 ms", func(g *generatedRanges) { g.latency = [2]float64{1e-2, 0.2} }},
	{"no way gets slower", func(g *generatedRanges) { g.slows = 0 }},
	{"12 ways get slower", func(g *generatedRanges) { g.slows = 12 }},
	{"nobody leaves or comes", func(g *generatedRanges) { g.times = 0 }},
	{"16 leave and come", func(g *generatedRanges) { g.times = 16 }},
}

// sweptRivals are the published policies that come nearest to ours.
var sweptRivals = []string{"crs", "acrs"}

// sweepGenerated adds what becomes of the lead of ours when each range is another one.
func sweepGenerated(o Options, d *Document) error {
	d.para("## When a range is another one")
	d.para("One range at a time, against the published policies that come nearest; the same seeds, speedup on 64.")
	rows := [][]string{{"range", adaptive, "ours less crs", "95 % interval", "ours less acrs", "95 % interval"}}
	for _, s := range generatedSweep {
		g := usual
		s.change(&g)
		of, err := g.byPolicy(o, append([]string{adaptive}, sweptRivals...))
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		row := []string{s.what, of[adaptive].String()}
		for _, p := range sweptRivals {
			interval, _ := reaches(of[adaptive], of[p])
			mean, _ := lead(of[adaptive], of[p])
			row = append(row, fmt.Sprintf("%+.1f", mean), interval)
		}
		rows = append(rows, row)
	}
	d.table(rows)
	return nil
}
