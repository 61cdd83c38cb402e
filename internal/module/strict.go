package module

import "github.com/satin-peer/satin/internal/wasm"

// Where results of strangers are compared a module must not be able to tell one machine from another: else whoever has
// written it could have honest members differ, and be put out for that. What a job does is a pure function of its
// argument as long as it sees nothing of who is hungry, who has begun what, and what is finished first. So in a strict
// host
//
//   - the attention word is raised, and children are wanted, by fuel alone: so many at each so many instructions, which
//     anybody may take as ever;
//   - join gives the child's outcome, and never the child back: it runs as a job of its own wherever it runs;
//   - any names the first;
//   - lattices, whose values honest machines have at different times, end the run with a line.
//
// Memory, the clock and random bytes are the same everywhere anyway, and so are all numbers, NaN included. The same
// children have jobs of their own wherever a job is run again, so what is known of them can be supplied.

const (
	// strictFuel is the same for processes and tabs.
	strictFuel = 2_000_000
	// strictTicks are between two times at which children are wanted, some 20 ms, as many as strictOffers.
	strictTicks  = 16
	strictOffers = 4
)

// strict says whether a job runs, and sees nothing of where.
func (in *instance) strict() bool { return in.m.host.cfg.Strict && in.engine != nil }

// regularly is called at each tick of a strict job.
func (in *instance) regularly() {
	if in.asked++; in.asked%strictTicks == 0 {
		in.raise()
	}
}

const latticesDiffer = "a job uses a lattice, so its results may honestly differ and cannot be compared: run it " +
	"without --verify"

// mayDiffer refuses what results of honest machines may differ by.
func (in *instance) mayDiffer() {
	if in.strict() {
		in.refuse(latticesDiffer)
	}
}

// Unlike says why results of a module's jobs may honestly differ, by what it imports; "" if that does not show it. It
// does not run the module.
func Unlike(bin []byte) string {
	if wasm.Imports(bin, wasm.DefaultLimits(), Consent, "lattice") {
		return latticesDiffer
	}
	return ""
}
