// Package child runs the engine of one run in a process of its own, so that no job can harm more than that
// process: not the daemon, its keys, its files or the network. [Start] starts it and is an engine behind the
// port; [Main] is what that process does.
//
// # What a child has
//
// A pipe to read orders from, one to tell events to, and one for its last words. It inherits no other open
// file and no environment, and its directory is the root. Its memory, open files and core files are limited
// (Linux; elsewhere memory is a wish that the garbage collector hears), it is the first that the kernel ends
// when memory is short, and it may neither open files nor connect or listen by TCP where the kernel has
// Landlock; seccomp filters refuse it sockets, other programs and processes, and, when its module is compiled,
// writing: [Protection] says what is in force here. It ends when its pipe of orders does, and on Linux also
// when the thread that started it is gone, so never later than its parent.
//
// # How long it lives
//
// It is kept as long as its peer takes part in its run, and computes for no other: nothing of one run may reach the
// next. None is started ahead: an idle one would hold its memory on a volunteer's machine all the time to save each
// run some milliseconds once (make bench-take).
//
// # What happens when it dies
//
// A stack that overflows, memory that runs out, a signal: the engine tells Died, with the reason in one line.
// All jobs that it had are lost, as in a crash of the peer, and whoever drives it has to say so to the others.
package child
