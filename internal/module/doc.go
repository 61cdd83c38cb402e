// Package module runs WebAssembly modules that spawn and sync, of the ABI satin1, which docs/modules.md describes:
// strangers' programs, sandboxed, with equal results on every machine.
//
// A [Host] compiles modules, each of which package wasm has checked and metered, and runs their jobs: a
// function, its argument as bytes, and an outcome as bytes. Spawn and Get stay inside the module. Every
// hundred microseconds or so the module runs out of fuel and passes by here; if [Engine.Attend] says that somebody
// is hungry, its attention word is raised, and at its next spawn it offers its oldest children. Each of these is a
// job of the engine, and runs in an instance of its own or is taken back by who offered it.
//
// # Guarantees
//
// A job begins in an instance that is as the module was when it had been initialized: its outcome depends on the
// module's bytes, the function and the argument. It can do nothing but compute and say words to the log: there
// is no clock, no randomness and no file, and the imports that look like it give constants.
//
// Whatever a module does, from garbage to an endless loop, ends in an [*Error] of one line or is ended by a
// panic in Attend, at the latest a few ms after it; nothing it says is believed beyond its own memory. Memory is
// bounded by instance; how many instances there are is for the engine to bound. Compiling takes time in
// proportion to the module and cannot be stopped.
package module
