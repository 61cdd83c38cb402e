//go:build !wasip1

package apps

import (
	"io"
	"os"
)

// readInput reads a file, and one byte more than the limit of a larger one.
func readInput(path string, limit int64) ([]byte, error) {
	// Stat before Open: opening a named pipe would wait for its other end.
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, "read", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &InputError{What: path, Got: kind(info.Mode()), Want: "a file"}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, "read", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fileError(path, "read", err)
	}
	return data, nil
}
