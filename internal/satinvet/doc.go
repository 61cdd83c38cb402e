// Package satinvet finds the usual mistakes in programs written for package satin: the part of the papers'
// sync adviser, for Go. The papers' compiler has to say that "the return values of spawned method invocations
// are undefined until a sync is reached" (programming model, 3.1); here Get is the only way to a result, so
// the same mistakes look different:
//
//   - a result that is never taken: Spawn's Future unused, assigned to _, or overwritten; a group whose
//     Results nobody ranges over; Results called without a range;
//   - a result taken wrongly: a Future printed, compared or turned into an interface value in place of its
//     result; Get on a path where nothing was spawned; the same Future taken twice on one path, or in each
//     turn of a loop;
//   - a job that cannot travel: a closure, method value, method expression or instance of a generic function; a
//     function that nobody registers (registrations in other packages are known through facts); Register called
//     outside init; an argument or result type that holds a Frame, Future or Group;
//   - a handle that outlives its job: a Frame, Future or Group in another goroutine, a channel or a package-level
//     variable, or a Frame stored in memory that came from outside the function;
//   - recover around code that spawns or waits: it swallows the unwinding of an aborted job; use Future.Try;
//   - a job that writes package-level variables: it is not a pure function of its argument, so running it again, or
//     elsewhere, gives another answer;
//   - what other jobs read, changed in place: the state of an Object or Constant, the value of a Lattice, or
//     the arguments of the functions registered for them; a Lattice's value taken before a loop that spawns
//     and looked at in it; a handle of a shared value inside a slice or a map, where the runtime does not
//     look.
//
// It reports only what is wrong on every run that reaches the reported place, as far as the text of one
// package can tell; it follows local variables, not elements of slices or fields of structs, and it does not
// look into functions of other packages. Tests may register jobs where they like and may count in
// package-level variables. Package satin and its own tests break the rules on purpose: there, only example
// files are looked at.
//
// A report is silenced by a comment on the same line or the line above, which must say why:
//
//	//satinvet:ignore the panic of the second Get is what this test is about
//
// A comment that silences nothing is reported too.
package satinvet
