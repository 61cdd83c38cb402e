package policy

import (
	"math"
	"testing"
	"time"
)

// CRS paper, 3.6, Table II: steal times of 110, 200 and 130 ms give chances of 42.86, 23.81 and 33.33 %. (The
// paper computes with inverses rounded to 0.009, 0.005 and 0.007; unrounded, equation 2 gives 41.7, 22.9 and
// 35.3 %.)
func TestACRSTableII(t *testing.T) {
	v := scene{clusters: "a: a1, b: b1 b2 b3 b4, c: c1 c2 c3 c4, d: d1 d2 d3 d4", self: "a1", links: map[ClusterID]Link{
		"b": {LastSteal: 110 * time.Millisecond}, "c": {LastSteal: 200 * time.Millisecond},
		"d": {LastSteal: 130 * time.Millisecond}}}.view()
	count := make(map[ClusterID]int)
	n := 100_000
	for range n {
		id, _ := drawByTime(v)
		m, _ := v.members.Find(id)
		count[m.Cluster]++
	}
	sum := 1/110.0 + 1/200.0 + 1/130.0
	for id, ms := range map[ClusterID]float64{"b": 110, "c": 200, "d": 130} {
		want := 1 / ms / sum
		if got := float64(count[id]) / float64(n); math.Abs(got-want) > 0.005 {
			t.Errorf("cluster %s has a chance of %.2f%%, equation 2 says %.2f%%", id, 100*got, 100*want)
		}
	}
}
