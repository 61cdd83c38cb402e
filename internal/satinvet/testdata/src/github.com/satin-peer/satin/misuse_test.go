package satin_test

import "github.com/satin-peer/satin"

// misuse does what the engine's own tests do: break the rules to see what happens.
func misuse(f *satin.Frame, n int) int {
	satin.Spawn(f, misuse, n)
	x := satin.Spawn(f, misuse, n)
	return x.Get() + x.Get()
}
