package satintest_test

import (
	"fmt"
	"testing"

	"github.com/satin-peer/satin/satintest"
)

// A test of a branch-and-bound program: whatever its jobs hear of each other, the result is the same. That it is the
// right one is for the test to say.
func ExampleAnyJoin() {
	var t testing.T // a test has one
	fmt.Println(satintest.AnyJoin(&t, 100, pay, 6))
	// Output: [3 3]
}
