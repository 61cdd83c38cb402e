// Package runlife runs the cores of package runs on many modelled peers, in virtual time and with everything that may
// go wrong: messages are lost and delayed, the network falls apart and comes together, peers crash and come back,
// with their disks whole, with a file missing, or with one that they do not know to be there, disks are full, owners
// leave, cancel, suspend and resume, two peers answer the same run, jobs are no functions of their arguments, and a
// member lies. Members' clocks may be wrong for a while; runs may be verified by their owners, and need modules that
// are fetched.
//
// A schedule is all of that, drawn from a seed; the same seed gives the same run, event for event. What moves jobs
// is modelled: a root job computes for a while on one peer, and goes to another one when its master is silent. Or it
// is the core of package steal on its driver (part.go), as in a peer, with an engine that computes small trees:
// orders of package runs begin and end it, it finds its checkpoints again, and it says who is master and what came out.
// After the last fault there is quiet, and then everything must have come to its end. Check says what is checked.
package runlife
