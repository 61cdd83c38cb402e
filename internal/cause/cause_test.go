package cause_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/satin-peer/satin/internal/cause"
)

// The cause is what the system says; all else of an error is left as it is.
func TestOf(t *testing.T) {
	_, err := os.ReadFile(t.TempDir() + "/none")
	if got := cause.Of(fmt.Errorf("reading: %w", err)); !errors.Is(got, fs.ErrNotExist) ||
		got.Error() != "no such file or directory" {
		t.Errorf("%v", got)
	}
	if other := errors.New("other"); cause.Of(other) != other || cause.Of(nil) != nil {
		t.Error("another error is changed")
	}
}
