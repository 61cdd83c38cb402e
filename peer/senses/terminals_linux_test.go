package senses

import (
	"os"
	"testing"
	"time"
)

// Guards that a terminal tells when somebody typed, and a file that is none does not.
func TestTerminals(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	if err := os.WriteFile(dir+"/tty1", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := terminalsUntouched([]string{dir + "/tty*"}, now); ok {
		t.Error("an ordinary file is taken for a terminal")
	}
	info, err := os.Stat("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	since, ok := terminalsUntouched([]string{"/dev/null"}, accessed(info).Add(time.Minute))
	if !ok || since < 0 || since > time.Minute {
		t.Errorf("a device read a minute ago is untouched for %v, %v", since, ok)
	}
}
