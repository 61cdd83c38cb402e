// Package house has the rules of this repository that a program can check: who may import whom, how long files and
// functions may be, what every package must say of itself, which package-level variables there may be, and that the
// documents name files and parts of package satin that exist. Its test applies them to the repository; each rule is a
// function from a Tree to the problems it sees, and has a test that shows it a small tree with that problem in it.
//
// The import table (rooms.go) is the one that docs/architecture.md explains: a folder that is not in it is a
// problem too, so that a new room starts with a decision about what it may know.
package house
