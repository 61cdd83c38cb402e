//go:build unix

package chaos

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/satin-peer/satin/internal/swarm"
)

// A process that ends by itself, well or not, is what a trial must not overlook; one that was killed, or left as it was
// told, is what it should be.
func TestNobodyEndsByHimself(t *testing.T) {
	for script, wrong := range map[string]string{
		"exit 0":        "peer 0 has ended by itself, with exit status 0",
		"exit 3":        "peer 0 has ended by itself, with exit status 3",
		"kill -TERM $$": "peer 0 has ended by itself, with signal: terminated",
		"kill -KILL $$": "",
	} {
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		s := swarm.Swarm{Binary: program, Dir: t.TempDir()}
		if err := s.Form(t.Context(), [][]string{nil}); err == nil {
			t.Fatalf("%s: it answers", script)
		}
		for _, away := range []bool{false, true} {
			tr := trial{all: s.Peers, away: map[int]bool{0: away}}
			tr.settle(t.Context())
			want := wrong
			if away {
				want = ""
			}
			if err := errors.Join(tr.errs...); (want != "") != (err != nil) || err != nil && err.Error() != want {
				t.Errorf("%s, told to leave: %v: %v", script, away, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
