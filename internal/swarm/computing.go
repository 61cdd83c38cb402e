package swarm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// KillComputing kills the processes that compute for p, as the system does when memory is short, and says how many
// there were. It needs a /proc.
func (p *Process) KillComputing() (n int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID()))
	if err != nil {
		return 0, err
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return n, err
			}
			if child, err := os.FindProcess(pid); err == nil && child.Kill() == nil { // else it has ended by itself
				n++
			}
		}
	}
	return n, nil
}
