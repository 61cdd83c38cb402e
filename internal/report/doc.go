// Package report holds the words in which a peer tells of itself and of its part in runs: to the commands
// (peer/control), to the page (dashboard), and, of statistics, to other peers. Each of them is here once; what a
// room counts for itself, as package steal does, is translated into them in one place, in package peer.
//
// The types are plain data. They hold no locks, and a copy shares nothing with its original but slices, which
// nobody changes after they were handed out.
package report
