package engine

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// A modelThread notes what it is told.
type modelThread struct {
	refuses error // to be idle
	told    []string
}

func (t *modelThread) idle() error {
	t.told = append(t.told, "idle")
	return t.refuses
}

func (t *modelThread) nice(n int) error {
	t.told = append(t.told, fmt.Sprint("nice ", n))
	return errors.New("refused, which is harmless")
}

// A thread gets the priority that was asked for, or the next one where the system refuses that.
func TestLowerPriority(t *testing.T) {
	for _, c := range []struct {
		nice    int
		idle    bool
		refuses error
		want    []string
	}{
		{0, false, nil, nil},
		{7, false, nil, []string{"nice 7"}},
		{0, true, nil, []string{"idle"}},
		{7, true, nil, []string{"idle"}},
		{0, true, errors.New("not permitted"), []string{"idle", "nice 19"}},
		{7, true, errNoPriority, []string{"idle", "nice 19"}},
	} {
		var thread = modelThread{refuses: c.refuses}
		if lowerPriority(&thread, c.nice, c.idle); !reflect.DeepEqual(thread.told, c.want) {
			t.Errorf("nice %d, idle %v, %v: the thread was told %q, want %q", c.nice, c.idle, c.refuses,
				thread.told, c.want)
		}
	}
}

// What is run on a thread of its own is not on the one that is said to be the process's first.
func TestOwnThread(t *testing.T) {
	runtime.LockOSThread() // so that what runs here is this goroutine
	here := goroutineID()
	for _, first := range []bool{true, false} {
		ran := make(chan uint64, 1)
		ownThread(func() bool { return first }, func() { ran <- goroutineID() })
		if there := <-ran; (there != here) != first {
			t.Errorf("on the first thread: %v; it runs there: %v", first, there == here)
		}
	}
}

// TestWindowsLevels holds the levels in the order of the nice values: none is above normal, only 19 is idle.
func TestWindowsLevels(t *testing.T) {
	last := 0
	for nice := 1; nice <= maxNice; nice++ {
		level := windowsLevel(nice)
		if level >= 0 || level > last || (level == windowsIdle) != (nice == maxNice) {
			t.Errorf("nice %d has level %d after %d", nice, level, last)
		}
		last = level
	}
}

// What the user reads of the workers' priority is what the system has granted.
func TestDescribeIdle(t *testing.T) {
	for _, c := range []struct {
		refused error
		lowest  bool
		has     string
	}{
		{nil, true, idleName},
		{errNoPriority, false, "normal priority"},
		{errors.New("not permitted"), false, "not permitted"},
	} {
		if text, lowest := describeIdle(c.refused); lowest != c.lowest || !strings.Contains(text, c.has) {
			t.Errorf("%v: %q, lowest %v", c.refused, text, lowest)
		}
	}
}

// TestIdlePriorityIsTried asks this system. On Linux nobody needs a right for it.
func TestIdlePriorityIsTried(t *testing.T) {
	if text, lowest := IdlePriority(); runtime.GOOS == "linux" && !lowest {
		t.Error(text)
	}
}
