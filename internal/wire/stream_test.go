package wire_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/wire"
)

// A FrameReader gives what ReadFrame gives, however the bytes come, and says when it waits for the rest of a frame.
func TestFrameReaderReadsAsReadFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream bytes.Buffer
		for _, size := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 3, 4, 5, 4000, 4092, 5000, 70_000,
			200_000}), 0, 8).Draw(t, "sizes") {
			if err := wire.WriteFrame(&stream, bytes.Repeat([]byte{byte(size)}, size),
				wire.MaxControlFrame); err != nil {
				t.Fatal(err)
			}
		}
		all := stream.Bytes()
		all = all[:rapid.IntRange(0, len(all)).Draw(t, "cut")]
		var r io.Reader = bytes.NewReader(all)
		switch rapid.IntRange(0, 3).Draw(t, "reader") {
		case 1:
			r = iotest.HalfReader(r)
		case 2:
			r = iotest.DataErrReader(r)
		case 3:
			if len(all) < 10_000 {
				r = iotest.OneByteReader(r)
			}
		}
		partial := false
		frames := wire.NewFrameReader(r, wire.MaxControlFrame, func(begun bool) {
			if begun == partial {
				t.Fatalf("told twice that begun is %v", begun)
			}
			partial = begun
		})
		reference := bytes.NewReader(all)
		for {
			want, wantErr := wire.ReadFrame(reference, nil, wire.MaxControlFrame)
			got, err := frames.Next()
			if err != wantErr || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes (%v), want %d (%v)", len(got), err, len(want), wantErr)
			}
			if partial && err != io.ErrUnexpectedEOF {
				t.Fatalf("after a frame (%v) it is said that one has begun: %v", err, partial)
			}
			if err != nil {
				return
			}
		}
	})
}

// As ReadFrame: what is announced costs nothing, and a stream that broke stays broken.
func TestFrameReaderBounds(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := wire.NewFrameReader(strings.NewReader("\x00\xff\xff\xff"+"little"), wire.MaxValue, nil)
	_, err := f.Next()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err != io.ErrUnexpectedEOF || got > 1<<20 {
		t.Errorf("%d bytes were allocated for a frame of 16 MiB that never came (%v)", got, err)
	}
	f = wire.NewFrameReader(strings.NewReader("\x00\x00\x00\x05hello"), 4, nil)
	for range 2 {
		if _, err := f.Next(); !errors.Is(err, wire.ErrFrame) {
			t.Errorf("an oversized frame: %v", err)
		}
	}
}

// A stream's opening comes back as it was; another protocol's, one without a number and half of one are refused.
func TestOpenings(t *testing.T) {
	o := wire.Opening{Life: 1 << 63, Serial: 7}
	b := o.Append(nil)
	if got, err := wire.ReadOpening(bytes.NewReader(b)); len(b) != wire.OpeningSize || err != nil || got != o {
		t.Errorf("%+v came back as %+v (%v)", o, got, err)
	}
	for name, bad := range map[string]string{"another mark": "SATX" + string(b[4:]),
		"no number": string(wire.Opening{Life: 1}.Append(nil))} {
		if _, err := wire.ReadOpening(strings.NewReader(bad)); !errors.Is(err, wire.ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := wire.ReadOpening(bytes.NewReader(b[:10])); err != io.ErrUnexpectedEOF {
		t.Errorf("half an opening: %v", err)
	}
}

// Parts of long values come back as they were, and what is too short for one is refused.
func TestBulkFrames(t *testing.T) {
	for _, f := range []wire.BulkFrame{
		{Kind: wire.BulkBegin, Transfer: 1, Size: wire.MaxValue, Data: []byte("head")},
		{Kind: wire.BulkChunk, Transfer: 1 << 31, Data: make([]byte, wire.MaxChunk)},
		{Kind: wire.BulkAck, Transfer: 3, Size: 1, Data: []byte{}},
		{Kind: wire.BulkRefuse, Transfer: 4, Data: []byte{}},
	} {
		b, err := wire.ReadFrame(bytes.NewReader(f.Append(nil)), nil, wire.MaxBulkFrame)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := wire.DecodeBulk(b); err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%+v came back as %+v (%v)", f, got, err)
		}
		for cut := range min(len(b), 9) {
			if got, err := wire.DecodeBulk(b[:cut]); err == nil && cut < 5 {
				t.Errorf("%d bytes are %+v", cut, got)
			}
		}
	}
}

// Whatever bytes are read as an opening are those that it is written as.
func FuzzOpening(f *testing.F) {
	f.Add(wire.Opening{Life: 5, Serial: 1}.Append(nil))
	f.Add([]byte("SATN"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := wire.ReadOpening(bytes.NewReader(b)); err == nil &&
			!bytes.Equal(o.Append(nil), b[:wire.OpeningSize]) {
			t.Fatalf("%x was read as %+v", b, o)
		}
	})
}

// Whatever bytes are read as a part of a long value are those that it is written as, and within the limits.
func FuzzBulk(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 1, 0, 0, 1, 0, 0xa0})
	f.Add([]byte{2, 0, 0, 0, 1, 'x'})
	f.Add([]byte{3, 0, 0, 0, 1, 0, 0, 0, 1})
	f.Add([]byte{4, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := wire.DecodeBulk(b)
		if err == nil && !bytes.Equal(d.Append(nil)[wire.FrameHead:], b) {
			t.Fatalf("%x was read as %+v", b, d)
		}
		if err == nil && (d.Size > wire.MaxValue || len(d.Data) > wire.MaxControlFrame) {
			t.Fatalf("%x is beyond the limits: %+v", b, d)
		}
	})
}

// Whatever comes, in whatever pieces, a FrameReader gives the frames that ReadFrame gives and fails where that does.
func FuzzFrameReader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x03abc\x00\x00\x00\x00"), 2)
	f.Add([]byte("\x7f\x00\x00\x03abc"), 100)
	f.Fuzz(func(t *testing.T, b []byte, chunk int) {
		frames := wire.NewFrameReader(&chunked{b, max(chunk, 1)}, 1<<10, nil)
		reference := bytes.NewReader(b)
		for {
			want, wantErr := wire.ReadFrame(reference, nil, 1<<10)
			got, err := frames.Next()
			if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
				t.Fatalf("%x gave %x (%v), want %x (%v)", b, got, err, want, wantErr)
			}
			if err != nil {
				return
			}
		}
	})
}

// chunked gives so many bytes at a time.
type chunked struct {
	b []byte
	n int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.b[:min(c.n, len(c.b))])
	c.b = c.b[n:]
	return n, nil
}
