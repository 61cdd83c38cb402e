//go:build linux || freebsd

package senses

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// terminals are the files whose time of access is when somebody last typed something there: FreeBSD's own console has a
// v in its names.
var terminals = []string{"/dev/pts/[0-9]*", "/dev/tty[0-9]*", "/dev/ttyv*"}

// terminalsUntouched says when the last terminal was typed at; ok is whether there is any.
func terminalsUntouched(patterns []string, now time.Time) (since time.Duration, ok bool) {
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern) // the patterns are right
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil || info.Mode().Type() != fs.ModeDevice|fs.ModeCharDevice {
				continue
			}
			if ago := max(now.Sub(accessed(info)), 0); !ok || ago < since {
				since, ok = ago, true
			}
		}
	}
	return since, ok
}
