package engine_test

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var trial = flag.Uint64("trial", 0, "the seed of the one trial that is made; 0: a hundred of any seeds")

// trials makes a hundred trials with sources of chance of their own, and tells the seed of the first that fails.
//
// It is not a library that does so, because whoever tidies a module that imports satin needs the sums of all that tests
// of packages below it import.
func trials(t *testing.T, try func(rng *rand.Rand)) {
	t.Helper()
	if *trial != 0 {
		try(rand.New(rand.NewPCG(*trial, 0)))
		return
	}
	for range 100 {
		seed := 1 + rand.Uint64N(1<<63)
		func() {
			defer func() { // also when it ends its goroutine, or panics
				if p := recover(); p != nil {
					t.Logf("-trial %d runs this again", seed)
					panic(p)
				}
				if t.Failed() {
					t.Logf("-trial %d runs this again", seed)
				}
			}()
			try(rand.New(rand.NewPCG(seed, 0)))
		}()
		if t.Failed() {
			return
		}
	}
}

// anyProgram makes a program of at least that depth and at most 6, rather a small one.
func anyProgram(rng *rand.Rand, least int) programArg {
	depth := min(rng.IntN(7-least), rng.IntN(7-least))
	return programArg{rng.Uint64(), least + depth}
}
