//go:build unix

package checkpoint

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in a directory that was brought is not waited for.
func TestPipeAmongFiles(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "00000001.satinlog"), 0o600); err != nil {
		t.Skip(err)
	}
	snap, err := Read(dir, testHeader, nil)
	if err == nil {
		for _, err = range snap.Records() {
			if err != nil {
				break
			}
		}
		snap.Close()
	}
	if !errors.Is(err, ErrUnreadable) {
		t.Errorf("it says %v", err)
	}
	if (Disk{}).SyncFile(filepath.Join(dir, "00000001.satinlog")) == nil {
		t.Error("a pipe is synced")
	}
}
