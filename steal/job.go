package steal

import "github.com/satin-peer/satin/job"

// Job is one spawned invocation on its way between peers. The core moves it and never looks inside: function
// and argument are the application's, encoded by the adapter when the job was taken. A Job is immutable once
// made; messages and tables share its bytes.
type Job struct {
	Path     job.Path     `cbor:"1,keyasint,omitempty"`
	Identity job.Identity `cbor:"2,keyasint"`
	Function string       `cbor:"3,keyasint"`           // registered name
	Arg      []byte       `cbor:"4,keyasint,omitempty"` // encoded argument
	// Restarted marks a job that was given away before and came back, and all that is spawned under it: its finished
	// children may exist elsewhere as orphans (fault tolerance paper, 3.1).
	Restarted bool `cbor:"5,keyasint,omitempty"`
	// Names says what shared values the job reads and where they are to be had, for whoever keeps them (the driver). A
	// job that has it begins when the driver says that they are here. It is no part of the identity: the argument has
	// the digests.
	Names []byte `cbor:"6,keyasint,omitempty"`
	// Depth is how often the job, or one above it, was given to somebody once more because there was nothing else to do
	// (eager.go): a hint to divide it further. It is no part of the identity, and results do not depend on it.
	Depth uint8 `cbor:"7,keyasint,omitempty"`
}

// MaxDepth bounds Job.Depth.
const MaxDepth = 16

// Fits says whether the identity is that of function and argument. Whoever computes a job signs for its identity: of
// one that does not fit that would be a lie, which whoever has given it could show to all.
func (j *Job) Fits() bool { return j.Identity == job.Identify(j.Function, j.Arg) }

// isGiven says whether a peer may have been given the job: it fits, as far as its argument is with it, and is not the
// root, whose outcome is the answer of whoever runs it.
func (j *Job) isGiven() bool {
	fetched := len(j.Arg) == 0 && len(j.Names) > 0
	return len(j.Path) > 0 && (fetched || j.Fits())
}
