//go:build unix

package swarm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Computing lists the processes that compute for p: its children that run the same program, and so not the shell that
// ends it with this process. It needs a /proc.
func (p *Process) Computing() (list []int, err error) {
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID()))
	if err != nil {
		return nil, nil // it has ended
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID()))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return nil, err
			}
			if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe == own {
				list = append(list, pid)
			}
		}
	}
	return list, nil
}

// KillComputing kills the processes that compute for p, as the system does when memory is short, and says how many
// there were.
func (p *Process) KillComputing() (n int, err error) {
	list, err := p.Computing()
	for _, pid := range list {
		if child, err := os.FindProcess(pid); err == nil && child.Kill() == nil { // else it has ended by itself
			n++
		}
	}
	return n, err
}
