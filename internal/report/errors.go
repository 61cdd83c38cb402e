package report

import "errors"

// Why a peer does not do what a command or the page asks of it. They pass the commands' socket, and become the
// statuses of replies to the page.
var (
	ErrBadInput = errors.New("bad input")
	ErrNotFound = errors.New("not found")
	ErrRefused  = errors.New("refused")
	// it may work later: a peer did not answer in time, the daemon is leaving
	ErrUnavailable = errors.New("unavailable")
)
