package satin

import "slices"

// Exec runs an executable that is no part of this program, gives it input on its standard input, and returns what it
// writes on its standard output: a legacy program that does a part of the work (van Nieuwpoort et al., Satin: A
// High-Level and Efficient Grid Programming Model, section 3.5). It blocks until that has ended, and the worker's core
// is the executable's as long.
//
// The name is one of those that the application declares (apps.App, Executables). The owner of the run says by the
// setting executables which file that is; the run then needs that very file, by its hash, and goes to peers whose
// owners have allowed it by the same setting, and to no others. There it runs without files, network, environment,
// other processes, and with the memory that jobs have, and ends when the job is not wanted any more. Input and output
// may have 16 MiB, the arguments 64 KiB, and it may take ten minutes. It must be a pure function of input and
// arguments: the job may run again, elsewhere.
//
// The error says in one line what is wrong: there is no such executable, it ended with another status than 0, it wrote
// too much or did not end. Without a daemon (run --local) the same settings count. A Pool of one's own has the
// executables that its Config says; without a Pool, and in modules, there are none.
func Exec(f *Frame, name string, input []byte, args ...string) ([]byte, error) {
	return f.worker().Execute(name, input, slices.Clone(args))
}
