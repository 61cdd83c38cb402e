package apps

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
)

// CheckOutput tells before a run whether [WriteFile] could write path after it: the name is not a directory
// and a file can be created beside it. It leaves an existing file as it is. Inputs are files that the run
// reads: path must be none of them, under whatever name.
func CheckOutput(path string, inputs ...string) error {
	if path == "" {
		return &InputError{What: "file name", Got: given(path), Want: "a file that can be written"}
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return &InputError{What: path, Got: kind(info.Mode()), Want: "a file that can be written"}
		}
		for _, input := range inputs {
			if read, err := os.Stat(input); err == nil && os.SameFile(info, read) {
				return &InputError{What: path, Got: "the run's own input", Want: "another file to write to"}
			}
		}
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".satin-*")
	if err != nil {
		return fileError(path, "written", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// WriteFile writes path through write: first to a temporary file in the same directory, which is flushed to
// the disk and renamed when all of it is there. After an error, path is as it was and the temporary file is
// gone.
func WriteFile(path string, write func(io.Writer) error) error {
	if err := durable.Write(path, 0o644, true, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, cause.Of(err))
	}
	return nil
}

// WriteText is WriteFile, compressed if the name ends in .gz.
func WriteText(path string, write func(io.Writer) error) error {
	if !strings.HasSuffix(path, ".gz") {
		return WriteFile(path, write)
	}
	return WriteFile(path, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(write(z), z.Close())
	})
}
