package peer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer"
)

// BenchmarkFirstJob prints how soon a fresh peer works on the run of a module that it does not have, over loopback, and
// with the module and its compiled code on the disk, part by part (make bench-modules). One module is of a C program,
// grown to 2 MB, the other one SATIN_BENCH_MODULE, an application in Go that counts queens.
func BenchmarkFirstJob(b *testing.B) {
	path := os.Getenv("SATIN_BENCH_MODULE")
	if path == "" {
		b.Skip("SATIN_BENCH_MODULE names no module")
	}
	inC := loadModule(b, grown(readModule(b, "examples/queens-c/queens.wasm").bin, 2<<20))
	for _, m := range []struct {
		name string
		guestModule
	}{{"C", inC}, {"Go", readModule(b, path)}} {
		firstJobs(b, m.name, m.guestModule)
	}
	fmt.Println("wanted at most for 2 MB: 1,000 ms cold, and 100 from the cache")
}

// firstParts is what a first job waits for.
var firstParts = [...]string{"until the module is here", "checking", "compiling", "starting",
	"a process, and a steal", "all"}

func firstJobs(b *testing.B, name string, m guestModule) {
	const rounds = 5
	var cold, cached [len(firstParts)][]float64 // ms
	for range rounds {
		owner := open(b, withMemory(b))
		run := m.submit(b, owner, "18")
		until(b, "the owner works", func() bool { return busy(owner) })
		dir := b.TempDir()
		for _, to := range []*[len(firstParts)][]float64{&cold, &cached} {
			for i, took := range firstJob(b, owner, dir) {
				to[i] = append(to[i], took.Seconds()*1e3)
			}
		}
		if err := owner.Cancel(context.Background(), run); err != nil {
			b.Fatal(err)
		}
		owner.Close()
	}
	fmt.Printf("\na module of %.1f MB (%s), medians of %d in ms%20s %24s\n", float64(len(m.bin))/1e6, name, rounds, "cold",
		"from the cache")
	for i, what := range firstParts {
		fmt.Printf("%-36s", what)
		for _, list := range [][]float64{cold[i], cached[i]} {
			slices.Sort(list)
			fmt.Printf("%9.1f (%.1f to %.1f)", list[rounds/2], list[0], list[rounds-1])
		}
		fmt.Println()
	}
}

// withMemory gives processes the memory that they have by default.
func withMemory(b *testing.B) func(*peer.Config) {
	return func(c *peer.Config) {
		inProcesses(b)(c)
		c.Memory = 0
	}
}

func busy(p *peer.Peer) bool {
	s, err := p.Status(context.Background())
	return err == nil && s.Busy > 0
}

// firstJob has a peer join the owner, whose run goes on, and says what it waits for from there.
func firstJob(b *testing.B, owner *peer.Peer, dir string) (took [len(firstParts)]time.Duration) {
	said := new(book)
	p := open(b, withMemory(b), in(dir), logging(said))
	defer p.Close()
	if _, err := p.Join(deadline(b), address(b, owner)); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	until(b, "the module is here", func() bool {
		list, err := p.Modules(context.Background())
		return err == nil && len(list) == 1 && list[0].Here
	})
	took[0] = time.Since(began)
	until(b, "it works", func() bool { return busy(p) })
	all := time.Since(began)
	parts := readyIn.FindStringSubmatch(said.String())
	if parts == nil {
		b.Fatalf("the process has not said what its module took:\n%s", said)
	}
	rest := all - took[0]
	for i, text := range parts[1:] {
		d, err := time.ParseDuration(text)
		if err != nil {
			b.Fatal(err)
		}
		took[i+1] = d
		rest -= d
	}
	took[4], took[5] = max(rest, 0), all // the process may have begun before it was seen that the module is here
	return took
}

var readyIn = regexp.MustCompile(`checked in (\S+), compiled in (\S+), started in ([^\s"]+)`)

// grown is a module with the code of its functions again and again, until it has so many bytes: nobody calls the
// copies, and who compiles it cannot know.
func grown(bin []byte, size int) []byte {
	const functions, code = 3, 10
	type section struct {
		id    byte
		count int // of functions, and code
		body  []byte
	}
	var all []section
	number := func(b []byte) (int, []byte) {
		n, used := binary.Uvarint(b)
		return int(n), b[used:]
	}
	for rest := bin[8:]; len(rest) > 0; {
		s := section{id: rest[0]}
		n, after := number(rest[1:])
		if s.body, rest = after[:n], after[n:]; s.id == functions || s.id == code {
			s.count, s.body = number(s.body)
		}
		all = append(all, s)
	}
	out := slices.Clone(bin[:8])
	times := 1
	for _, s := range all {
		if s.id == code {
			times = size/len(s.body) + 1
		}
	}
	for _, s := range all {
		if s.count > 0 {
			s.body = append(binary.AppendUvarint(nil, uint64(s.count*times)), bytes.Repeat(s.body, times)...)
		}
		out = append(binary.AppendUvarint(append(out, s.id), uint64(len(s.body))), s.body...)
	}
	return out
}
