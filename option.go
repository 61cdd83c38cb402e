package satin

import (
	"fmt"
	"reflect"

	"github.com/satin-peer/satin/internal/engine"
)

// An Option is something that Register is told of a function.
//
// Checked and Small are about arguments. The others are about results, for runs that do not believe every member
// (satin-peer run --verify): there a result of another machine is used only if it proves itself or if others have come
// to the same. One of Exact, Rounded and Essence is needed for that, and Certificate may go with it; a function without
// any of these can be run, but not verified.
//
// What jobs share is not compared: whoever lies may offer to a Lattice, and mislead all who read it. So none of them is
// for jobs that read one, unless nothing that it may hold can make their result wrong.
type Option struct {
	set func(d *engine.Desc)
	// what it is about; nil: any
	arg, result reflect.Type
	name        string
}

// describe carries options out.
func describe(d *engine.Desc, options []Option) {
	for _, o := range options {
		for _, t := range [...][2]reflect.Type{{o.arg, d.Arg}, {o.result, d.Result}} {
			if t[0] != nil && t[0] != t[1] {
				panic(fmt.Sprintf("satin: Register(%q): %s is about %v, and the function has %v", d.Name, o.name, t[0], t[1]))
			}
		}
		o.set(d)
	}
	if d.Small == nil {
		return
	}
	if err := d.Refuses(d.Small); err != nil {
		panic(fmt.Sprintf("satin: Register(%q): its small instance is refused: %v", d.Name, err))
	}
}

// Checked says of an argument that comes from another machine, or with a run that others submit, what is wrong with
// it: then the job fails with that error, and a run is not taken part in. The check must be quick, end for any value of
// the type, and change nothing.
func Checked[A any](check func(A) error) Option {
	return Option{name: "Checked", arg: reflect.TypeFor[A](), set: func(d *engine.Desc) {
		d.Check = func(arg any) error { return check(arg.(A)) }
	}}
}

// Exact says that equal jobs come to equal results to the bit, always and on every machine: no job reads a Lattice,
// leaves a loop over results early so that it matters which came first, or computes with floating point; and where
// Kept.Read finds nothing, in a job or in one below it, Certificate says ErrNothing.
func Exact() Option {
	return Option{name: "Exact", set: func(d *engine.Desc) { d.Alike = engine.Exact }}
}

// Rounded is Exact for functions that compute with floating point, always in the same order: they come to the same
// result on machines that round alike, and are compared between these only.
func Rounded() Option {
	return Option{name: "Rounded", set: func(d *engine.Desc) { d.Alike = engine.Rounded }}
}

// Unlike says of some arguments of a root job why results of its jobs cannot be compared, whatever the other options
// say: a sentence that a run to be verified is refused with; empty if they can. Of any other job it is asked before
// somebody is put out for what he says of that: who owns a run may have others compute all functions of an application.
func Unlike[A any](why func(A) string) Option {
	return Option{name: "Unlike", arg: reflect.TypeFor[A](), set: func(d *engine.Desc) {
		d.Unlike = func(arg any) string { return why(arg.(A)) }
	}}
}

// Essence is for results that may honestly differ: it gives what all right results of a job have in common, as a
// result. That is what is compared, to the bit, and what is used then in the place of the results: what it leaves alone
// must be the same for all. Its error says that a result is wrong, whose author is put out of the swarm for it. It must
// be quick, end for any values of the types, and change nothing.
func Essence[A, R any](of func(A, R) (R, error)) Option {
	return Option{name: "Essence", arg: reflect.TypeFor[A](), result: reflect.TypeFor[R](), set: func(d *engine.Desc) {
		d.Essence = func(arg, result any) (any, error) { return of(arg.(A), result.(R)) }
	}}
}

// ErrNothing is for Essence and Certificate to return of a result that is no answer, as when a job did not get what it
// was to read (Kept.Read): nobody is put out for it, and somebody else is asked, or the same machine after a while. If
// nobody ever has an answer, a run that is verified by others waits.
var ErrNothing = engine.ErrNothing

// Small names a small instance of a program, for the function of its root job: an argument for which one core needs
// between 5 and 200 ms. A run that adapts times it now and then on each of its peers, on idle cores and for at most
// half a percent of their time, to learn how fast they are (programming model, 4.5: "the actual application with a
// smaller input problem"). It runs as the sequential program; its result is thrown away. Without one, a job that has
// run is timed.
func Small[A any](arg A) Option {
	return Option{name: "Small", arg: reflect.TypeFor[A](), set: func(d *engine.Desc) { d.Small = arg }}
}

// Certificate is for results that prove themselves, as a model of a formula does: true says that this one is right,
// whatever others may come to, so that nobody computes it again; an error, that it is wrong, whose author is put out
// of the swarm for it; neither, that it has to be compared. It must be quick, end for any values of the types, and
// change nothing.
func Certificate[A, R any](check func(A, R) (bool, error)) Option {
	return Option{name: "Certificate", arg: reflect.TypeFor[A](), result: reflect.TypeFor[R](),
		set: func(d *engine.Desc) {
			d.Proves = func(arg, result any) (bool, error) { return check(arg.(A), result.(R)) }
		}}
}
