// Package library is the modules that one peer has: some on its disk, within a bound, and others' when a run wants
// them. Other constants of one name can be kept alike ([Kind]).
//
// A module is named by its hash (package module), which is the digest of a constant of package sharedobj. So what
// fetches a module is that package's core: piece by piece, each verified as it comes, from several peers at once,
// one copy for each cluster. A [Core] here says what there is to fetch, for how long, what is written, and what
// goes when the disk is full; it has no I/O, clock, goroutine or randomness of its own. A [Library] carries that
// out.
//
// # What holds
//
//   - What [Library.Bytes] gives hashes to its name, whoever brought it and whatever has become of the disk.
//   - A module that a run wants is fetched until it is here or no run wants it any more. Those that have it are
//     asked: those said to (the run's owner, whoever announced it), then, if that is in vain, anybody.
//   - The files, with the code compiled of them, stay within Config.Most bytes, but for those of runs that go on;
//     the one used longest ago goes first. What does not fit beside those is kept in memory as long as there is
//     room.
//   - Nobody makes this peer keep a module that no run of its own wants: what is passed on to the cluster stays in
//     memory, within a bound.
//   - Messages may be lost, late, repeated or wrong: that costs time. What is no module is not taken in.
package library
