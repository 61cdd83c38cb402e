// Package porttest tests engines behind the engine port: all of them do the same, in this process or elsewhere.
// Its jobs are functions of the module that it is linked into.
package porttest
