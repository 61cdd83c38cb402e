// Package guest makes a WebAssembly module of an application: of the same Go source that a command of its own is
// made of.
//
// satin-peer build writes the main package that calls [Serve] in an init function, and compiles it with GOOS=wasip1
// and -buildmode=c-shared. Compiled for anything else, Serve does nothing.
//
// Inside the module package satin is the engine of one worker. It runs jobs in place, and gives its oldest ones to
// the host when that raises the attention word; docs/modules.md describes what they say to each other.
package guest
