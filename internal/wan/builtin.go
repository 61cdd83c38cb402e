package wan

import (
	"embed"
	"io/fs"
)

//go:embed scenarios
var embedded embed.FS

// Scenarios holds the scenario files of the CRS and Albatross papers: scenario1 to scenario11, figure4 (that
// paper's script, word for word) and the trace das.trace that scenario9 measures. The README beside them says
// which values are published and which are ours.
func Scenarios() fs.FS {
	files, err := fs.Sub(embedded, "scenarios")
	if err != nil {
		panic(err) // a literal name that is embedded above
	}
	return files
}
