//go:build !linux && !freebsd && !darwin && !windows

package senses

import "time"

func onBattery() bool                  { return false }
func metered() bool                    { return false }
func untouched() (time.Duration, bool) { return 0, false }
