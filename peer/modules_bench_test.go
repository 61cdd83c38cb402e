package peer_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer"
)

// BenchmarkFirstJob prints how soon a fresh peer works on the run of a module that it does not have, over loopback
// (make bench-modules): how long it fetches, and then until a job has begun, which is starting the process,
// checking, compiling and a steal; and the same with the module and its compiled code on the disk.
// SATIN_BENCH_MODULE is the module, an application that counts queens.
func BenchmarkFirstJob(b *testing.B) {
	path := os.Getenv("SATIN_BENCH_MODULE")
	if path == "" {
		b.Skip("SATIN_BENCH_MODULE names no module")
	}
	const rounds = 5
	queens := readModule(b, path)
	processes := func(c *peer.Config) { // with the memory that they have by default
		inProcesses(b)(c)
		c.Memory = 0
	}
	var fetched, begun, cached []float64
	busy := func(p *peer.Peer) bool {
		s, err := p.Status(context.Background())
		return err == nil && s.Busy > 0
	}
	var owner *peer.Peer
	// join has a peer join the owner, whose run goes on, and gives the times from there.
	join := func(dir string) (here, first time.Duration) {
		p := open(b, processes, in(dir))
		defer p.Close()
		if _, err := p.Join(deadline(b), address(b, owner)); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		until(b, "the module is here", func() bool {
			list, err := p.Modules(context.Background())
			return err == nil && len(list) == 1 && list[0].Here
		})
		here = time.Since(began)
		until(b, "it works", func() bool { return busy(p) })
		return here, time.Since(began) - here
	}
	for range rounds {
		owner = open(b, processes)
		run := queens.submit(b, owner, "18")
		until(b, "the owner works", func() bool { return busy(owner) })
		dir := b.TempDir()
		here, first := join(dir)
		fetched, begun = append(fetched, here.Seconds()*1e3), append(begun, first.Seconds()*1e3)
		here, first = join(dir)
		cached = append(cached, (here+first).Seconds()*1e3)
		if err := owner.Cancel(context.Background(), run); err != nil {
			b.Fatal(err)
		}
		owner.Close()
	}
	fmt.Printf("\na module of %.1f MB on a fresh peer, medians of %d:\n", float64(len(queens.bin))/1e6, rounds)
	for _, line := range []struct {
		what   string
		values []float64
	}{{"fetched over loopback", fetched}, {"then until a job has begun", begun},
		{"with module and compiled code on the disk", cached}} {
		slices.Sort(line.values)
		fmt.Printf("%-44s %8.1f ms (%.1f to %.1f)\n", line.what, line.values[rounds/2], line.values[0],
			line.values[rounds-1])
	}
	fmt.Println("wanted at most: 1,000 ms for the first two together, 100 for the last")
}
