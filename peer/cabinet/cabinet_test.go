package cabinet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/durable"
)

// What a killed process was writing is removed by the next one, from a directory that was made with the first file and
// has to be one.
func TestCabinetIsSweptUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "answers", "disputed")
	c, err := Open(OnDisk{}, time.Now, dir, ".run", 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write("one", []byte("1")); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, durable.Unfinished+"123")
	if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = Open(OnDisk{}, time.Now, dir, ".run", 4); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("half a file stays")
	}
	if got := c.Files(); len(got) != 1 || got[0].Name != "one" {
		t.Errorf("files %v", got)
	}
	if _, err := Open(OnDisk{}, time.Now, c.Path("one"), ".run", 4); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// What was just written stays, whatever the clock said when the others were; the oldest of these goes.
func TestCabinetKeepsTheNewest(t *testing.T) {
	c, err := Open(OnDisk{}, time.Now, t.TempDir(), ".answer", 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"one", "two", "three"} {
		if err := c.Write(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
		ahead := time.Now().Add(time.Duration(1+i) * time.Hour)
		if err := os.Chtimes(c.Path(name), ahead, ahead); err != nil {
			t.Fatal(err)
		}
	}
	if c.Has("one") || !c.Has("two") || !c.Has("three") {
		t.Errorf("files %v", c.Files())
	}
}
