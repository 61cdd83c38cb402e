package wan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
)

// Statistics of the synthetic recording. The first group imitates what the Network Weather Service records
// for wide-area pairs; the second is the Dutch DAS system of about 1998; the third is not published and was
// fitted to what the paper says CRS lost in scenario 9 (see scenarios/README.md).
const (
	sampleEvery = 10  // seconds between two measurements of a pair
	samplesKept = 60  // then the series repeats: ten minutes
	memory      = 0.8 // AR(1) coefficient of the log of the load from sample to sample
	spread      = 0.5 // standard deviation of the log of the load

	idleBandwidth = 550e3 // bytes/s that one stream gets of a 6 Mbit/s ATM circuit when nobody else does
	idleLatency   = 2e-3  // seconds, one way

	congestedPairA, congestedPairB = 1, 3 // the sites whose circuit others fill
	congestedShare                 = 0.5  // of the samples of that pair
	congestedBandwidth             = 2e3  // bytes/s
	congestedLatency               = 8.0  // seconds, one way
)

// SyntheticDAS writes a trace for four clusters with the statistics above. Equal seeds write equal bytes.
func SyntheticDAS(seed uint64) []byte {
	const clusters = 4
	random := rand.New(rand.NewPCG(seed, 0x6e7773))
	load := make([]float64, clusters*clusters)   // log of the slowdown, per direction
	congested := make([]bool, clusters*clusters) // both directions alike
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Synthetic, not recorded: satin-sim nws --seed %d. Seconds, from, to, bytes/s, seconds.\n",
		seed)
	fmt.Fprintf(&out, "period %d\n", sampleEvery*samplesKept)
	for i := range samplesKept {
		for a := 1; a <= clusters; a++ {
			for b := 1; b <= clusters; b++ {
				if a == b {
					continue
				}
				k := (a-1)*clusters + b - 1
				load[k] = float64(memory*load[k]) + float64(spread*math.Sqrt(1-memory*memory)*random.NormFloat64())
				if a < b && a == congestedPairA && b == congestedPairB {
					// Bad times last five samples on average, good ones as their share demands.
					leave := 0.2
					if !congested[k] {
						leave = 0.2 * congestedShare / (1 - congestedShare)
					}
					if random.Float64() < leave {
						congested[k] = !congested[k]
					}
					congested[(b-1)*clusters+a-1] = congested[k]
				}
				bandwidth, latency := idleBandwidth, idleLatency
				if congested[k] {
					bandwidth, latency = congestedBandwidth, congestedLatency
				}
				slow := math.Exp(math.Abs(load[k]))
				fmt.Fprintf(&out, "%d %d %d %.0f %.4f\n", i*sampleEvery, a, b, bandwidth/slow, latency*slow)
			}
		}
	}
	return out.Bytes()
}
