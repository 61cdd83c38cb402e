//go:build !unix

package child

import "os"

// pollable has nothing to do here.
func pollable(f *os.File) *os.File { return f }
