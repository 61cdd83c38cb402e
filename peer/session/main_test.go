package session_test

import (
	"flag"
	"testing"
)

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait, mostly
		panic(err)
	}
	m.Run()
}
