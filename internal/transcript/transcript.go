// Package transcript tries cores on the transcripts in their testdata: conversations between a few peers, written in a
// small command language and answered by all that the cores then send and order. Read them as documentation of the
// protocol; regenerate them with
//
//	go test ./steal -run TestTranscripts -rewrite
//
// only when every changed line is understood. Messages stay in flight until a command delivers or drops them, so that a
// transcript decides each race. Commands that nothing comes of stand above the one whose answer is shown.
package transcript

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Play plays each transcript on what open makes: a function that carries out a command and writes what comes of it.
func Play(t *testing.T, open func() (said *strings.Builder, command func(*testing.T, *datadriven.TestData))) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "rapid") || strings.HasSuffix(path, ".md") {
			return // saved failures of the property tests, and what explains the commands
		}
		said, command := open()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			said.Reset()
			command(t, d)
			for line := range strings.Lines(d.Input) {
				if said.Len() > 0 {
					t.Fatalf("%s: %s is answered by %q: show that, and begin anew with %s", d.Pos, d.Cmd, said, line)
				}
				var err error
				if d.Cmd, d.CmdArgs, err = datadriven.ParseLine(strings.TrimSpace(line)); err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				command(t, d)
			}
			if said.Len() == 0 {
				return "ok\n"
			}
			return said.String()
		})
	})
}
