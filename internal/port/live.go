package port

import "time"

// A Live engine is one that works by itself, as workers, or another process, do: whoever drives it collects
// what it has to tell.
type Live interface {
	Engine
	// Bell has a token when there may be something for Poll, and nobody has called it since. It is not rung
	// for what happens during Do: Poll is due after it.
	Bell() <-chan struct{}
	// Poll gives the events since the last call. The slice is valid until the next call of Poll. Again is
	// when to call at the latest, even if the bell does not ring; 0 is never. It does not block, and is
	// called by the goroutine that calls Do.
	Poll() (events []Event, again time.Duration)
	// Close ends all jobs and waits for them: a leaf that does not look at its attention word may take long.
	// Nothing is called afterwards but Bell and Close.
	Close()
}
