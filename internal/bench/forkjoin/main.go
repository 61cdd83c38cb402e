// Forkjoin is the program that the bench measures fork-join in: fib, queens and an unbalanced tree with a job
// for every call, on satin, without it, and on what else there is in Go. It answers the bench's questions
// (package ask):
//
//	CONTENDER  N  WORKERS  TIMES     the least wall and CPU time of so many runs, what each allocated, and its result
//	profile    FILE  SECONDS         a CPU profile of satin's contenders, for -pgo
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/clock"
)

func init() {
	satin.Register("bench.fib", fib)
	satin.Register("bench.fibLoop", fibLoop)
	satin.Register("bench.queens", queens)
	satin.Register("bench.uts", uts)
}

// A contender runs one kernel of size n on the given number of workers. jobs says how many children the kernel has,
// which the sequential twins call and the others spawn.
type contender struct {
	run  func(n, workers int) int
	jobs func(n int) int
}

func main() {
	runtime.LockOSThread() // as satin's workers are
	handlers := map[string]func([]string) (ask.Answer, error){"profile": profile}
	for name, c := range contenders() {
		handlers[name] = c.answer
	}
	if err := ask.Serve(handlers); err != nil {
		log.Fatal(err)
	}
}

func contenders() map[string]contender {
	whole := func(n int) Board { return Board{All: 1<<n - 1} }
	root := func(n int) Node { return Node{State: mix(uint64(n)), Root: true} }
	queenJobs := func(n int) int { return queensSpawns(whole(n)) }
	nodes := func(n int) int { return utsSequential(root(n)) - 1 }
	return map[string]contender{
		"fib.sequential":    {func(n, _ int) int { return fibSequential(n) }, fibSpawns},
		"fib.satin":         {func(n, w int) int { return satinRun(w, fib, n) }, fibSpawns},
		"fib.loop":          {func(n, w int) int { return satinRun(w, fibLoop, n) }, fibSpawns},
		"fib.goroutines":    {procs(fibGoroutines), fibSpawns},
		"fib.errgroup":      {procs(fibErrgroup), fibSpawns},
		"fib.conc":          {procs(fibConc), fibSpawns},
		"fib.ants":          {procs(func(n int) int { return withAnts(-1, n) }), fibSpawns},
		"fib.ants.bounded":  {func(n, size int) int { return withAnts(size, n) }, fibSpawns},
		"fib.pond":          {procs(func(n int) int { return withPond(pond.Unbounded, n) }), fibSpawns},
		"fib.pond.bounded":  {func(n, size int) int { return withPond(size, n) }, fibSpawns},
		"queens.sequential": {func(n, _ int) int { return queensSequential(whole(n)) }, queenJobs},
		"queens.satin":      {func(n, w int) int { return satinRun(w, queens, whole(n)) }, queenJobs},
		"queens.goroutines": {procs(func(n int) int { return queensGoroutines(whole(n)) }), queenJobs},
		"uts.sequential":    {func(n, _ int) int { return utsSequential(root(n)) }, nodes},
		"uts.satin":         {func(n, w int) int { return satinRun(w, uts, root(n)) }, nodes},
		"uts.goroutines":    {procs(func(n int) int { return utsGoroutines(root(n)) }), nodes},
	}
}

// pools are the pools used so far, by their number of workers; an idle one costs nothing.
var pools = map[int]*satin.Pool{}

func satinRun[A any](workers int, fn func(*satin.Frame, A) int, arg A) int {
	if pools[workers] == nil {
		p, err := satin.NewPool(satin.Config{Workers: workers})
		if err != nil {
			panic(err)
		}
		pools[workers] = p
	}
	result, err := satin.Run(context.Background(), pools[workers], fn, arg)
	if err != nil {
		panic(err)
	}
	return result
}

// procs runs a contender whose workers are Go's own: it gets as many cores by GOMAXPROCS.
func procs(run func(n int) int) func(n, workers int) int {
	return func(n, workers int) int {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		done := make(chan int)
		go func() { done <- run(n) }() // not on the locked thread, where switching goroutines costs more
		return <-done
	}
}

func withAnts(size, n int) int {
	p, err := ants.NewPool(size)
	if err != nil {
		panic(err)
	}
	defer p.Release()
	return fibAnts(p, n)
}

func withPond(size, n int) int {
	p := pond.NewPool(size)
	defer p.StopAndWait()
	return fibPond(p, n)
}

func (c contender) answer(words []string) (ask.Answer, error) {
	if len(words) != 3 {
		return nil, fmt.Errorf("want N, WORKERS and TIMES, got %d words", len(words))
	}
	var numbers [3]int
	for i, word := range words {
		v, err := strconv.Atoi(word)
		if err != nil || v < 1 {
			return nil, fmt.Errorf("%q is not a positive number", word)
		}
		numbers[i] = v
	}
	n, workers, times := numbers[0], numbers[1], numbers[2]
	var result int
	cost := clock.Best(times, func() { result = c.run(n, workers) })
	return ask.Of("wall", cost.Wall.Nanoseconds(), "cpu", cost.CPU.Nanoseconds(), "bytes", cost.Bytes,
		"result", result, "jobs", c.jobs(n)), nil
}

// profile writes a CPU profile of the three kernels on one worker.
func profile(words []string) (ask.Answer, error) {
	if len(words) != 2 {
		return nil, fmt.Errorf("want FILE and SECONDS, got %d words", len(words))
	}
	seconds, err := strconv.Atoi(words[1])
	if err != nil {
		return nil, err
	}
	file, err := os.Create(words[0])
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	all := contenders()
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		all["fib.satin"].run(30, 1)
		all["queens.satin"].run(11, 1)
		all["uts.satin"].run(1, 1)
	}
	pprof.StopCPUProfile()
	return ask.Answer{}, file.Close()
}
