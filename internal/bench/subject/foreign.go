package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/internal/bench/ask"
)

// foreign runs a program that prints its result and the nanoseconds that it took, in a process of its own.
// The CPU time is that process's, its start included.
func foreign(words []string) (ask.Answer, error) {
	if len(words) < 1 {
		return nil, fmt.Errorf("want FILE")
	}
	cmd := exec.Command(words[0], words[1:]...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 2 {
		return nil, fmt.Errorf("%s printed %q, want a result and a time", words[0], out)
	}
	wall, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return nil, err
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return ask.Of("result", fields[0], "wall", wall, "cpu", cpu.Nanoseconds()), nil
}
