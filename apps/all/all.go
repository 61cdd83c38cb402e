// Package all lists the applications that are built into the command.
package all

import (
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/barneshut"
	"github.com/satin-peer/satin/apps/fib"
	"github.com/satin-peer/satin/apps/gene"
	"github.com/satin-peer/satin/apps/grammar"
	"github.com/satin-peer/satin/apps/integrate"
	"github.com/satin-peer/satin/apps/knapsack"
	"github.com/satin-peer/satin/apps/nqueens"
	"github.com/satin-peer/satin/apps/othello"
	"github.com/satin-peer/satin/apps/raytracer"
	"github.com/satin-peer/satin/apps/sat"
	"github.com/satin-peer/satin/apps/tsp"
	"github.com/satin-peer/satin/apps/uts"
)

// Apps returns every built-in application, sorted by name.
func Apps() []apps.App {
	return []apps.App{
		barneshut.App,
		fib.App,
		gene.App,
		grammar.App,
		integrate.App,
		knapsack.App,
		nqueens.App,
		othello.App,
		raytracer.App,
		sat.App,
		tsp.App,
		uts.App,
	}
}
