// Subject is the program that the bench measures satin's other promises in: the applications, a thief from
// outside the workers, and packets beside busy workers. It answers the bench's questions (package ask):
//
//	solve     WORKERS  TIMES  APP  ARG...    an application: its sequential twin (0 workers), or on so many workers
//	foreign   FILE  ARG...                   a program in another language that times itself
//	thief     WORKERS  PAUSE  TAKES          how long Take waits while all workers are busy
//	victim    SHAPE  STEALS  TIMES           what steals at so many a second cost their victim; 0: nobody steals
//	pingpong  CONTENDER  COUNT               round trips over loopback UDP inside this process
package main

import (
	"fmt"
	"log"
	"strconv"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/bench/ask"
)

func init() {
	satin.Register("bench.fib", fib)
	satin.Register("bench.forest", forest)
	satin.Register("bench.comb", comb)
	satin.Register("bench.trial", trial)
}

func main() {
	err := ask.Serve(map[string]func([]string) (ask.Answer, error){
		"solve":    solve,
		"foreign":  foreign,
		"thief":    thief,
		"victim":   victim,
		"pingpong": pingpong,
	})
	if err != nil {
		log.Fatal(err)
	}
}

// numbers reads so many whole numbers.
func numbers(words []string, count int) ([]int, error) {
	if len(words) != count {
		return nil, fmt.Errorf("want %d numbers, got %d", count, len(words))
	}
	list := make([]int, count)
	for i, word := range words {
		v, err := strconv.Atoi(word)
		if err != nil || v < 0 {
			return nil, fmt.Errorf("%q is not a whole number", word)
		}
		list[i] = v
	}
	return list, nil
}

// fib spawns at every level: the finest recursion there is.
func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

func fibSequential(n int) int {
	if n < 2 {
		return n
	}
	return fibSequential(n-1) + fibSequential(n-2)
}
