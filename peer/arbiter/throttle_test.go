package arbiter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/adapt"
)

// Guards what the owner of a machine gives: over minutes the cores are used for the part of their time that he said,
// also by jobs that go on after their turn and when there was nothing to do for a while; and never more at once than
// there are.
func TestThrottle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores, rest := rapid.IntRange(1, 16).Draw(t, "cores"), rapid.IntRange(1, 99).Draw(t, "rest")
		leaf := rapid.IntRange(1, 12).Draw(t, "turns that a job goes on for")
		idle := rapid.IntRange(0, 600).Draw(t, "turns without work")
		var a throttle
		busy, used := make([]int, cores), time.Duration(0) // turns that each core is busy for
		const turns = 5 * 600                              // ten minutes
		for i := range idle + turns {
			n := a.turn(cores, rest, adapt.TurnEvery)
			if n < 0 || n > cores {
				t.Fatalf("%d of %d cores", n, cores)
			}
			for k := range busy {
				if i >= idle && busy[k] == 0 && k < n {
					busy[k] = leaf
				}
				if busy[k] > 0 {
					busy[k]--
					used += adapt.TurnEvery
				}
			}
			if i%5 == 0 {
				a.used(used)
			}
		}
		all := turns * adapt.TurnEvery * time.Duration(cores)
		want := all * time.Duration(100-rest) / 100
		slack := adapt.TurnEvery * time.Duration((leaf+7)*cores) // the last jobs, and what was saved up at first
		if used > want+slack || used < want-slack-all/20 {
			t.Fatalf("%v of %v were used, want %v", used, all, want)
		}
	})
}

// Runs take turns with what is left between rests: no rest counts as the turn of one of them.
func TestTurnsBetweenRests(t *testing.T) {
	a := New(1)
	var cores, had [2]int
	for i := range cores {
		a.Join(&Allotment{Owner: "x", Most: 1, Finish: func(bool) {}, Dry: func() bool { return false },
			Set: func(c int, _ bool) { cores[i] = c }})
	}
	a.Allow(1, 90)
	for range 400 {
		a.Next()
		for i, c := range cores {
			had[i] += c
		}
	}
	if had[0] < 15 || had[1] < 15 {
		t.Errorf("of 40 turns the runs have %v", had)
	}
}

// Guards the way from the owner's wish to the runs: a core is taken from them in some turns.
func TestArbiterRests(t *testing.T) {
	a := New(1)
	cores, inTurns := -1, false
	one := &Allotment{Most: 1, Finish: func(bool) {}, Dry: func() bool { return false }}
	one.Set = func(c int, turns bool) { cores, inTurns = c, turns }
	a.Join(one)
	used := 0
	turns := func(n int) (used int) {
		for range n {
			a.Next()
			used += cores
		}
		return used
	}
	if n := turns(10); n != 10 {
		t.Errorf("without a wish it has %d turns of 10", n)
	}
	if inTurns {
		t.Error("alone and without a wish it has its core in turns")
	}
	a.Used(2 * time.Second)
	a.Allow(1, 70)
	if used = turns(100); used < 29 || used > 31 {
		t.Errorf("at a share of 30%% it has %d turns of 100", used)
	}
	a.Used(2*time.Second + time.Duration(used+10)*restEvery)
	if n := turns(30); n > 1 {
		t.Errorf("it had ten turns too many, and then %d of 30", n)
	}
	if !inTurns {
		t.Error("it does not know that it has its core in turns")
	}
	for _, paused := range []bool{true, false} { // nobody knows when a pause ends
		if a.Pause(paused); inTurns == paused {
			t.Errorf("paused: %v, and in turns: %v", paused, inTurns)
		}
	}
	if a.Allow(0, 70); inTurns {
		t.Error("it has no core in turns")
	}
	a.Allow(1, 0)
	if cores != 1 || inTurns {
		t.Error("without a wish it has no core")
	}
	other := &Allotment{Most: 1, Finish: one.Finish, Dry: one.Dry, Set: one.Set}
	if a.Join(other); !inTurns {
		t.Error("beside another run it has its core for itself")
	}
}

// Guards that a run which comes while this peer finishes takes nothing either, until that is taken back.
func TestNewRunsFinish(t *testing.T) {
	a := New(2)
	var said []string
	come := func(name string) {
		a.Join(&Allotment{Most: 2, Dry: func() bool { return false }, Set: func(int, bool) {},
			Finish: func(on bool) { said = append(said, fmt.Sprint(name, on)) }})
	}
	come("first")
	a.Finish(true)
	come("second")
	a.Finish(false)
	come("third")
	if want := []string{"firsttrue", "secondtrue", "firstfalse", "secondfalse"}; !slices.Equal(said, want) {
		t.Errorf("the runs were told %v, want %v", said, want)
	}
}
