package dashboard

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
)

// maxGone is how many values that are gone the store remembers, so that resuming clients learn of them.
const maxGone = 4096

// A topic is one sort of values that a client may subscribe to.
type topic string

const (
	statusTopic  topic = "status"
	clusterTopic topic = "clusters"
	peerTopic    topic = "peers"
	runTopic     topic = "runs"
	treeTopic    topic = "trees"
	flowTopic    topic = "flows"
	noticeTopic  topic = "notices"
	memberTopic  topic = "members" // who came and went
	troubleTopic topic = "trouble" // why the values are not of now
)

var topics = [...]topic{statusTopic, clusterTopic, peerTopic, runTopic, treeTopic, flowTopic, noticeTopic, memberTopic,
	troubleTopic}

// A key names a value: "status" has one, the others one for each thing.
type key struct {
	topic topic
	id    string
}

// A cell is the latest value under a key, or the memory that there is none any more (nil), and the number it
// came with.
type cell struct {
	value  json.RawMessage
	number uint64
}

// A store holds the latest values, numbered by change, for any number of readers of any speed. Every update
// that changes something has the next number. Readers keep the number they have read to, and ask for what is
// newer.
type store struct {
	mu      sync.Mutex
	number  uint64
	horizon uint64 // what went at this number or before may be forgotten: readers that are behind it need everything
	cells   map[key]cell
	gone    []key // those of cells with no value, in the order they went; may hold keys that have a value again
}

func newStore() *store { return &store{cells: map[key]cell{}} }

// update replaces all values of the given topic, and says whether that changed anything.
func (s *store) update(t topic, values map[string]json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, changed := s.number+1, false
	for id, v := range values {
		k := key{t, id}
		if old, ok := s.cells[k]; !ok || !bytes.Equal(old.value, v) {
			s.cells[k] = cell{v, next}
			changed = true
		}
	}
	for k, c := range s.cells {
		if _, ok := values[k.id]; k.topic == t && !ok && c.value != nil {
			s.cells[k] = cell{nil, next}
			s.gone = append(s.gone, k)
			changed = true
		}
	}
	if changed {
		s.number = next
		s.forget()
	}
	return changed
}

// forget keeps the memory of what is gone bounded.
func (s *store) forget() {
	if len(s.gone) <= maxGone {
		return
	}
	drop := len(s.gone) - maxGone/2
	for _, k := range s.gone[:drop] {
		if c := s.cells[k]; c.value == nil {
			s.horizon = max(s.horizon, c.number)
			delete(s.cells, k)
		}
	}
	s.gone = slices.Clone(s.gone[drop:])
}

// A change is what a reader is sent: everything, or what is newer than it has.
type change struct {
	Kind   string                               `json:"kind"`   // "snapshot" or "delta"
	Epoch  string                               `json:"epoch"`  // which numbering this is
	After  uint64                               `json:"after"`  // of a delta: the number it continues
	Number uint64                               `json:"number"` // the reader has read to here
	Set    map[topic]map[string]json.RawMessage `json:"set"`
	Gone   map[topic][]string                   `json:"gone,omitempty"` // IDs that have no value any more; of a delta
}

// since gives what is newer than after in the topics; everything if after is not covered any more, or all is set.
func (s *store) since(after uint64, all bool, wanted []topic) *change {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = all || after < s.horizon || after > s.number
	c := &change{Kind: "delta", After: after, Number: s.number, Set: map[topic]map[string]json.RawMessage{},
		Gone: map[topic][]string{}}
	if all {
		c.Kind, c.After = "snapshot", 0
	}
	for k, v := range s.cells {
		switch {
		case !slices.Contains(wanted, k.topic) || !all && v.number <= after:
		case v.value != nil:
			if c.Set[k.topic] == nil {
				c.Set[k.topic] = map[string]json.RawMessage{}
			}
			c.Set[k.topic][k.id] = v.value
		case !all:
			c.Gone[k.topic] = append(c.Gone[k.topic], k.id)
		}
	}
	for _, ids := range c.Gone {
		slices.Sort(ids)
	}
	return c
}

// empty says whether a reader that has read to where c begins learns nothing from it.
func (c *change) empty() bool { return c.Kind == "delta" && len(c.Set) == 0 && len(c.Gone) == 0 }
