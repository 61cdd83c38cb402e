// Command satin-peer runs divide-and-conquer programs on all cores of this machine, or of a swarm of them.
//
//	satin-peer apps                 which applications are built in
//	satin-peer run nqueens 12       runs one of them
//	satin-peer run nqueens --help   explains it
//	satin-peer run ./golomb.wasm 9  runs a module that somebody else has written
//	satin-peer start                takes part in a swarm; status, invite, join, pause, leave and others talk to it
//
// Package cli is what it is made of: a command of your own, with your applications, takes three lines.
package main

import (
	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/cli"
)

func main() { cli.Main(all.Apps()...) }
