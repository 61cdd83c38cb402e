//go:build !linux

package engine

// lowerPriority does nothing where a thread has no priority of its own that the standard library can set.
func lowerPriority(int, bool) {}
