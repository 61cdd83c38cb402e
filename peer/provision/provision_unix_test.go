//go:build unix

package provision

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/runs"
)

// Guards the owner's machine against his own command: one that hangs ends with all that it has started, and one that
// leaves something running, on purpose, has not failed.
func TestProvisionCommand(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	ask := func(ctx context.Context, script string) {
		Command{"/bin/sh", "-c", script, fifo}.Ask(ctx, slog.New(slog.NewTextHandler(&log, nil)),
			runs.Provision{Machines: 2})
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(asked)
		ask(ctx, `exec 3>"$0"; sleep 1000 & echo >&3; wait`)
	}()
	held, err := os.Open(fifo) // waits for the script
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := held.Read(make([]byte, 1)); err != nil { // it has started something
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_, _ = held.Read(make([]byte, 1)) // until nobody has it open
	}()
	cancel()
	<-asked
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("what it has started goes on")
	}
	log.Reset()
	ask(t.Context(), `read x <"$0" & echo asked`)
	if said := log.String(); !strings.Contains(said, "machines asked for") || !strings.Contains(said, "printed=asked") {
		t.Errorf("the log says %s", said)
	}
	if end, err := os.OpenFile(fifo, os.O_WRONLY, 0); err != nil || end.Close() != nil {
		t.Error(err)
	}
}
