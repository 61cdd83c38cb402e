package child

import (
	"os"
	"strconv"
)

// asIf is this kernel as if it could refuse no more.
func asIf(landlock int, calls bool) kernel {
	k := thisKernel()
	if k.landlock = min(k.landlock, landlock); !calls {
		k.calls = nil
	}
	return k
}

// MainAsIf is Main on such a kernel.
func MainAsIf(in, out *os.File, landlock, calls string) int {
	abi, err := strconv.Atoi(landlock)
	if err != nil {
		return 2
	}
	return asIf(abi, calls == "true").main(in, out)
}

// ProtectionAsIf is what is said of such a kernel.
func ProtectionAsIf(landlock int, calls bool) (text string, whole bool) {
	return asIf(landlock, calls).protection()
}

// Kernel is what this one can.
func Kernel() (landlock int, calls bool) {
	k := thisKernel()
	return k.landlock, k.calls != nil
}

// GroupMemory is what control groups may have, by files in a place of the test's own.
var GroupMemory = groupMemory

// PID is the number of the engine's process.
func (e *Engine) PID() int { return e.process.Pid }
