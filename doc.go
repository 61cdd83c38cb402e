// Package satin is a programming model for recursive programs that run on many cores and many machines as if they
// were one, and the engine that runs them on the cores of this machine.
package satin
