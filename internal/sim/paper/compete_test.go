package paper

import (
	"testing"
	"time"
)

// Guards what is promised of runs that compete: none is without a core for long, cores do not flap between two that are
// alike, an owner with two runs has no more than one with one, and what a run does not use others do.
func TestRunsCompete(t *testing.T) {
	w := wide(0.15)
	try := func(what string, rule int, runs ...rival) *bout {
		b, err := compete(runs, competeRules[rule].rule, 1)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if n := b.without(); rule == 0 && n > 2*time.Second {
			t.Errorf("%s: a run has no core for %v", what, n)
		}
		return b
	}
	alike := try("alike", 0, rival{"one", "a", w, 0}, rival{"other", "b", w, 0})
	for _, owner := range []string{"a", "b"} {
		if x := alike.least(owner); x < 0.45 {
			t.Errorf("of two alike %s has %.3f", owner, x)
		}
	}
	if x := try("owners", 0, rival{"", "a", w, 0}, rival{"", "a", w, 0}, rival{"", "b", w, 0}).least("b"); x < 0.45 {
		t.Errorf("beside two runs of another owner one has %.3f", x)
	}
	two := []rival{{"wide", "a", wide(0.3), 0}, {"serial", "b", serial(6), 0}}
	need, even := try("by need", 0, two...), try("equal", 2, two...)
	if x, y := need.used(), even.used(); x < y+0.15 || need.took(0) > even.took(0)*9/10 {
		t.Errorf("%.3f of the cores are busy, with equal shares %.3f; the one that scales takes %v, and %v", x, y,
			need.took(0), even.took(0))
	}
	later := try("later", 0, rival{"first", "a", w, 0}, rival{"later", "b", wide(0.05), 10 * time.Second})
	if x := later.least("b"); x < 0.45 {
		t.Errorf("whoever comes later has %.3f", x)
	}
}
