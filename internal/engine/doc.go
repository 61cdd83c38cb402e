// Package engine runs jobs on the cores of this machine. Package satin puts types on it: applications see nothing of
// what is here. Whatever moves jobs between machines does it through a Pool and its Host: see border.go.
//
// A worker (Worker) is a goroutine with a core and a stack of records (Record), one for each job that was spawned
// and is not finished; stack.go says how thieves take the oldest ones without costing the owner anything,
// join.go how a frame waits for its children, sched.go who has a core.
//
// # Guarantees
//
// A job runs at most once here, unless it went out and was put back. A record that was taken out ends exactly
// once, however often and by whomever it is ended, put back or dropped. Only Take, Close, Run, Stats and Progress may
// block, Take for a millisecond, the last two for twenty.
package engine
