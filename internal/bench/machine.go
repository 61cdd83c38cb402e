package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
)

// machine describes where the figures come from, in one line.
func machine() string {
	cpu := "unknown CPU"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		lines := bufio.NewScanner(bytes.NewReader(info))
		for lines.Scan() {
			if name, model, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(model)
				break
			}
		}
	}
	kernel := runtime.GOOS
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel += " " + strings.TrimSpace(string(release))
	}
	return fmt.Sprintf("%d cores, %s, %s, %s/%s", runtime.NumCPU(), cpu, kernel, runtime.Version(), runtime.GOARCH)
}

// A load is a moment from which the CPU use of other programs is counted. Only Linux tells.
type load struct {
	began time.Time
	busy  time.Duration // of all cores, since the machine's start
	pid   int           // the program that is measured
	own   time.Duration // CPU time that it had used
}

func startLoad(pid int) load { return load{time.Now(), busyTime(), pid, cputime.Of(pid)} }

// others gives the share of the machine that everything but the measured program has used since then; NaN
// where that is not known.
func (l load) others() float64 {
	span := time.Since(l.began) * time.Duration(runtime.NumCPU())
	own := cputime.Of(l.pid) - l.own
	if l.busy == 0 || span < 10*cputime.Tick {
		return math.NaN()
	}
	return min(max(0, float64(busyTime()-l.busy-own)/float64(span)), 1)
}

// busyTime is the time that all cores together were not idle, from the first line of /proc/stat: user, nice,
// system, idle, iowait, irq, softirq, and steal, what a hypervisor gave to others.
func busyTime() time.Duration {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	var ticks int64
	for i, field := range strings.Fields(line) {
		if i == 0 || i == 4 || i == 5 || i > 8 { // the name, idle, iowait, and guests, which user time includes
			continue
		}
		v, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += v
	}
	return time.Duration(ticks) * cputime.Tick
}
