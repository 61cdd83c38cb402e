package locality

import (
	"math"
	"time"

	"github.com/hashicorp/serf/coordinate"
)

// A position is this peer's place in Vivaldi coordinates (Dabek, Cox, Kaashoek and Morris, SIGCOMM 2004), kept by
// package coordinate of serf.
type position struct {
	client  *coordinate.Client
	updates int
}

const (
	// dimensions of a position; its encoding has the error, adjustment and height besides.
	dimensions = 8
	encoded    = dimensions + 3
	// shortest is what shorter round trips count as: the algorithm weighs relative errors, and those of round
	// trips in one room would drown the others. So distances within a cluster come out as about this.
	shortest = 2 * time.Millisecond
	// confident is the largest error of two positions whose distance is believed.
	confident = 0.3
	// reliableAfter is how many measurements make this peer's own position worth something.
	reliableAfter = 32
)

func newPosition() (*position, error) {
	cfg := coordinate.DefaultConfig()
	cfg.Dimensionality = dimensions
	client, err := coordinate.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	return &position{client: client}, nil
}

// decode reads another peer's position; nil if it is none.
func decode(p []float64) *coordinate.Coordinate {
	if len(p) != encoded {
		return nil
	}
	c := &coordinate.Coordinate{Vec: p[:dimensions:dimensions], Error: p[dimensions], Adjustment: p[dimensions+1],
		Height: p[dimensions+2]}
	if !c.IsValid() || c.Error <= 0 || c.Height < 0 {
		return nil
	}
	for _, x := range p { // in seconds: one who claims to be farther off would only throw others about
		if math.Abs(x) > maxRTT.Seconds() {
			return nil
		}
	}
	return c
}

func (p *position) encode() []float64 {
	if p.updates == 0 {
		return nil
	}
	c := p.client.GetCoordinate()
	return append(append([]float64(nil), c.Vec...), c.Error, c.Adjustment, c.Height)
}

// update moves this peer with a measurement.
func (p *position) update(id string, other []float64, rtt time.Duration) {
	c := decode(other)
	if c == nil {
		// one who begins: at the origin, with the largest error
		c = coordinate.NewCoordinate(coordinate.DefaultConfig())
	}
	if _, err := p.client.Update(id, c, max(rtt, shortest)); err == nil {
		p.updates++
	}
}

func (p *position) forget(id string) { p.client.ForgetNode(id) }

// distance is the round trip to expect; 0 if the positions are not good enough to tell.
func (p *position) distance(other []float64) time.Duration {
	c := decode(other)
	if c == nil || p.updates < reliableAfter || c.Error > confident || p.client.GetCoordinate().Error > confident {
		return 0
	}
	return max(p.client.DistanceTo(c), 1)
}
