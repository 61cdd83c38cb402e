package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/satin-peer/satin/internal/durable"
)

// What a killed process was writing is removed by the next one, and nothing else.
func TestStateOfAKilledProcessIsSweptUp(t *testing.T) {
	dir := t.TempDir()
	for name, stays := range map[string]bool{durable.Unfinished + "1234": false, "peers": true,
		".doctor-5": true, "notes": true} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openState(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s stays: %v", name, err == nil)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}
