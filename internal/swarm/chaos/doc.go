//go:build unix

// Package chaos does harm to swarms of real satin-peer processes while they run real applications, and sees
// that the answer is the sequential program's all the same. What happens, to whom, and what must be seen
// before it happens is drawn from a seed, so a seed that fails can be repeated; what the processes make of it
// depends on the machine, so it may take a few repetitions.
//
// # What is checked
//
//   - The answer is printed, within a bound, and is that of the sequential program, letter for letter.
//   - Every process that is left answers status, takes part in no run any more, and has no more goroutines
//     than before the run.
//   - Processes that were told to leave, in the run or after it, do so within a bound, with exit code 0.
//   - Where a process lies, the answer is as exact, nobody else is put out, and how long it took until nobody who
//     was there knew the liar is printed: see the folder liar.
//   - No process has panicked, and none has written where it has no business, or left anything half written.
//
// # Where
//
// Processes are killed by their own pid, run on loopback, and have directories of their own. Where the system
// allows it, those whose network is to be cut or whose disk is to be filled run in a swarm.Lab. Elsewhere the
// network is cut by a swarm.Shaper, and no disks are filled; the report says so.
package chaos
