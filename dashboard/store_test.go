package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// A reader's picture of the values.
type picture map[key]string

func (p picture) apply(c *change) {
	if c.Kind == "snapshot" {
		clear(p)
	}
	for t, values := range c.Set {
		for id, v := range values {
			p[key{t, id}] = string(v)
		}
	}
	for t, ids := range c.Gone {
		for _, id := range ids {
			delete(p, key{t, id})
		}
	}
}

// Whatever happens, and however seldom a reader reads, what it has been sent makes up the latest values, and
// nothing is sent twice.
func TestReadersHaveTheLatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStore()
		want := picture{}
		type reader struct {
			picture picture
			number  uint64
			all     bool
		}
		readers := make([]*reader, 3)
		for i := range readers {
			readers[i] = &reader{picture: picture{}, all: true}
		}
		t.Repeat(map[string]func(*rapid.T){
			"update": func(t *rapid.T) {
				to := rapid.SampledFrom(topics[:]).Draw(t, "topic")
				values := map[string]json.RawMessage{}
				for id, v := range rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}),
					rapid.IntRange(0, 3), 0, 4).Draw(t, "values") {
					values[id] = json.RawMessage(fmt.Sprint(v))
				}
				before := maps.Clone(want)
				maps.DeleteFunc(want, func(k key, _ string) bool { return k.topic == to })
				for id, v := range values {
					want[key{to, id}] = string(v)
				}
				if changed := s.update(to, values); changed == maps.Equal(before, want) {
					t.Fatalf("update says changed: %v", changed)
				}
			},
			"forget": func(*rapid.T) { // as when very much has gone
				s.gone = append(s.gone, make([]key, maxGone+1)...)
				s.forget()
			},
			"read": func(t *rapid.T) {
				r := rapid.SampledFrom(readers).Draw(t, "reader")
				c := s.since(r.number, r.all, topics[:])
				r.picture.apply(c)
				r.number, r.all = c.Number, false
				if !maps.Equal(r.picture, want) {
					t.Fatalf("the reader has %v, want %v", r.picture, want)
				}
				if c = s.since(r.number, false, topics[:]); !c.empty() {
					t.Fatalf("a second time: %+v", c)
				}
			},
		})
	})
}

// The memory of what is gone is bounded; whoever has not read for so long gets everything.
func TestForgetsWhatIsGone(t *testing.T) {
	s := newStore()
	s.update(peerTopic, map[string]json.RawMessage{"stays": json.RawMessage("1")})
	first := s.number
	for i := range maxGone + maxGone/4 {
		s.update(runTopic, map[string]json.RawMessage{fmt.Sprint(i): json.RawMessage("1")})
	}
	if len(s.cells) > maxGone+2 || len(s.gone) > maxGone {
		t.Errorf("%d cells and %d gone", len(s.cells), len(s.gone))
	}
	if c := s.since(first, false, topics[:]); c.Kind != "snapshot" || len(c.Set[peerTopic]) != 1 ||
		len(c.Set[runTopic]) != 1 {
		t.Errorf("a reader that is far behind gets %+v", c)
	}
	if c := s.since(s.number-1, false, topics[:]); c.Kind != "delta" || len(c.Set[runTopic]) != 1 ||
		len(c.Gone[runTopic]) != 1 {
		t.Errorf("a reader that is one behind gets %+v", c)
	}
}
