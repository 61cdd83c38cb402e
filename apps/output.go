package apps

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
)

// CheckOutput tells before a run whether [WriteFile] could write path after it: the name is not a directory
// and a file can be created beside it. It leaves an existing file as it is. Others are files that the run
// reads, or writes as well: path must be none of them, under whatever name.
func CheckOutput(path string, others ...string) error {
	if path == "" {
		return &InputError{What: "file name", Got: given(path), Want: "a file that can be written"}
	}
	if runtime.GOOS == "wasip1" {
		return &InputError{What: path, Got: "a file", Want: "none: modules write no files"}
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return &InputError{What: path, Got: kind(info.Mode()), Want: "a file that can be written"}
	case err != nil && !errors.Is(err, fs.ErrNotExist): // the name is too long, as a rule
		return fileError(path, "written", err)
	}
	for _, other := range others {
		alike := filepath.Base(path) == filepath.Base(other) && same(filepath.Dir(path), filepath.Dir(other))
		if alike || same(path, other) { // the first, as an output may not be there yet
			return &InputError{What: path, Got: "a file that the run reads or writes", Want: "another file to write to"}
		}
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".satin-*")
	if err != nil {
		return fileError(path, "written", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// same tells whether two names are of one file that is there.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, bad := os.Stat(b)
	return err == nil && bad == nil && os.SameFile(x, y)
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
