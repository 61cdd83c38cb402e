package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/satin-peer/satin/internal/bench/ask"
)

// layouts is how many times a program that is measured to the nanosecond is built, each time with its functions in
// another order. Where a loop or a call falls on a cache line moves the figures by 5 to 10 %; rounds go through all
// layouts, so a median is of none in particular.
const layouts = 3

// A workshop builds the programs that the bench measures, in a temporary directory, and starts them.
type workshop struct {
	dir     string
	running []*ask.Program
}

func newWorkshop() (*workshop, error) {
	dir, err := os.MkdirTemp("", "satin-bench-")
	return &workshop{dir: dir}, err
}

// close ends all programs and removes what was built.
func (w *workshop) close() {
	for _, p := range w.running {
		p.Close()
	}
	_ = os.RemoveAll(w.dir)
}

// build compiles the Go package of this module, once for each layout: 0 is the linker's own order.
func (w *workshop) build(pkg, pgo string, count int) ([]string, error) {
	var list []string
	for seed := range count {
		progress("building %s, layout %d of %d", pkg, seed+1, count)
		name := filepath.Join(w.dir, fmt.Sprintf("%s-%s-%d", pkg, strings.TrimSuffix(filepath.Base(pgo), ".pgo"), seed))
		if err := run("go", "build", "-pgo="+pgo, "-ldflags=-randlayout="+fmt.Sprint(seed), "-o", name,
			"./"+pkg); err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// start starts each of the programs.
func (w *workshop) start(files []string, env ...string) ([]*ask.Program, error) {
	var list []*ask.Program
	for _, file := range files {
		p, err := w.startOne(filepath.Base(file), []string{file}, env...)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (w *workshop) startOne(name string, command []string, env ...string) (*ask.Program, error) {
	p, err := ask.Start(name, command, env...)
	if err == nil {
		w.running = append(w.running, p)
	}
	return p, err
}

// errNotInstalled says that a rival cannot be measured here; that is no failure of the bench.
var errNotInstalled = errors.New("not installed")

// java compiles and starts the ForkJoinPool contender.
func (w *workshop) java() (*ask.Program, error) {
	if !found("javac", "java") {
		return nil, fmt.Errorf("java: %w", errNotInstalled)
	}
	if err := run("javac", "-d", w.dir, "c/Fib.java"); err != nil {
		return nil, err
	}
	return w.startOne("java", []string{"java", "-cp", w.dir, "Fib"})
}

// oneTBB compiles and starts the oneTBB contender. CPLUS_INCLUDE_PATH and LIBRARY_PATH may say where the library is.
func (w *workshop) oneTBB() (*ask.Program, error) {
	if !found("g++") {
		return nil, fmt.Errorf("g++: %w", errNotInstalled)
	}
	probe := exec.Command("g++", "-fsyntax-only", "-x", "c++", "-include", "tbb/task_group.h", os.DevNull)
	if probe.Run() != nil {
		return nil, fmt.Errorf("oneTBB's headers: %w", errNotInstalled)
	}
	file := filepath.Join(w.dir, "fib_tbb")
	if err := run("g++", "-O3", "-o", file, "c/fib_tbb.cpp", "-ltbb"); err != nil {
		return nil, err
	}
	return w.startOne("oneTBB", []string{file})
}

func found(programs ...string) bool {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return false
		}
	}
	return true
}

// run runs a command; its output becomes part of the error if it fails.
func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
