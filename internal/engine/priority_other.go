//go:build !linux && !windows && !darwin && !freebsd

package engine

const idleName = "idle priority"

func system() thread { return otherThread{} }

// An otherThread has no priority that can be set.
type otherThread struct{}

func (otherThread) idle() error    { return errNoPriority }
func (otherThread) nice(int) error { return errNoPriority }
