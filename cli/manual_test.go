package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManual: there is a page for each command that is listed, and no line of a text is taken for a request.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	f := newFake()
	if code := f.run("manual", dir); code != 0 {
		t.Fatalf("exit code %d: %s", code, &f.err)
	}
	var count func(cmd *cobra.Command) int
	count = func(cmd *cobra.Command) (n int) {
		n = 1
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				n += count(sub)
			}
		}
		return n
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	if want := count(newRoot(testApps(), f.console)); err != nil || len(pages) != want {
		t.Errorf("%d pages for %d commands, %v", len(pages), want, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "man", "satin-peer-start.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH \"SATIN\\-PEER\\-START\" \"1\"", ".SH NAME", ".SH OPTIONS", "\\-\\-workers N",
		".SH EXAMPLES", "\\fBsatin\\-peer\\fR(1)"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page of start has no %q", want)
		}
	}
	for _, name := range []string{"completions/satin-peer.bash", "completions/_satin-peer", "completions/satin-peer.fish",
		"completions/satin-peer.ps1", "systemd/satin-peer.service"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Text of a manual page never reads as a request or an escape to the program that prints it, and keeps its paragraphs.
func TestRoff(t *testing.T) {
	if got, want := roffLines(".x\n\na-b \\ 'c'"), "\\&.x\n.PP\na\\-b \\e \\(aqc\\(aq"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
