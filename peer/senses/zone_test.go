package senses

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Guards that a machine which comes to another time zone is seen there, and one whose file cannot be read where it was.
func TestZone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "localtime")
	for _, hours := range []int{1, -9} {
		// a header of a file with one kind of time, of four letters; that kind, and its name
		b := append([]byte("TZif"), make([]byte, 40)...)
		b[39], b[43] = 1, 4
		b = binary.BigEndian.AppendUint32(b, uint32(int32(hours*3600)))
		if err := os.WriteFile(file, append(b, "\x00\x00XXX\x00"...), 0o600); err != nil {
			t.Fatal(err)
		}
		if at := time.Date(2026, 11, 30, 12, 0, 0, 0, zoneOf(file)).UTC(); at.Hour() != 12-hours {
			t.Errorf("noon of a zone %d hours from UTC is at %v", hours, at)
		}
	}
	for _, bad := range []string{file + "x", "zone_test.go"} {
		if zone := zoneOf(bad); zone != time.Local {
			t.Errorf("%s says that it is in %v", bad, zone)
		}
	}
}
