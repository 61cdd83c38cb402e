package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// How much of what the Source lists is shown.
const (
	maxPeers    = 2000
	maxRuns     = 200
	maxClusters = 500
)

// askWithin is how long the Source may take for an answer.
const askWithin = 10 * time.Second

// A hub asks the source while somebody watches, and wakes the watchers when something changed.
type hub struct {
	source Source
	every  time.Duration
	epoch  string
	store  *store

	stories *stories
	history history

	mu       sync.Mutex
	watchers map[*watcher]bool // value: subscribed to something
	active   int               // of those
	fresh    bool              // the store holds what the source said since active was 0 last
	started  chan struct{}     // one element: active has become 1
}

// A watcher is told by its channel, which holds one element, that there may be something new.
type watcher struct{ wake chan struct{} }

func newHub(source Source, every time.Duration) *hub {
	return &hub{source: source, every: every, epoch: rand.Text(), store: newStore(), stories: newStories(),
		watchers: map[*watcher]bool{}, started: make(chan struct{}, 1)}
}

// add makes a watcher that is subscribed to nothing; nil if there are too many.
func (h *hub) add() *watcher {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) >= maxWatchers {
		return nil
	}
	w := &watcher{wake: make(chan struct{}, 1)}
	h.watchers[w] = false
	return w
}

func (h *hub) remove(w *watcher) {
	h.subscribe(w, false)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

// subscribe says whether the watcher wants anything.
func (h *hub) subscribe(w *watcher, on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[w] == on {
		return
	}
	h.watchers[w] = on
	if on {
		h.active++
	} else {
		h.active--
	}
	switch {
	case on && h.active == 1:
		poke(h.started)
	case h.active == 0:
		h.fresh = false
	}
}

// isFresh says whether the store is worth sending.
func (h *hub) isFresh() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fresh
}

func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.active > 0
}

// run asks the source while somebody watches, until ctx ends.
func (h *hub) run(ctx context.Context) {
	tick := time.NewTicker(h.every)
	tick.Stop()
	for {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-h.started:
			tick.Reset(h.every)
		case <-tick.C:
		}
		if !h.watched() {
			tick.Stop()
			continue
		}
		h.refresh(ctx)
	}
}

// refresh asks the source once, and wakes those that watch.
func (h *hub) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	trouble := map[string]json.RawMessage{}
	if err := h.ask(ctx); err != nil {
		trouble["source"] = encode(troubleText{err.Error()})
	}
	h.store.update(troubleTopic, trouble)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fresh = h.active > 0
	for w, on := range h.watchers {
		if on {
			poke(w.wake)
		}
	}
}

type troubleText struct {
	Text string `json:"text"`
}

// ask brings what the source says into the store.
func (h *hub) ask(ctx context.Context) error {
	status, err := h.source.Status(ctx)
	if err != nil {
		return err
	}
	peers, err := h.source.Peers(ctx)
	if err != nil {
		return err
	}
	runs, err := h.source.Runs(ctx)
	if err != nil {
		return err
	}
	reports, err := h.source.Watch(ctx)
	if err != nil {
		return err
	}
	h.stories.hear(ctx, status.Peer, reports, peers, runs, time.Now())
	clusters := status.Clusters
	status.Clusters = []report.Cluster{}
	left := LeftOut{Peers: max(0, len(peers)-maxPeers), Runs: max(0, len(runs)-maxRuns),
		Clusters: max(0, len(clusters)-maxClusters)}
	h.store.update(statusTopic, map[string]json.RawMessage{"me": encode(status), "left_out": encode(left)})
	h.store.update(clusterTopic, byID(clusters, maxClusters, func(c report.Cluster) string { return c.Name }))
	h.store.update(peerTopic, byID(peers, maxPeers, func(p Peer) string { return p.Peer }))
	h.store.update(runTopic, byID(runs, maxRuns, func(r Run) string { return r.Run }))
	h.store.update(treeTopic, byID(h.stories.digests(), maxStories, func(d TreeDigest) string { return d.Run }))
	h.store.update(flowTopic, byID(h.stories.flows(), maxFlows, func(f Flow) string { return f.From + "\x00" + f.To }))
	h.store.update(noticeTopic, byID(h.stories.noticed(), maxNotices,
		func(n Notice) string { return strconv.FormatUint(n.Number, 10) }))
	h.store.update(memberTopic, map[string]json.RawMessage{"all": encode(h.history.members())})
	return ctx.Err() // not all may have been heard
}

// LeftOut counts what is not sent because there is too much.
type LeftOut struct {
	Peers    int `json:"peers"`
	Runs     int `json:"runs"`
	Clusters int `json:"clusters"`
}

func byID[T any](list []T, most int, id func(T) string) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, v := range list[:min(len(list), most)] {
		values[id(v)] = encode(v)
	}
	return values
}

// encode gives v in JSON; null for a number that is none.
func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
