package child

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Lines of jobs are let through whole, printable, short, and not too many at a time.
func TestLines(t *testing.T) {
	now := time.Unix(1, 0)
	var l lines
	for _, c := range []struct {
		text string
		want []string
	}{
		{"one\n", []string{"one"}},
		{"two and", nil},
		{" a half\nthree\n\n \nfo", []string{"two and a half", "three"}},
		{"ur \033[31mred\a\n", []string{"four ?[31mred?"}},
		{ownMark + "the child says why it ends\n", nil},
		{strings.Repeat("x", maxLine) + "yz\n", []string{strings.Repeat("x", maxLine)}},
		{strings.Repeat("y", 2*maxLine), nil},
		{"z\nlast\xff\n", []string{strings.Repeat("y", maxLine), "last?"}},
	} {
		if got := l.take([]byte(c.text), now); !slices.Equal(got, c.want) {
			t.Errorf("%.40q gives %.60q, want %.60q", c.text, got, c.want)
		}
	}
	if len(l.begun) > maxLine || cap(l.begun) > 4*maxLine {
		t.Errorf("of a line %d bytes are held in %d", len(l.begun), cap(l.begun))
	}
}

// A program that prints without end gets few lines into the log, and how many were dropped is said.
func TestManyLines(t *testing.T) {
	now := time.Unix(1, 0)
	var l lines
	chatter := []byte(strings.Repeat("blah\n", 1000))
	if n := len(l.take(chatter, now)); n != lineBurst {
		t.Errorf("%d lines at once", n)
	}
	if n := len(l.take(chatter, now.Add(lineEvery-1))); n != 0 {
		t.Errorf("%d lines more", n)
	}
	allocations := testing.AllocsPerRun(1, func() { l.take(chatter, now) })
	if l.dropped -= 2 * 1000; allocations > 0 {
		t.Errorf("to drop 1000 lines takes %v allocations: they are looked at", allocations)
	}
	got := l.take(chatter, now.Add(2*lineEvery))
	want := fmt.Sprintf("blah (%d lines before it were dropped)", 2*1000-lineBurst)
	if !slices.Equal(got, []string{want, "blah"}) {
		t.Errorf("after a while: %q", got)
	}
	if n := len(l.take(chatter, now.Add(time.Hour))); n != lineBurst {
		t.Errorf("%d lines at once, after an hour", n)
	}
}

// Of all that a process says before it dies one line says why; what its runtime says of itself is the jobs' doing.
func TestLastWords(t *testing.T) {
	for text, want := range map[string]struct {
		words string
		own   bool
	}{
		"": {}, "a job says something\nand more\n": {},
		"runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: out of memory\n\ngoroutine 1\n": {
			words: "out of memory"},
		"SIGSEGV: segmentation violation\nPC=0x43643d m=6 sigcode=1 addr=0x0\n\ngoroutine 0\n": {
			words: "segmentation violation"},
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f41626aeeec\n": {
			words: "pthread_create failed: Resource temporarily unavailable"},
		"panic: a\xff" + strings.Repeat("b", 300) + "\n":      {words: "a?" + strings.Repeat("b", 198)},
		"so it is\n" + ownMark + "the module has other bytes": {"the module has other bytes", true},
	} {
		var w lastWords
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if words, own := w.fatal(); words != want.words || own != want.own {
			t.Errorf("%.40q: %q, by itself %t; want %q, %t", text, words, own, want.words, want.own)
		}
	}
}

// What a module says is heard, and is never taken for what its process says itself, or Go's runtime, of why that ends:
// else a death by its jobs would be this machine's fault, or the other way round.
func TestModulesSayNoLastWords(t *testing.T) {
	for _, mark := range []string{ownMark, "panic: ", "fatal error: "} {
		var heard []string
		w := &lastWords{log: func(line string) { heard = append(heard, line) }}
		say, line := said(w), strings.Repeat(mark, 10)+"it is well"
		say(strings.Repeat("x", maxWords-2)) // so that a cut line comes first in what is kept of the rest
		for range 2 * lineBurst {
			say(line)
		}
		for range len(mark) {
			if words, _ := w.fatal(); words != "" {
				t.Fatalf("%q is why it died", words)
			}
			_, _ = w.Write([]byte{' '})
		}
		if len(heard) != lineBurst || heard[1] != line {
			t.Errorf("%d lines are heard: %q", len(heard), heard)
		}
	}
}
