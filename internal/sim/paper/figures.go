package paper

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// policies of the sweeps: the published two, and ours.
var sweepPolicies = []string{"rs", "crs", adaptive}

// adaptive is ours: nothing is published of it.
const adaptive = "adaptive"

// point is one place on a curve.
type point struct {
	label     string
	network   network
	published map[string]float64 // by policy
}

// sweep runs the raytracer over points of an axis and tabulates a figure. It returns what was run: point by point, of
// each one policy after the other.
func sweep(o Options, d *Document, axis string, policies []string, points []point, what func(*App) figure) (
	[][]*sim.Report, error) {
	var setups []Setup
	for _, p := range points {
		for _, policy := range policies {
			setups = append(setups, Setup{App: raytracer, Network: p.network.network, Policy: policy,
				Overhead: raytracer.Overhead})
		}
	}
	reports, err := measure(o.of(axis), setups)
	if err != nil {
		return nil, err
	}
	header := []string{axis}
	for _, policy := range policies {
		if policy != adaptive {
			header = append(header, policy+", published")
		}
		header = append(header, policy+", simulated")
	}
	rows := [][]string{header}
	for i, p := range points {
		row := []string{p.label}
		for k, policy := range policies {
			if policy != adaptive {
				row = append(row, published(p.published[policy]))
			}
			row = append(row, collect(reports[i*len(policies)+k], what(raytracer)).String())
		}
		rows = append(rows, row)
	}
	d.table(rows)
	return reports, nil
}

func makeFigureTwo(o Options) (*Document, error) {
	d := new(Document)
	d.para("# Figure 2: sensitivity to latency and bandwidth")
	d.para("Run time of the raytracer in seconds on four clusters of 16 (CRS paper, 3.2). The curves survive only as pictures; "+
		"published are the figures that the text names. Mean and half the range over %s, Manta's spawn overhead.",
		o.seeds())
	d.para("## One-way latency, at 100 KB/s")
	var points []point
	for _, ms := range []int{1, 10, 50, 100, 200, 500, 1000} {
		said := map[int]map[string]float64{
			10: {"rs": 171.6, "crs": 152.6}, 100: {"rs": 182.6, "crs": 149.3}, 1000: {"crs": 167.1},
		}[ms]
		points = append(points, point{fmt.Sprintf("%d ms", ms),
			network{"", uniform(fourBySixteen, time.Duration(ms)*time.Millisecond, 100e3)}, said})
	}
	if _, err := sweep(o, d, "latency", sweepPolicies, points, runTime); err != nil {
		return nil, err
	}
	d.para("## Bandwidth, at 100 ms one way")
	points = nil
	for _, kb := range sweptBandwidths {
		said := map[float64]map[string]float64{
			1000: {"rs": 175.8, "crs": 146.5}, 100: {"rs": 182.6, "crs": 149.3},
			20: {"crs": 8880 / 50.8}, 1: {"crs": 569.2},
		}[kb]
		points = append(points, point{fmt.Sprintf("%v KB/s", kb),
			network{"", uniform(fourBySixteen, 100*time.Millisecond, kb*1e3)}, said})
	}
	traced, err := sweep(o, d, "bandwidth", sweepPolicies, points, runTime)
	if err != nil {
		return nil, err
	}
	return d, sweepApplications(o, d, traced)
}

// sweptBandwidths are in KB/s.
var sweptBandwidths = []float64{1000, 100, 50, 20, 10, 5, 2, 1}

// sweepApplications adds what every application makes of each bandwidth, and which it needs: the paper sweeps the ray
// tracer's alone, the one with the longest results, whose runs are traced.
func sweepApplications(o Options, d *Document, traced [][]*sim.Report) error {
	var setups []Setup
	for _, a := range Apps() {
		for _, kb := range sweptBandwidths {
			for _, policy := range sweepPolicies {
				if a == raytracer {
					continue
				}
				setups = append(setups, Setup{App: a, Policy: policy, Overhead: a.Overhead,
					Network: uniform(fourBySixteen, 100*time.Millisecond, kb*1e3)})
			}
		}
	}
	reports, err := measure(o.of("applications"), setups)
	if err != nil {
		return err
	}
	d.para("## Bandwidth, every application")
	d.para("Parallel efficiency in percent at 100 ms one way, and the least bandwidth of these with which a run is at most a "+
		"tenth longer than with %v KB/s and all above it are, too.", sweptBandwidths[0])
	header := []string{"application", "policy"}
	for _, kb := range sweptBandwidths {
		header = append(header, fmt.Sprintf("%v KB/s", kb))
	}
	rows := [][]string{append(header, "needs")}
	for _, a := range Apps() {
		of := traced
		if a != raytracer {
			n := len(sweptBandwidths) * len(sweepPolicies)
			of, reports = reports[:n], reports[n:]
		}
		for i, policy := range sweepPolicies {
			row, times := []string{a.Name, policy}, sample(nil)
			for k := range sweptBandwidths {
				r := of[k*len(sweepPolicies)+i]
				row = append(row, collect(r, efficiency(a)).String())
				times = append(times, collect(r, runTime(a)).mean())
			}
			least := 0
			for least+1 < len(times) && times[least+1] <= 1.1*times[0] {
				least++
			}
			rows = append(rows, append(row, fmt.Sprintf("%v KB/s", sweptBandwidths[least])))
		}
	}
	d.table(rows)
	return nil
}

func makeFigureThree(o Options) (*Document, error) {
	d := new(Document)
	d.para("# Figure 3: cluster sizes")
	d.para("Run time of the raytracer in seconds on 32 peers; 100 ms one way, 100 KB/s (CRS paper, 3.3). Mean and half the "+
		"range over %s, Manta's spawn overhead.", o.seeds())
	var points []point
	for clusters := 1; clusters <= 32; clusters *= 2 {
		said := map[int]map[string]float64{1: {"rs": 288.9, "crs": 288.9}, 16: {"crs": 303.1}}[clusters]
		points = append(points, point{fmt.Sprintf("%d x %d", clusters, 32/clusters),
			network{"", uniform(alike(32/clusters, clusters), 100*time.Millisecond, 100e3)}, said})
	}
	if _, err := sweep(o, d, "clusters x peers", sweepPolicies, points, runTime); err != nil {
		return nil, err
	}
	d.para("# Asymmetric cluster sizes")
	d.para("Speedups of the raytracer on 64 peers; 100 ms one way (CRS paper, 3.3).")
	points = []point{
		{"16+16+16+16, 100 KB/s", network{"", uniform(fourBySixteen, 100*time.Millisecond, 100e3)},
			map[string]float64{"crs": 59.7}},
		{"16+48, 100 KB/s", network{"", uniform([]int{16, 48}, 100*time.Millisecond, 100e3)},
			map[string]float64{"rs": 42.6, "crs": 54.3}},
		{"16+48, 600 KB/s", network{"", uniform([]int{16, 48}, 100*time.Millisecond, 600e3)},
			map[string]float64{"rs": 53.6, "crs": 58.4}},
		{"8+8+8+40, 100 KB/s", network{"", uniform([]int{8, 8, 8, 40}, 100*time.Millisecond, 100e3)},
			map[string]float64{"rs": 45.8, "crs": 54.7}},
	}
	_, err := sweep(o, d, "clusters", sweepPolicies, points, speedup)
	return d, err
}
