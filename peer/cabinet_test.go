package peer

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
	b, _ := standing()
	c, err := openCabinet(b, dir, ".run", 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write("one", []byte("1")); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, durable.Unfinished+"123")
	if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = openCabinet(b, dir, ".run", 4); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("half a file stays")
	}
	if got := c.files(); len(got) != 1 || got[0].name != "one" {
		t.Errorf("files %v", got)
	}
	if _, err := openCabinet(b, c.path("one"), ".run", 4); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// What was just written stays, whatever the clock said when the others were; the oldest of these goes.
func TestCabinetKeepsTheNewest(t *testing.T) {
	b, _ := standing()
	c, err := openCabinet(b, t.TempDir(), ".answer", 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"one", "two", "three"} {
		if err := c.write(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
		ahead := time.Now().Add(time.Duration(1+i) * time.Hour)
		if err := os.Chtimes(c.path(name), ahead, ahead); err != nil {
			t.Fatal(err)
		}
	}
	if c.has("one") || !c.has("two") || !c.has("three") {
		t.Errorf("files %v", c.files())
	}
}
