package paper

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// App models one of the four applications of the CRS paper (section 3.1): a job tree and what its jobs cost
// and carry. See the package comment for how the numbers were found.
type App struct {
	Name string
	// Sequential is t_s of the paper's equation 1.
	Sequential time.Duration
	// Overhead is the share by which the application's jobs took longer under Satin on Manta than in the
	// sequential program.
	Overhead float64
	shape    sim.Split
}

// EngineOverhead is the share by which jobs take longer under our engine than in the sequential program, at
// most: what the applications' thresholds are chosen for.
const EngineOverhead = 0.02

// Tree is the application's job tree; another seed is another input of the same kind.
func (a *App) Tree(seed uint64) *sim.Split {
	t := a.shape
	t.Name, t.Total, t.Seed = a.Name, a.Sequential, seed
	t.FanLow, t.FanHigh, t.Peel, t.Even = 2, 2, 0.5, 0.002
	return &t
}

// The applications of Table I.
var (
	// integrate: very short messages, very fine-grained jobs. Intervals are halved in length, not in work:
	// where the function is wild the tree is deep, so most of the work hangs on few children.
	integrate = &App{
		Name: "integrate", Sequential: 4577 * time.Second, Overhead: 0.001,
		shape: sim.Split{Grain: 120 * time.Millisecond, Skew: 20, Arg: 40, Result: 24},
	}
	// queens: medium-size messages, a very irregular tree.
	queens = &App{
		Name: "nqueens", Sequential: 9325 * time.Second, Overhead: 0.075,
		shape: sim.Split{Grain: 250 * time.Millisecond, Skew: 14, Arg: 3000, Result: 100},
	}
	// tsp: the distance table is part of every argument.
	tsp = &App{
		Name: "tsp", Sequential: 5879 * time.Second, Overhead: 0.1,
		shape: sim.Split{Grain: 200 * time.Millisecond, Skew: 16, Arg: 400, Result: 60},
	}
	// raytracer: results are pieces of the picture, of 2^18 bytes in all.
	raytracer = &App{
		Name: "raytracer", Sequential: 8907 * time.Second, Overhead: 0.055,
		shape: sim.Split{Grain: 250 * time.Millisecond, Skew: 11, Arg: 200, Result: 60, Size: 1 << 18, PerUnit: 1},
	}
)

// Apps lists the applications in the order of Table I.
func Apps() []*App { return []*App{integrate, queens, tsp, raytracer} }

// AppNamed finds an application.
func AppNamed(name string) (*App, error) {
	for _, a := range Apps() {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("there is no application model %q; there are integrate, nqueens, tsp, raytracer", name)
}
