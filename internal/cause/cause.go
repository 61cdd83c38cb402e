// Package cause says why the system refused a file.
package cause

import (
	"errors"
	"io/fs"
)

// Of is the cause of an error, as "no such file or directory", without the operation and the path, which the text
// around it names; an error of another kind is given back as it is.
func Of(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
