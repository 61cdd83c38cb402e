package main

import (
	"fmt"
	"io"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

const timelineColumns = 100

// shades from idle to busy.
var shades = []rune(" ·-=+*#@")

// drawTimeline draws a line a peer: how busy it was in each stretch of time.
func drawTimeline(out io.Writer, r *sim.Report, sizes []int, bucket time.Duration) {
	fmt.Fprintf(out, "A column is %v; idle '%c' to busy '%c'.\n", bucket.Round(time.Millisecond), shades[0],
		shades[len(shades)-1])
	border := 0
	cluster := 0
	for p, row := range r.Timeline {
		if p == border && cluster < len(sizes) {
			border += sizes[cluster]
			cluster++
			fmt.Fprintf(out, "cluster %d\n", cluster)
		}
		line := make([]rune, len(row))
		worked := 0.0
		for i, share := range row {
			worked += share * float64(min(bucket, r.Elapsed-time.Duration(i)*bucket)) // the last one is shorter
			line[i] = shades[min(len(shades)-1, int(share*float64(len(shades))))]
		}
		fmt.Fprintf(out, "p%03d |%s| %3.0f %%\n", p, string(line), 100*worked/max(1, float64(r.Elapsed)))
	}
}
