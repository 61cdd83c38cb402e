// Package cputime tells how much processor time this process has used, or another one, for what is to be bounded or
// compared on a machine where other programs run, too.
package cputime
