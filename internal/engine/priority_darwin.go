package engine

import "syscall"

// Of <sys/resource.h>: the background state of one thread, which also holds back its disk and network, and on
// processors with two kinds of cores keeps it on the slow ones.
const (
	prioDarwinThread = 3
	prioDarwinBG     = 0x1000
)

const idleName = "PRIO_DARWIN_BG"

func system() thread { return darwinThread{} }

// A darwinThread is in the background or not.
type darwinThread struct{}

func (darwinThread) idle() error    { return syscall.Setpriority(prioDarwinThread, 0, prioDarwinBG) }
func (darwinThread) nice(int) error { return errNoPriority }
