// Package wasm reads WebAssembly modules that strangers wrote, refuses those that are too large or want too much,
// and adds to the others what lets a host stop them and ask them for work: bytes to bytes, nothing is run.
//
// What [Prepare] promises of a module that it lets through:
//
//   - It is within [Limits], uses nothing but the MVP with sign extension, saturating conversion, multiple values
//     and bulk copies (so no vectors, threads, exceptions, tail calls), and imports only what the caller allows.
//     It has at most one memory, its own, whose maximum is within the limit.
//   - It is metered: on every way round a loop and at every call it pays fuel, a 32-bit count in a global of
//     its own, and when the fuel is out it calls the import satin1.tick, which gives it new fuel or ends it. Fuel is
//     about the number of instructions, within a factor that depends on [Limits].Body only. Copies pay by size.
//   - It names no type, function, local or global but its own: what is added lies behind those, out of its reach.
//   - Its NaNs are canonical wherever they can be seen: the one thing in which processors differ.
//   - All its mutable globals are exported, and it cannot change its tables or drop its data: memory and globals are
//     all there is to an instance's state.
//
// Whether its types fit is left to the compiler, which checks the outcome. Any bytes may be given; the work is linear
// in their number.
package wasm
