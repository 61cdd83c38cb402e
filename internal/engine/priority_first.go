//go:build !linux

package engine

// firstThread says whether the calling thread is the process's first, which other systems do not wait for.
func firstThread() bool { return false }
