package satinvet_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/satin-peer/satin/internal/satinvet"
)

// Each package of testdata says in comments what is to be reported and which facts are to be exported;
// nothing else may be. They are type-checked against a copy of package satin's face, so they need neither the
// engine nor a network.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), satinvet.Analyzer,
		"lost",
		"taken",
		"travel",
		"registry",
		"registry/lib",
		"escape",
		"recovers",
		"impure",
		"shared",
		"silenced",
		"clean",
		"github.com/satin-peer/satin",
	)
}
