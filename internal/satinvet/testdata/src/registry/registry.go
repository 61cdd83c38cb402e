// Package registry registers some of its jobs, some of them in the wrong place. // want package:"registers registry.early, registry.good, registry.late, registry.mayFail, registry.nested(, registry.testJob)?}$"
package registry

import (
	"context"

	"github.com/satin-peer/satin"
	"registry/lib"
)

func init() {
	lib.Define("registry.good", good)
	satin.RegisterErr("registry.mayFail", mayFail)
	for _, register := range []func(){registerNested} {
		register()
	}
}

var _ = func() bool {
	satin.Register("registry.early", early)
	return true
}()

func registerNested() { deeper() }

func deeper() { satin.Register("registry.nested", nested) }

func Start() {
	satin.Register("registry.late", late) // want `a job is registered outside init: another process that runs this program must know it`
}

func good(f *satin.Frame, n int) int {
	x1 := satin.Spawn(f, good, n)
	x2 := satin.Spawn(f, forgotten, n)        // want `forgotten is not registered, so satin.Spawn of it panics: add satin.Register\("registry.forgotten", forgotten\) to an init function of package registry`
	x3 := satin.SpawnErr(f, alsoForgotten, n) // want `alsoForgotten is not registered, so satin.SpawnErr of it panics: add satin.RegisterErr\("registry.alsoForgotten", alsoForgotten\)`
	x4 := satin.Spawn(f, lib.Job, n)
	x5 := satin.Spawn(f, lib.Forgotten, n) // want `Forgotten is not registered, so satin.Spawn of it panics: add satin.Register\("lib.Forgotten", Forgotten\) to an init function of package lib`
	x6 := satin.SpawnErr(f, mayFail, n)
	v3, _ := x3.Get()
	v6, _ := x6.Get()
	return x1.Get() + x2.Get() + v3 + x4.Get() + x5.Get() + v6
}

func early(f *satin.Frame, n int) int {
	Start()
	x := satin.Spawn(f, nested, n)
	y := satin.Spawn(f, late, n)
	return x.Get() + y.Get()
}

func nested(f *satin.Frame, n int) int {
	g := satin.Fork(f, forgotten) // want `forgotten is not registered`
	g.Spawn(n)
	for r := range g.Results() {
		n += r
	}
	return n
}

func late(f *satin.Frame, n int) int      { return n }
func forgotten(f *satin.Frame, n int) int { return n }

func alsoForgotten(f *satin.Frame, n int) (int, error) { return n, nil }

func mayFail(f *satin.Frame, n int) (int, error) { return n, nil }

func run() (int, error) {
	return satin.Run(context.Background(), nil, forgotten, 1) // want `forgotten is not registered`
}
