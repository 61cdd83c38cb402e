package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/bench/ask"
)

func init() { satin.Register("side.fib", fib) }

// fib spawns at every level.
func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

// busyCommand is what this program is started with to compute.
const busyCommand = "compute"

// busy starts or ends work on all workers of a pool, one for each core, at the priority of a peer and as a peer has it
// done: in a process of its own.
func (s *side) busy(words []string) (ask.Answer, error) {
	if len(words) != 1 || words[0] != "on" && words[0] != "off" {
		return nil, fmt.Errorf("want on or off")
	}
	if s.resting != nil {
		err := s.resting()
		s.resting = nil
		if err != nil {
			return nil, err
		}
	}
	if words[0] == "off" {
		return ask.Answer{}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, busyCommand)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.resting = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("the process that computes: %w", err)
	}
	return ask.Answer{}, nil
}

// compute keeps all workers busy until nobody listens any more, and says when they are. There is always a run more than
// workers, so that none is idle between two runs.
func compute() error {
	p, err := satin.NewPool(satin.Config{Idle: true}) // as a peer runs its jobs unless it is told otherwise
	if err != nil {
		return err
	}
	for range p.Workers() + 1 {
		go func() {
			for {
				_, _ = satin.Run(context.Background(), p, fib, 32)
			}
		}()
	}
	for p.Stats().Busy < p.Workers() {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("busy")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
