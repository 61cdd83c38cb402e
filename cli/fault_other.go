//go:build !unix

package cli

import (
	"errors"
	"time"
)

const canStall = false

func stall(time.Duration) error { return errors.New("no process can be stopped on this system") }
