package apps

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/internal/cause"
)

// Int reads text as a whole number from lo to hi. What names it in the error: "N", "--threshold".
func Int(what, text string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, &InputError{What: what, Got: given(text), Want: wholeNumber(lo, hi)}
	}
	return n, IntRange(what, n, lo, hi)
}

// IntRange is the check of [Int] for a number that a flag has parsed already.
func IntRange(what string, n, lo, hi int) error {
	if n < lo || n > hi {
		return &InputError{What: what, Got: strconv.Itoa(n), Want: wholeNumber(lo, hi)}
	}
	return nil
}

// FloatRange refuses x outside lo to hi, both allowed, and what is not a number.
func FloatRange(what string, x, lo, hi float64) error {
	if math.IsNaN(x) || x < lo || x > hi {
		return &InputError{What: what, Got: strconv.FormatFloat(x, 'g', -1, 64),
			Want: fmt.Sprintf("a number from %g to %g", lo, hi)}
	}
	return nil
}

func wholeNumber(lo, hi int) string { return fmt.Sprintf("a whole number from %d to %d", lo, hi) }

// ArgCount refuses a wrong number of positional arguments. Usage is the application's Args, such as "N" or "FILE".
func ArgCount(args []string, want int, usage string) error {
	if len(args) == want {
		return nil
	}
	return WrongArgs(args, exactly(want, usage))
}

// WrongArgs refuses positional arguments as they are too few or too many: it shows them, and what is wanted.
func WrongArgs(args []string, want string) error {
	return &InputError{What: "arguments", Got: given(strings.Join(args, " ")), Want: want}
}

func exactly(n int, usage string) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("exactly %d (%s)", n, usage)
}

func given(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// ReadFile reads a whole input file of 1 to limit bytes. A file that is missing, unreadable, empty, larger,
// or not a regular file is an *InputError in one line. The limit holds for what is read, whatever the file
// system says its size is.
func ReadFile(path string, limit int64) ([]byte, error) {
	if path == "" {
		return nil, &InputError{What: "file name", Got: given(path), Want: "a file that can be read"}
	}
	data, err := readInput(path, limit)
	if err != nil {
		return nil, err
	}
	switch {
	case len(data) == 0:
		return nil, &InputError{What: path, Got: "an empty file", Want: "some input"}
	case int64(len(data)) > limit:
		return nil, &InputError{What: path, Got: "a larger file", Want: fmt.Sprintf("at most %d bytes", limit)}
	}
	return data, nil
}

// fileError says what is wrong with a file that the user has named.
func fileError(path, want string, err error) error {
	return &InputError{What: path, Got: cause.Of(err).Error(), Want: "a file that can be " + want}
}

func kind(mode fs.FileMode) string {
	if mode.IsDir() {
		return "a directory"
	}
	return "a device, pipe or socket"
}
