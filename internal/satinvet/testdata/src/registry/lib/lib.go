// Package lib has jobs for others, and a way of its own to register them. // want package:"registers registry/lib.Job, registry/lib.viaMethod, registry/lib.viaTable1, registry/lib.viaTable2}$"
package lib

import "github.com/satin-peer/satin"

type App struct{ names []string }

// Define registers a job under the name of an application.
func Define[A, R any](name string, fn func(*satin.Frame, A) R) { // want Define:"registers a parameter"
	define(name, fn)
}

func define[A, R any](name string, fn func(*satin.Frame, A) R) { satin.Register(name, fn) } // want define:"registers a parameter"

// Add registers a job and remembers its name.
func (a *App) Add(name string, fn func(*satin.Frame, int) int) { // want Add:"registers a parameter"
	a.names = append(a.names, name)
	satin.Register(name, fn)
}

func init() {
	define("lib.job", Job)
	new(App).Add("lib.method", viaMethod)
	for _, fn := range []func(*satin.Frame, int) int{viaTable1, viaTable2} {
		satin.Register("lib.table", fn)
	}
}

// Job is registered.
func Job(f *satin.Frame, n int) int { return Forgotten(f, n) }

// Forgotten is not.
func Forgotten(f *satin.Frame, n int) int {
	x1 := satin.Spawn(f, Job, n)
	x2 := satin.Spawn(f, viaMethod, n)
	x3 := satin.Spawn(f, viaTable1, n)
	x4 := satin.Spawn(f, viaTable2, n)
	return x1.Get() + x2.Get() + x3.Get() + x4.Get()
}

func viaMethod(f *satin.Frame, n int) int { return n }
func viaTable1(f *satin.Frame, n int) int { return n }
func viaTable2(f *satin.Frame, n int) int { return n }
