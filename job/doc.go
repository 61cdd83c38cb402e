// Package job says which job is meant: a run's name, a job's place in the run's tree, and the hash of what it
// computes. The engine that runs jobs and everything that moves, keeps or shows them share these words, and
// nothing else.
//
// All types are values and safe for concurrent use as long as nobody changes a Path in place: a Path that was
// given to somebody is not changed any more. The encodings of all of them (the bytes of a RunID and an Identity,
// the elements of a Path) are on the wire and on disks; they do not change.
package job
