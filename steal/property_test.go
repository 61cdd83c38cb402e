package steal

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawModel draws a world: few peers, all policies, and as many faults as the test asks for.
func drawModel(t *rapid.T, mishaps bool) modelConfig {
	cfg := modelConfig{
		seed:        rapid.Uint64().Draw(t, "seed"),
		peers:       rapid.IntRange(2, 7).Draw(t, "peers"),
		clusters:    rapid.IntRange(1, 3).Draw(t, "clusters"),
		depth:       rapid.IntRange(3, 9).Draw(t, "depth"),
		policy:      rapid.SampledFrom(PolicyNames()).Draw(t, "policy"),
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
		cfg.recovery = rapid.SampledFrom([]Recovery{Salvage, Salvage, Salvage, Naive}).Draw(t, "recovery")
		cfg.patience = time.Duration(rapid.SampledFrom([]int{0, 300, 5000}).Draw(t, "patience (ms)")) * time.Millisecond
		cfg.keep = rapid.IntRange(0, 4).Draw(t, "keep")
		cfg.small = rapid.Bool().Draw(t, "small")
	}
	return cfg
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

// Whatever the network does to messages, the answer is the sequential one, every slot is filled once, the run ends, and in the
// end nobody holds anything for anybody.
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
