// Package senses sees what the owner of a machine does with it: whether somebody is there, whether it runs on its
// battery and whether its network is metered, which programs run, how hot it is, what is left of its cores, which time
// zone it is in. Each function looks once, takes some milliseconds at most, and says nothing where the system does not
// tell: a machine that cannot be seen is taken for one that nobody uses.
//
// Linux is seen through logind, or terminals where there is none, NetworkManager and /sys; FreeBSD through terminals
// and sysctl; macOS through ioreg and pmset; Windows through its own calls. macOS, Windows and FreeBSD were compiled,
// and what they print was read in tests, but no such machine was at hand.
package senses

import (
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"
	"github.com/shirou/gopsutil/v4/sensors"
)

// patience is how long another program may take to tell.
const patience = 2 * time.Second

// Untouched says since when nobody has touched keyboard, mouse or a terminal; ok is whether that can be known.
func Untouched() (since time.Duration, ok bool) { return untouched() }

// OnBattery says whether the machine is known to run on its battery.
func OnBattery() bool { return onBattery() }

// Metered says whether the network is known to be metered: somebody counts what goes through it, or has to pay.
func Metered() bool { return metered() }

// Running gives the first of the names that a process of this machine has; "" for none. Case and a trailing ".exe" are
// not looked at. Linux cuts names of processes to 15 bytes, which is seen through where the command line can be read.
func Running(names []string) string {
	all, err := process.Processes()
	if err != nil {
		return ""
	}
	var running []string
	for _, p := range all {
		if name, err := p.Name(); err == nil {
			running = append(running, plain(name))
		}
	}
	for _, n := range names {
		if slices.Contains(running, plain(n)) {
			return n
		}
	}
	return ""
}

func plain(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".exe") }

// sane are the temperatures that are believed: sensors that are not connected say -128, 0 or 255.
const coldest, hottest = 10, 150

// Celsius is the temperature of the hottest sensor; 0 if there is none.
func Celsius() int {
	all, _ := sensors.SensorsTemperatures() // with an error come those that could be read
	return hottestOf(all)
}

func hottestOf(all []sensors.TemperatureStat) (most int) {
	for _, s := range all {
		if s.Temperature >= coldest && s.Temperature <= hottest {
			most = max(most, int(s.Temperature))
		}
	}
	return most
}

// Cores says how many seconds all cores together have been idle, also waiting for a disk, and how many there were.
func Cores() (idle, all float64, ok bool) {
	t, err := cpu.Times(false)
	if err != nil || len(t) != 1 {
		return 0, 0, false
	}
	idle = t[0].Idle + t[0].Iowait
	return idle, idle + t[0].User + t[0].System + t[0].Nice + t[0].Irq + t[0].Softirq + t[0].Steal, true
}
