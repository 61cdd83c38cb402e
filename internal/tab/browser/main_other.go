//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "browser: this is a program for browsers: go run ./internal/tab/pack builds it")
	os.Exit(1)
}
