package wire_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/satin-peer/satin/internal/wire"
)

type (
	list struct {
		V    []int
		Next *list
	}
	Kids struct{ Kids map[string]node }
	node struct {
		Kids
		At time.Time
	}
	named struct {
		Kids `json:"of"`
	}
	lists []lists
	maps  map[int]maps
)

// TestLevels: a value that no decoder takes for its depth is not encoded, and any other is.
func TestLevels(t *testing.T) {
	makes := map[string]func(n int) any{
		"list": func(n int) any {
			var l *list
			for range n {
				l = &list{Next: l}
			}
			return l
		},
		"list with a leaf": func(n int) any {
			l := &list{V: []int{}}
			for range n {
				l = &list{Next: l}
			}
			return l
		},
		"embedded": func(n int) any {
			var k node
			for range n {
				k.Kids.Kids = map[string]node{"": k}
			}
			return k
		},
		"embedded by name": func(n int) any {
			var k node
			for range n {
				k.Kids.Kids = map[string]node{"": k}
			}
			return named{k.Kids}
		},
		"lists": func(n int) any {
			var l lists
			for range n {
				l = lists{nil, l}
			}
			return l
		},
		"maps": func(n int) any {
			var m maps
			for range n {
				m = maps{1: m}
			}
			return m
		},
	}
	for what, grown := range makes {
		most := 0
		for n := range 2 * wire.MaxLevels {
			plain, err := cbor.Marshal(grown(n))
			if err != nil {
				t.Fatal(err)
			}
			var any cbor.RawMessage
			deep := wire.Shared().Decode(plain, &any)
			b, err := wire.Shared().Encode(grown(n))
			var buffer bytes.Buffer
			if other := wire.Shared().Append(&buffer, grown(n)); (err == nil) != (deep == nil) ||
				(err == nil) != (other == nil) || err == nil && !bytes.Equal(b, buffer.Bytes()) {
				t.Fatalf("%s of %d: %v, %v, where a decoder says %v", what, n, err, other, deep)
			}
			if err == nil {
				most = n
			} else if !errors.Is(err, wire.ErrEncoding) || !strings.Contains(err.Error(), "more than 64 levels deep") {
				t.Fatal(err)
			}
		}
		if most < 20 {
			t.Errorf("%s: at most %d", what, most)
		}
	}
	circle := &list{}
	circle.Next = circle
	if _, err := wire.Value().Encode(circle); !errors.Is(err, wire.ErrEncoding) {
		t.Errorf("a circle: %v", err)
	}
}

// TestTimes: a time arrives as it is, its zone as so many minutes from UTC; one that would be another is not encoded.
func TestTimes(t *testing.T) {
	type when struct {
		T time.Time
		P *time.Time
		N []time.Time
	}
	zone := func(offset int) *time.Location { return time.FixedZone("", offset) }
	at := func(year, ns int, zone *time.Location) time.Time { return time.Date(year, 2, 3, 4, 5, 6, ns, zone) }
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{time.Time{}, ""},
		{at(2023, 123456789, zone(-90*60)), ""},
		{at(0, 1, time.UTC), ""},
		{at(9999, 999999999, zone(23*3600)), ""},
		{at(10000, 0, time.UTC), "in the year 10000"},
		{at(-1, 0, time.UTC), "in the year -1"},
		{at(1890, 0, zone(1172)), "1172 s from UTC"}, // Amsterdam's
		{at(1890, 0, zone(24*3600)), "86400 s from UTC"},
		{time.Time{}.In(zone(60)), "time"},
	} {
		for i, v := range []when{{T: c.t}, {P: &c.t}, {N: []time.Time{c.t}}} {
			want := c.want
			if i == 1 && c.t.IsZero() {
				want = "zero time"
			}
			b, err := wire.Shared().Encode(&v)
			if want != "" {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: %v, want %q", c.t, err, want)
				}
				continue
			}
			var got when
			if err != nil || wire.Shared().Decode(b, &got) != nil {
				t.Fatalf("%v: %v", c.t, err)
			}
			there := append(got.N, got.T)[0]
			if got.P != nil {
				there = *got.P
			}
			_, before := c.t.Zone()
			if _, offset := there.Zone(); !there.Equal(c.t) || offset != before {
				t.Errorf("%v arrived as %v", c.t, there)
			}
		}
	}
}

// TestAnyText: strings of applications are bytes; those of the protocols are for people.
func TestAnyText(t *testing.T) {
	in := map[string]string{"\xff": "\xfe\x00"}
	b, err := wire.Shared().Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := wire.Shared().Decode(b, &got); err != nil || got["\xff"] != "\xfe\x00" {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []*wire.Codec{wire.Control(), wire.Value(), wire.Outcomes(), wire.Local(), wire.Told()} {
		if c.Decode(b, &got) == nil {
			t.Error("what is not UTF-8 is taken")
		}
	}
}
