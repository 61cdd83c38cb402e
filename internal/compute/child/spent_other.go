//go:build !unix

package child

import "time"

// stopwatch tells how long ago it was made.
func stopwatch() func() time.Duration {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) }
}
