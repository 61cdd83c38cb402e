package pace

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A clock walks a random tree and tells a meter.
type walk struct {
	random *rand.Rand
	skew   float64 // how different the children of a node are
	at     float64 // seconds
	share  float64
	tell   func(at, share float64)
}

// tree takes as many seconds as its size; every node has a few children, with equal shares.
func (w *walk) tree(size, share float64) {
	if size <= 1 {
		w.at, w.share = w.at+size, w.share+share
		w.tell(w.at, w.share)
		return
	}
	parts, sum := make([]float64, 2+w.random.Intn(4)), 0.0
	for i := range parts {
		parts[i] = math.Exp(w.skew * w.random.NormFloat64())
		sum += parts[i]
	}
	for _, p := range parts {
		w.tree(size*p/sum, share/float64(len(parts)))
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// TestRangeHolds: in random trees the range holds as often as the package comment says, and is as wide. It looks at
// each twentieth of the tree.
func TestRangeHolds(t *testing.T) {
	for _, c := range []struct{ skew, least, widest float64 }{{0.2, 0.7, 2.5}, {0.5, 0.7, 8}, {1, 0.6, 80}} {
		held, looks, logs := 0, 0, 0.0
		for seed := range int64(60) {
			const size = 2000
			m, next := &Meter{}, Least
			w := &walk{random: rand.New(rand.NewSource(seed)), skew: c.skew}
			w.tell = func(at, share float64) {
				m.Add(seconds(at), share)
				if share < next || share > 0.96 {
					return
				}
				next += 0.05
				left, known := m.estimate(seconds(at))
				if !known && share < 0.1 {
					return // the share grew by few and large steps
				}
				if !known || left.Least > left.Most || left.Least <= 0 {
					t.Fatalf("at %.2f of the tree: %v, %v", share, left, known)
				}
				looks++
				if real := seconds(size - at); left.Least <= real && real <= left.Most {
					held++
				}
				logs += math.Log(left.Most.Seconds() / left.Least.Seconds())
			}
			w.tree(size, 1)
		}
		rate, factor := float64(held)/float64(looks), math.Exp(logs/float64(looks))
		t.Logf("skew %v: the range holds in %.0f %% of %d looks, and its ends are a factor of %.1f apart", c.skew,
			100*rate, looks, factor)
		if rate < c.least || factor > c.widest {
			t.Errorf("skew %v: want at least %.0f %% and at most a factor of %v", c.skew, 100*c.least, c.widest)
		}
	}
}

// TestNotYet: below a twentieth of the tree nothing is said, however fast it went.
func TestNotYet(t *testing.T) {
	m := &Meter{}
	for i := range 49 {
		m.Add(time.Duration(i+1)*time.Second, float64(i+1)/1000)
		if left, known := m.Left(time.Minute); known {
			t.Fatalf("at %d thousandths: %v", i+1, left)
		}
	}
	m.Add(50*time.Second, 0.05)
	if left, known := m.Left(50 * time.Second); !known || left.Least < 900*time.Second || left.Most > 1000*time.Second {
		t.Errorf("at an even pace, 950 s before the end: %v, %v", left, known)
	}
}

// TestEven: at an even pace the range is the truth; a halt makes it longer and wider.
func TestEven(t *testing.T) {
	m := &Meter{}
	for i := range 5000 {
		m.Add(time.Duration(i+1)*time.Second, float64(i+1)/10_000)
	}
	even, _ := m.Left(5000 * time.Second)
	if even.Least < 4900*time.Second || even.Most > 5100*time.Second {
		t.Errorf("half way in 5000 s: %v", even)
	}
	if len(m.points) > 1/step {
		t.Errorf("%d points are remembered", len(m.points))
	}
	halted, _ := m.estimate(8000 * time.Second)
	if halted.Most < 2*even.Most || halted.Least > 8000*time.Second {
		t.Errorf("after a halt: %v", halted)
	}
}

// TestTooWide: a range that says nothing is not told, as of a run that goes on with most of its tree from a checkpoint,
// or whose first part was easy; near the end any range is.
func TestTooWide(t *testing.T) {
	uneven := &Meter{}
	for i := range 80 {
		uneven.Add(time.Duration(i+1)*10*time.Millisecond, float64(i+1)/100)
	}
	if left, known := uneven.Left(time.Second); !known {
		t.Errorf("at an even pace nothing is said: %v", left)
	}
	uneven.Add(5*time.Minute, 0.85)
	wide, _ := uneven.estimate(5 * time.Minute)
	if left, known := uneven.Left(5 * time.Minute); known || wide.Most < tooWide*wide.Least {
		t.Errorf("%v is told, of %v", left, wide)
	}
	ending := &Meter{}
	for i, at := range []int{100, 200, 300, 460} {
		ending.Add(time.Duration(at)*time.Second, float64(i+1)/4-0.001)
	}
	wide, _ = ending.estimate(460 * time.Second)
	if left, known := ending.Left(460 * time.Second); !known || left != wide || wide.Most < tooWide*wide.Least {
		t.Errorf("near the end %v is told, of %v", left, wide)
	}
}

// TestAnything: whatever is told, the range is one, and what goes back is ignored.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Meter{}
		for range rapid.IntRange(0, 600).Draw(t, "points") {
			at := rapid.Int64Range(-1e9, 1e18).Draw(t, "at")
			m.Add(time.Duration(at), rapid.Float64().Draw(t, "share"))
		}
		left, known := m.Left(time.Duration(rapid.Int64Range(-1e9, math.MaxInt64).Draw(t, "now")))
		if len(m.points) > 1/step+1 || left.Least < 0 || left.Least > left.Most || left.Most > MaxLeft ||
			!known && left != (Left{}) {
			t.Fatalf("%d points, %v, %v", len(m.points), left, known)
		}
		for i, p := range m.points[min(1, len(m.points)):] {
			if old := m.points[i]; p.at <= old.at || p.share <= old.share {
				t.Fatalf("%v after %v", p, old)
			}
		}
	})
}
