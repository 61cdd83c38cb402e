package child_test

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/port"
)

// A module within all limits of form that takes a thousand times as long to compile as others of its size ends its
// process with one line; so does a module that takes more memory for it than the process has.
func TestCompileBomb(t *testing.T) {
	large := int64(8 << 30) // of which only what is used counts
	for _, c := range []struct {
		what   string
		bin    []byte
		within time.Duration
		memory int64
		want   *regexp.Regexp
	}{
		{"of many functions", bomb(300, 300), 300 * time.Millisecond, large,
			regexp.MustCompile("takes more than 300ms of processor time to compile")},
		{"of large functions", bomb(4, 12_000), time.Hour, 256 << 20, outOfMemory},
	} {
		t.Run(c.what, func(t *testing.T) {
			if _, bySystem := child.MemoryLimit(0); c.memory != large && (testing.Short() || !bySystem) {
				t.Skip("make race runs the short tests, and its detector needs more memory than the limit here leaves")
			}
			e := startWith(t, child.Config{Memory: c.memory,
				Module: &child.Module{Hash: module.HashOf(c.bin), Bytes: c.bin, Within: c.within}})
			ev := end(t, e, callOf(t, module.Call{Module: module.HashOf(c.bin)}))
			if ev.Kind != port.Died || !c.want.MatchString(ev.Text) || strings.Contains(ev.Text, "\n") {
				t.Errorf("event %v, %q, want one line with %s", ev.Kind, ev.Text, c.want)
			}
		})
	}
}

// bomb is a module of so many functions, each with so many loops one after the other and, after them, a sum of a
// thousand locals: a compiler that wants each local in a register has to follow each through every loop.
func bomb(functions, loops int) []byte {
	const locals = 1000
	number := func(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
	var body []byte
	body = append(append(append(body, 1), number(locals)...), 0x7e) // i64
	for i := range loops {
		body = append(body, 0x03, 0x40, 0x20) // loop, local.get
		body = append(body, number(i%locals)...)
		body = append(body, 0xa7, 0x0d, 0, 0x0b) // i32.wrap_i64, br_if 0, end
	}
	body = append(body, 0x42, 0) // i64.const
	for i := range locals {
		body = append(append(append(body, 0x20), number(i)...), 0x7c) // local.get, i64.add
	}
	body = append(body, 0x0b)

	bin := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, count int, content ...[]byte) {
		all := append(number(count), slices.Concat(content...)...)
		bin = append(append(append(bin, id), number(len(all))...), all...)
	}
	exports := []string{"attention", "alloc", "run", "describe", "setup", "render"}
	var named [][]byte
	for _, name := range exports { // all are the first function: nobody gets so far as to call one
		name = "satin1_" + name
		named = append(named, number(len(name)), []byte(name), []byte{0, 0})
	}
	section(1, 1, []byte{0x60, 0, 1, 0x7e})                                              // types: () -> i64
	section(3, functions, make([]byte, functions))                                       // functions, all of type 0
	section(5, 1, []byte{0, 1})                                                          // a memory of one page
	section(7, len(exports), named...)                                                   // exports
	section(10, functions, slices.Repeat(append(number(len(body)), body...), functions)) // code
	return bin
}
