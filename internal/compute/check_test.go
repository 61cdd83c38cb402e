package compute_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
)

func init() {
	satin.Register("checked.even", even, satin.Checked(func(n int) error {
		switch {
		case n == 13:
			panic("unlucky")
		case n%2 != 0:
			return errors.New("it is odd")
		}
		return nil
	}))
}

func even(_ *satin.Frame, n int) int { return n }

// An argument that comes from outside is checked before its function sees it.
func TestArgumentsAreChecked(t *testing.T) {
	for n, want := range map[int]string{2: "", 3: "the argument of checked.even is refused: it is odd",
		13: "it cannot be checked: unlucky"} {
		arg, err := wire.Value().Encode(n)
		if err != nil {
			t.Fatal(err)
		}
		_, err = compute.ArgumentOf("checked.even", arg)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", n, err, want)
		}
	}
}
