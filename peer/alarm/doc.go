// Package alarm decides what a member does about accusations: which it tries, whom they show to be a liar, and when it
// says again what others may have missed. Package peer carries that out, and internal/sim/liars among members of whom
// some are cut off and some lie.
//
// It is a pure core: it does nothing and is told the time, and the same inputs give the same decisions. A Docket has
// one trial after the other; Case says what a trial shows. A Reminder is about what is told to everybody and may be
// lost, Repeats about the statements of one kind, and Tries about what is told to one member that may not answer.
package alarm

// PeerID names a member.
type PeerID string

// Hash is that of an accusation, or of an outcome.
type Hash = [32]byte
