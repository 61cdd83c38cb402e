package engine

import "syscall"

const idleName = "THREAD_PRIORITY_IDLE"

func system() thread { return windowsThread{} }

// A windowsThread has some levels below normal. The lowest has the base priority 1 in every class of processes but
// the one for real time, as idle processes have it.
type windowsThread struct{}

func (windowsThread) idle() error      { return setLevel(windowsIdle) }
func (windowsThread) nice(n int) error { return setLevel(windowsLevel(n)) }

func setLevel(level int) error {
	kernel := syscall.NewLazyDLL("kernel32.dll")
	current, _, _ := kernel.NewProc("GetCurrentThread").Call() // a constant, which needs not be closed
	if ok, _, err := kernel.NewProc("SetThreadPriority").Call(current, uintptr(level)); ok == 0 {
		return err
	}
	return nil
}
