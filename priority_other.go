//go:build !linux

package satin

// lowerPriority does nothing where a thread has no priority of its own that the standard library can set.
func lowerPriority(int, bool) {}
