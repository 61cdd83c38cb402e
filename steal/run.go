package steal

import (
	"fmt"

	"github.com/satin-peer/satin/job"
)

// Run is the computation that a core takes part in. Every peer of a run has the same, but for the fields that
// speak of this peer.
type Run struct {
	ID job.RunID
	// Root is the job at the top, with an empty path. Without a function this core never starts it.
	Root Job
	// Deputies are the peers that hold the root one after the other, in this order. The first is the owner.
	Deputies []PeerID
	// Recovery says what is done about lost work; the zero value is Salvage.
	Recovery Recovery
	// Fresh says that this peer is the owner and starts the root at once.
	Fresh bool
	// Proving says that no outcome of another peer is used that was not proved: see the order Prove. Whoever proves is
	// master alone and believes nobody who says otherwise. It wants all others to hoard.
	Proving bool
	// Hoard says that this peer gives nothing of the run to others, because they take part to be compared with it.
	Hoard bool
	// Restored are outcomes that are known already, from a checkpoint.
	Restored []Partial
	// Room bounds the memory that the run takes here, beside Config's bounds; nil: it is not counted.
	Room Room
}

// Recovery says what happens to work whose owner is gone.
type Recovery uint8

const (
	// Salvage keeps it: orphans run on and are adopted, finished results are kept, handed over and used again.
	Salvage Recovery = iota
	// Naive computes all of it again: the papers' comparison, and a refuge in doubt. Deputies still restart the root.
	Naive
	recoveries
)

var recoveryNames = [recoveries]string{"salvage", "naive"}

func (r Recovery) String() string {
	if r < recoveries {
		return recoveryNames[r]
	}
	return fmt.Sprintf("recovery(%d)", uint8(r))
}

// ParseRecovery reads what String writes.
func ParseRecovery(s string) (Recovery, error) {
	for r, name := range recoveryNames {
		if s == name {
			return Recovery(r), nil
		}
	}
	return 0, fmt.Errorf("recovery %q is not known, use %s or %s", s, Salvage, Naive)
}
