// Package satin is the face of the real package, without an engine: enough to type-check what satinvet is tested on.
package satin

import (
	"context"
	"iter"
)

type Frame struct{ children int }

func (f *Frame) Sync()         {}
func (f *Frame) Abort()        {}
func (f *Frame) Aborted() bool { return false }

type Future[A, R any] struct{ slot int }

func (x Future[A, R]) Get() (r R)            { return }
func (x Future[A, R]) Try() (r R, err error) { return }

type FutureErr[A, R any] struct{ slot int }

func (x FutureErr[A, R]) Get() (r R, err error) { return }

type Group[A, R any] struct{ base int }

func (g Group[A, R]) Spawn(arg A)                {}
func (g Group[A, R]) Results() iter.Seq[R]       { return nil }
func (g Group[A, R]) Tries() iter.Seq2[R, error] { return nil }
func (g Group[A, R]) Abort()                     {}

type GroupErr[A, R any] struct{ base int }

func (g GroupErr[A, R]) Spawn(arg A)                  {}
func (g GroupErr[A, R]) Results() iter.Seq2[R, error] { return nil }
func (g GroupErr[A, R]) Abort()                       {}

type Pool struct{ frames []*Frame }

func Register[A, R any](name string, fn func(*Frame, A) R)             {}
func RegisterErr[A, R any](name string, fn func(*Frame, A) (R, error)) {}

func Spawn[A, R any](f *Frame, fn func(*Frame, A) R, arg A) (x Future[A, R]) { return }
func SpawnErr[A, R any](f *Frame, fn func(*Frame, A) (R, error), arg A) (x FutureErr[A, R]) {
	return
}
func Fork[A, R any](f *Frame, fn func(*Frame, A) R) (g Group[A, R])                { return }
func ForkErr[A, R any](f *Frame, fn func(*Frame, A) (R, error)) (g GroupErr[A, R]) { return }

func Run[A, R any](ctx context.Context, p *Pool, fn func(*Frame, A) R, arg A) (r R, err error) {
	return
}
func RunErr[A, R any](ctx context.Context, p *Pool, fn func(*Frame, A) (R, error), arg A) (r R, err error) {
	return
}

func RunPartial[A, R any](ctx context.Context, seed uint64, fn func(*Frame, A) R, arg A) (r R, err error) {
	return
}

type Constant[T any] struct{ v *T }

func ShareConstant[T any](f *Frame, v T) (c Constant[T]) { return }
func (c Constant[T]) Read(f *Frame) (v T)                { return }

type Object[S, W any] struct{ v *S }

func RegisterObject[S, W any](name string, fn func(S, W) S)               {}
func Share[S, W any](f *Frame, fn func(S, W) S, first S) (o Object[S, W]) { return }
func (o Object[S, W]) Write(f *Frame, w W) (next Object[S, W])            { return }
func (o Object[S, W]) Read(f *Frame) (s S)                                { return }

type Lattice[K, V any] struct{ v *V }

func RegisterLattice[K, V any](name string, join func(V, V) V, check func(K, V) error, options ...LatticeOption) {
}

type LatticeOption struct{}

func ShareLattice[K, V any](f *Frame, join func(V, V) V, about K, bottom V) (l Lattice[K, V]) {
	return
}
func (l Lattice[K, V]) Value(f *Frame) (v V) { return }
func (l Lattice[K, V]) Offer(f *Frame, v V)  {}
