// Package objects simulates peers that share objects: the cores of package sharedobj with modelled engines,
// networks and faults, in virtual time, from a seed, single-threaded. The same seed gives the same run.
//
// A world has peers in clusters. Some make constants and objects and write to them, all offer to lattices,
// and jobs that name versions go from peer to peer. Messages are lost, repeated, delayed and cut off, peers
// crash and come back, and one may lie, until a time after which all is calm. What must hold is in
// invariant.go; a run that breaks it ends with a *Violation.
package objects
