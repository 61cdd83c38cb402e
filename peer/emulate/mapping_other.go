//go:build !linux

package emulate

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

var errPlatform = fmt.Errorf("emulated networks need Linux: %w", errors.ErrUnsupported)

func monotonic() time.Duration { return 0 }

type mapping struct{ words []atomic.Uint64 }

func createLinks(string, int) error { return errPlatform }

func openMapping(string) (*mapping, error) { return nil, errPlatform }

func (m *mapping) alone(func()) error { return errPlatform }

func (m *mapping) close() error { return nil }
