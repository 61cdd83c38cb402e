//go:build unix

package swarm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mostThreads bounds the threads of a process that Lingers writes about.
const mostThreads = 64

// Lingers says, as far as the system tells, why a process is still there that should have ended: what each of its
// threads waits for in the kernel, and who else keeps its standard error open, for whose end this package waits
// too. It is for people; it is empty where there is no /proc.
func (p *Process) Lingers() string {
	pid := p.PID()
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	var b strings.Builder
	if state := fields(dir, "State", "Threads", "SigPnd", "ShdPnd", "SigBlk"); state != "" {
		fmt.Fprintf(&b, "process %d: %s\n", pid, state)
	}
	tasks, _ := filepath.Glob(filepath.Join(dir, "task", "*"))
	for _, task := range tasks[:min(len(tasks), mostThreads)] {
		fmt.Fprintf(&b, "thread %s: %s, in %s, call %s\n", filepath.Base(task), fields(task, "Name", "State"),
			word(task, "wchan"), word(task, "syscall"))
		for line := range strings.Lines(word(task, "stack")) { // for root only
			fmt.Fprintf(&b, "\t%s\n", strings.TrimSpace(line))
		}
	}
	for _, holder := range p.holders() {
		fmt.Fprintf(&b, "its standard error is held by %s\n", holder)
	}
	return b.String()
}

// holders are the processes besides it, and this one, that have its standard error open.
func (p *Process) holders() (list []string) {
	if p.words == "" {
		return nil
	}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, f := range files {
		dir := filepath.Dir(filepath.Dir(f))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if to, err := os.Readlink(f); err != nil || to != p.words || pid == p.PID() || pid == os.Getpid() {
			continue
		}
		if who := fmt.Sprintf("process %d (%s, %q)", pid, fields(dir, "Name", "State", "PPid"),
			strings.ReplaceAll(word(dir, "cmdline"), "\x00", " ")); !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	return list
}

// Exiting says whether the process has ended as far as it can, and the kernel is taking it down. That may last for
// half a minute on a busy machine: threads of the lowest priority give back the memory of killed processes, hold the
// lock over who has mapped the program's file while they wait for a core, and all other ends wait for that lock.
func (p *Process) Exiting() bool { return exiting(p.PID()) }

// exitingFlag is PF_EXITING of the kernel's include/linux/sched.h, among the flags in the ninth field of a stat file.
const exitingFlag = 4

func exiting(pid int) bool {
	stat := word(filepath.Join("/proc", strconv.Itoa(pid)), "stat")
	_, after, _ := strings.Cut(stat, ") ") // the name before may have anything in it
	list := strings.Fields(after)
	if len(list) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(list[6], 10, 64)
	return err == nil && flags&exitingFlag != 0
}

// fields are some lines of a process's or a thread's status.
func fields(dir string, names ...string) string {
	var list []string
	for line := range strings.Lines(word(dir, "status")) {
		if name, value, ok := strings.Cut(line, ":"); ok && slices.Contains(names, name) {
			list = append(list, name+" "+strings.Join(strings.Fields(value), " "))
		}
	}
	return strings.Join(list, ", ")
}

// word is what is in a file of /proc; what cannot be read is empty.
func word(dir, name string) string {
	b, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(b[:min(len(b), 8<<10)]))
}
