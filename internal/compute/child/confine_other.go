//go:build !linux

package child

import (
	"errors"
	"os/exec"
)

// dieWithParent is for the end of the pipe to do.
func dieWithParent(*exec.Cmd, bool) {}

// stepBack is for Linux, which weighs sessions.
func stepBack(int) {}

// enforced says that a limit of memory is no more than a wish here.
const enforced = false

// DefaultMemory is 0, no limit: how much there is is not known here.
func DefaultMemory() int64 { return 0 }

// A kernel has nothing here that could refuse a process calls.
type kernel struct{}

func thisKernel() kernel { return kernel{} }

// confine has nothing to give up that this system would take.
func (kernel) confine(int64, string) (settle func() error, err error) {
	return func() error { return nil }, nil
}

// become is for Linux: elsewhere nothing keeps an executable from files.
func become(*becomes, int64, bool) error {
	return errors.New("this system cannot keep it from files and network")
}

// Protection says what keeps a child from files and the network on this machine, and whether that is all there can
// be.
func Protection() (text string, whole bool) {
	return "a process of its own; this system cannot keep it from files and network", false
}
