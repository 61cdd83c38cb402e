package wasm

import (
	"fmt"
	"unicode/utf8"
)

// A reader walks over a part of a module. After the first error it gives zeros and stays where it is.
type reader struct {
	b    []byte
	at   int
	what string // what is read, for errors: "section 7", "function 12"
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(r.what+": "+format, args...)
	}
}

func (r *reader) more() bool { return r.err == nil && r.at < len(r.b) }

func (r *reader) byte() byte {
	if r.err != nil {
		return 0
	}
	if r.at >= len(r.b) {
		r.fail("ends in the middle of something")
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) bytes(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b)-r.at {
		r.fail("wants %d bytes where %d are left", n, len(r.b)-r.at)
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; ; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > 1<<32-1 {
				r.fail("has a number of more than 32 bits")
				return 0
			}
			return uint32(v)
		}
		if shift == 28 {
			r.fail("has a number of more than 5 bytes")
			return 0
		}
	}
}

// signed reads a signed LEB128 number of at most the given bits and gives it unread: nobody wants its value.
func (r *reader) signed(bits int) {
	for n := 0; ; n += 7 {
		if n >= bits {
			r.fail("has a number of more than %d bits", bits)
			return
		}
		if r.byte() < 0x80 {
			return
		}
	}
}

// index reads the number of one of n: behind those of a module is what is added to it.
func (r *reader) index(of string, n int) uint32 {
	i := r.u32()
	if r.err == nil && uint64(i) >= uint64(n) {
		r.fail("names %s %d of %d", of, i, n)
		return 0
	}
	return i
}

// count reads the number of entries of a list, at most limit.
func (r *reader) count(limit int, of string) int {
	n := int(r.u32())
	if n > limit {
		r.fail("has %d %s, at most %d are allowed", n, of, limit)
		return 0
	}
	return n
}

func (r *reader) name() string {
	s := string(r.bytes(int(r.u32())))
	if !utf8.ValidString(s) {
		r.fail("has a name that is no text")
	}
	return s
}

// end says that all must have been read.
func (r *reader) end() {
	if r.err == nil && r.at != len(r.b) {
		r.fail("has %d bytes too many", len(r.b)-r.at)
	}
}

// A writer puts a module together.
type writer struct{ b []byte }

func (w *writer) raw(b ...byte) { w.b = append(w.b, b...) }

func (w *writer) u32(v uint32) {
	for ; v >= 0x80; v >>= 7 {
		w.b = append(w.b, byte(v)|0x80)
	}
	w.b = append(w.b, byte(v))
}

func (w *writer) s32(v int32) {
	for ; v < -64 || v > 63; v >>= 7 {
		w.b = append(w.b, byte(v)|0x80)
	}
	w.b = append(w.b, byte(v)&0x7f)
}

func (w *writer) name(s string) {
	w.u32(uint32(len(s)))
	w.b = append(w.b, s...)
}

// section writes a section, or part of one that says its length first, made by fill.
func (w *writer) sized(fill func(*writer)) {
	var in writer
	fill(&in)
	w.u32(uint32(len(in.b)))
	w.b = append(w.b, in.b...)
}
