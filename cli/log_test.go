package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/settings"
)

// What is said too often is counted and said in one line, whatever it is said with; anything else is said all the same.
func TestLogIsThinned(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(1e9, 0)
	log := slog.New(thinned{slog.NewTextHandler(&b, nil), &flood{now: func() time.Time { return now }}})
	for i := range 1000 {
		log.With("tab", i).Warn("an outcome is refused")
		log.WithGroup("tab").Warn("an outcome is refused", "number", i)
	}
	log.Error("a liar cannot be put out")
	now = now.Add(time.Second)
	log.Warn("an outcome is refused")
	log.Warn("an outcome is refused")
	got := b.String()
	if n := strings.Count(got, "is refused"); n != linesOfOne+2 {
		t.Errorf("one is said %d times", n)
	}
	const left = "more lines were left out of the log\" lines="
	if strings.Count(got, "a liar cannot") != 1 || strings.Count(got, left) != 1 ||
		!strings.Contains(got, left+fmt.Sprint(2000-linesOfOne)) {
		t.Errorf("it says %s", got[max(0, len(got)-1000):])
	}
	b.Reset()
	for i := range 100_000 {
		log.Warn(fmt.Sprint("text of others' ", i))
	}
	if n := strings.Count(b.String(), "\n"); n > thingsSaid+linesOfOne {
		t.Errorf("%d different lines in a second", n)
	}
}

// A daemon in the background puts its log aside when it is too long, and goes on in the same file; what goes elsewhere
// is nobody's but its reader's.
func TestLogIsBounded(t *testing.T) {
	l := &settings.Loaded{}
	l.StateDir = t.TempDir()
	path, file, err := openDaemonLog(l.StateDir)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	first := strings.Repeat("x", maxDaemonLog) + "\n"
	if _, err := file.WriteString(first); err != nil {
		t.Fatal(err)
	}
	c := console{screen: file, err: plain.NewWriter(file)}
	c.newLog(l).Info("goes on")
	fmt.Fprintln(file, "what ends the process")
	was, err := os.ReadFile(path + ".1")
	if err != nil || string(was) != first {
		t.Errorf("%d bytes are put aside: %v", len(was), err)
	}
	is, err := os.ReadFile(path)
	if text := string(is); err != nil || strings.Count(text, "\n") != 2 || !strings.Contains(text, `msg="goes on"`) ||
		!strings.HasSuffix(text, "what ends the process\n") {
		t.Errorf("the log is %q, %v", is, err)
	}
	var b bytes.Buffer
	if c = (console{screen: &b, err: &b}); logsTo(c, path) {
		t.Error("what goes elsewhere is cut")
	}
}
