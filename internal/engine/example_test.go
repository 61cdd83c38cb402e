package engine_test

import (
	"context"
	"fmt"

	"github.com/satin-peer/satin/internal/engine"
)

// A runtime that moves jobs between processes takes them from a pool un-encoded, and brings results back.
func ExamplePool_Take() {
	pool, _ := engine.NewPool(engine.Config{Workers: 1})
	defer pool.Close()
	ended := make(chan any)
	go func() {
		n, _ := pool.Run(context.Background(), "test.fib", 35)
		ended <- n
	}()
	job := pool.Take()
	for job == nil {
		job = pool.Take()
	}
	// Encode job.Job(), send it, and wait for the answer, which here is another pool's.
	elsewhere, _ := engine.NewPool(engine.Config{Workers: 1})
	defer elsewhere.Close()
	_, err := elsewhere.Submit(job.Job(), func(o engine.Outcome) { _, _ = job.End(o) })
	fmt.Println(job.Job().Func, err, <-ended)
	// Output: test.fib <nil> 9227465
}
