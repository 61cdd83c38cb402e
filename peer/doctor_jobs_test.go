package peer

import (
	"strings"
	"testing"
)

// Whoever asks the doctor learns what limit of memory is in force, also if none was set.
func TestMemoryIsSaid(t *testing.T) {
	for memory, want := range map[int64]string{768 << 20: " 768 MiB", 0: "memory"} {
		d := &doctor{cfg: &Config{Compute: []string{"satin-peer"}}, crew: &crew{}}
		d.crew.jobMemory.Store(memory)
		if f := d.examineJobs(); !strings.Contains(f.Text, want) {
			t.Errorf("%d bytes: %q", memory, f.Text)
		}
	}
	for want, got := range map[string]string{
		"those of one run may have 2 MiB of memory": memoryText(2<<20, true),
		"nothing limits their memory":               memoryText(0, false),
		"those of one run are to make do with 2 MiB of memory, which this system does not enforce": memoryText(2<<20, false),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
