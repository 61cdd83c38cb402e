package senses

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Guards that whoever types at the console is seen, on FreeBSD, too.
func TestTerminalsOfConsoles(t *testing.T) {
	for _, name := range []string{"/dev/tty1", "/dev/ttyv0", "/dev/ttyvb", "/dev/pts/3"} {
		if !slices.ContainsFunc(terminals, func(p string) bool { is, _ := filepath.Match(p, name); return is }) {
			t.Errorf("nobody looks at %s", name)
		}
	}
}

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
