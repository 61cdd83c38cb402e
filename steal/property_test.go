package steal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// drawModel draws a world: few peers, all policies, and as many faults as the test asks for.
func drawModel(t *rapid.T, mishaps bool) modelConfig {
	cfg := modelConfig{
		seed:        rapid.Uint64().Draw(t, "seed"),
		peers:       rapid.IntRange(2, 7).Draw(t, "peers"),
		clusters:    rapid.IntRange(1, 3).Draw(t, "clusters"),
		depth:       rapid.IntRange(3, 9).Draw(t, "depth"),
		policy:      rapid.SampledFrom(policy.Names()).Draw(t, "policy"),
		drop:        rapid.Float64Range(0, 0.3).Draw(t, "drop"),
		repeat:      rapid.Float64Range(0, 0.3).Draw(t, "repeat"),
		fail:        rapid.Float64Range(0, 0.2).Draw(t, "fail"),
		delay:       time.Duration(rapid.IntRange(0, 3000).Draw(t, "delay (ms)")) * time.Millisecond,
		wide:        time.Duration(rapid.IntRange(1, 200).Draw(t, "wide (ms)")) * time.Millisecond,
		room:        rapid.SampledFrom([]int{1, 2, 64}).Draw(t, "room"),
		faultsUntil: 20 * time.Second,
	}
	cfg.clusters = min(cfg.clusters, cfg.peers)
	if mishaps {
		cfg.crashes = rapid.IntRange(0, 3).Draw(t, "crashes")
		cfg.leaves = rapid.IntRange(0, 2).Draw(t, "leaves")
		cfg.stalls = rapid.IntRange(0, 4).Draw(t, "stalls")
		cfg.restarts = rapid.IntRange(0, 4).Draw(t, "restarts")
		salvage, naive := steal.Salvage, steal.Naive
		cfg.recovery = rapid.SampledFrom([]steal.Recovery{salvage, salvage, salvage, naive}).Draw(t, "recovery")
		cfg.patience = time.Duration(rapid.SampledFrom([]int{0, 300, 5000}).Draw(t, "patience (ms)")) * time.Millisecond
		cfg.keep = rapid.IntRange(0, 4).Draw(t, "keep")
		cfg.small = rapid.Bool().Draw(t, "small")
	}
	return cfg
}

// Salvaging saves work that naive recovery does again when half the peers crash or leave. What the crashed
// had done in place is lost with them; of leavers next to nothing is.
func TestSalvageSavesWork(t *testing.T) {
	for name, cfg := range map[string]modelConfig{
		"crash": {crashes: 3},
		"leave": {leaves: 3, patience: 5 * time.Second},
	} {
		share := map[string]float64{"crash": 0.25, "leave": 0.05}[name] // of what naive recovery does again
		var ideal, naive, salvaged time.Duration
		for seed := range uint64(7) {
			cfg.seed, cfg.peers, cfg.clusters, cfg.depth, cfg.policy = seed, 6, 1, 9+sure, "crs"
			cfg.room, cfg.wide, cfg.keep, cfg.faultsUntil = 64, time.Millisecond, 1, time.Minute
			work := func(cfg modelConfig) time.Duration {
				w := newModel(cfg)
				if err := w.run(time.Hour); err != nil {
					t.Fatal(err)
				}
				return w.work
			}
			calm := cfg
			calm.crashes, calm.leaves = 0, 0
			i := work(calm)
			if i < 3*time.Second {
				continue // too short for anything to happen to it
			}
			cfg.recovery = steal.Naive
			n := work(cfg)
			cfg.recovery = steal.Salvage
			s := work(cfg)
			ideal, naive, salvaged = ideal+i, naive+n, salvaged+s
		}
		t.Logf("%s: ideal %v, naive %v, salvaged %v", name, ideal, naive, salvaged)
		if naive <= ideal || float64(salvaged-ideal) > share*float64(naive-ideal) {
			t.Errorf("%s: naive recovery does %v again, salvaging %v", name, naive-ideal, salvaged-ideal)
		}
	}
}

// play runs a model to its end. The bound is generous: it is there to find hangs, not slowness.
func play(cfg modelConfig) (err error) {
	defer func() {
		if r := recover(); r != nil {
			var broken modelError
			if e, ok := r.(error); !ok || !errors.As(e, &broken) {
				panic(r)
			}
			err = broken
		}
	}()
	w := newModel(cfg)
	if err := w.run(time.Duration(max(1, cfg.slow)) * 10 * time.Minute); err != nil {
		return err
	}
	if want := sequentialAnswer(cfg.seed, cfg.depth); w.answer != want {
		return modelError(fmt.Sprintf("the answer is %d, not %d", w.answer, want))
	}
	return nil
}

// Whatever the network does to messages, the answer is the sequential one, every slot is filled once, the run
// ends, and in the end nobody holds anything for anybody.
func TestExactUnderMessageFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if cfg := drawModel(t, false); play(cfg) != nil {
			t.Fatalf("%v: %+v", play(cfg), cfg)
		}
	})
}

// The same when peers other than the owner of the root crash, leave, stall and come back in a new life.
func TestExactUnderMishaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if cfg := drawModel(t, true); play(cfg) != nil {
			t.Fatalf("%v: %+v", play(cfg), cfg)
		}
	})
}

// The same inputs give the same outputs, to the byte: two models of one seed behave alike.
func TestSameSeedSameTrace(t *testing.T) {
	trace := func() string {
		w := newModel(modelConfig{seed: 42, peers: 6, clusters: 2, depth: 7, policy: "adaptive", drop: 0.1,
			repeat: 0.1, fail: 0.1,
			delay: time.Second, wide: 50 * time.Millisecond, room: 4, crashes: 1, stalls: 2, leaves: 1, restarts: 1,
			faultsUntil: 10 * time.Second})
		var b strings.Builder
		for !w.done {
			w.step()
			for _, f := range w.flight {
				if f.m != nil {
					fmt.Fprintln(&b, f.at, f.seq, f.m.From, f.m.To, describe(f.m))
				} else {
					fmt.Fprintln(&b, f.at, f.seq, f.news.From, f.to.id, describeNews(f.news))
				}
			}
		}
		return b.String()
	}
	first := trace()
	if len(first) < 1000 {
		t.Fatalf("the trace has %d bytes", len(first))
	}
	for range 3 {
		if trace() != first {
			t.Fatal("two runs of one seed differ")
		}
	}
}
