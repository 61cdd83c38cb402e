package dashboard

import "time"

// What is shown of steal trees, timelines and ways. Times of a run are seconds since it was submitted.

// A TreeDigest is a run's steal tree at one glance.
type TreeDigest struct {
	Run       string  `json:"run"`
	Version   uint64  `json:"version"` // grows with every change of the tree
	Spans     uint64  `json:"spans"`   // grows with the timeline
	Segments  uint64  `json:"segments"`
	Running   uint64  `json:"running"`
	Folded    uint64  `json:"folded"`  // into others: they are counted, but not shown one by one
	Unknown   uint64  `json:"unknown"` // that were too long ago, or too many, to be in the tree at all
	Executed  uint64  `json:"executed"`
	Spawned   uint64  `json:"spawned"`
	Restarted uint64  `json:"restarted"`
	Orphans   uint64  `json:"orphans"`
	Aborted   uint64  `json:"aborted"`
	Unseen    uint64  `json:"unseen"` // whose end nobody told of
	Peers     int     `json:"peers"`
	Newest    float64 `json:"newest"` // the latest time in it
	Workers   Workers `json:"workers"`
	// Cores is how much processor time all peers gave to it in each of its last seconds; 0: not known.
	Cores float64 `json:"cores"`
}

// Workers is what all workers of a run did in its last ten seconds, in worker-seconds.
type Workers struct {
	For   float64 `json:"for_seconds"`
	Work  float64 `json:"work"`
	Steal float64 `json:"steal"` // the reply to a steal request was awaited
	Comm  float64 `json:"comm"`  // outcomes of jobs that others hold were awaited
	Idle  float64 `json:"idle"`
}

// A Shoot is a segment as pages hold it. Names are short, as there are many.
type Shoot struct {
	Number    uint64  `json:"n"`
	Up        uint64  `json:"up,omitempty"` // the segment that it was stolen from
	Job       string  `json:"job"`
	Peer      int     `json:"p"` // in the reply's list
	Start     float64 `json:"s"`
	End       float64 `json:"e,omitempty"` // missing while it runs
	Spawned   uint64  `json:"sp"`
	Executed  uint64  `json:"x"`
	State     string  `json:"st"`           // a report.SegmentState
	Restarted bool    `json:"re,omitempty"` // the job had been given away before
	Folded    uint64  `json:"f,omitempty"`  // segments that were folded into it
	FoldedX   uint64  `json:"fx,omitempty"` // and the jobs they executed
}

// Growth is what is new of a tree, for a page that holds a copy.
type Growth struct {
	All    bool     `json:"all"`   // forget the copy
	Epoch  string   `json:"epoch"` // of the daemon: ask with it, from and to, the next time
	From   uint64   `json:"from"`
	To     uint64   `json:"to"`
	More   bool     `json:"more"` // ask again at once
	Set    []Shoot  `json:"set"`
	Gone   []uint64 `json:"gone"`
	Folded uint64   `json:"folded"` // in all
	Peers  []Place  `json:"peers"`
	Newest float64  `json:"newest"`
}

// A Place is a peer of a run and its cluster.
type Place struct {
	Peer    string `json:"peer"`
	Cluster string `json:"cluster"`
}

// A Panel is what is seen of a tree through a viewport.
type Panel struct {
	Boxes     []Pane `json:"boxes"` // level by level, each from left to right
	Folded    uint64 `json:"folded"`
	Invisible uint64 `json:"invisible"` // segments within it that are too thin, too deep or too many
}

// A Pane is a segment in a Panel.
type Pane struct {
	ID        string  `json:"id"`
	Job       string  `json:"job"`
	Peer      string  `json:"peer"`
	Cluster   string  `json:"cluster"`
	State     string  `json:"state"`
	Depth     int     `json:"depth"`
	From      float64 `json:"from"` // across, 0 to 1 of the root
	To        float64 `json:"to"`
	Start     float64 `json:"start"`
	End       float64 `json:"end,omitempty"`
	Executed  uint64  `json:"executed"`
	Spawned   uint64  `json:"spawned"`
	Folded    uint64  `json:"folded"`
	Invisible uint64  `json:"invisible"`
}

// A Timeline is what the workers of a run did, as far as it was watched.
type Timeline struct {
	Thin  uint64 `json:"thin"` // another number than before: forget the copy
	Epoch string `json:"epoch"`
	To    uint64 `json:"to"` // ask with it the next time
	Rows  []Row  `json:"rows"`
}

// A Row is one peer's.
type Row struct {
	Peer    string `json:"peer"`
	Cluster string `json:"cluster"`
	Spans   []Span `json:"spans"`
}

// A Span is for how many worker-seconds of a time the workers of a peer did what.
type Span struct {
	Start float64 `json:"s"`
	End   float64 `json:"e"`
	Work  float64 `json:"w"`
	Steal float64 `json:"q"`
	Comm  float64 `json:"c"`
	Idle  float64 `json:"i"`
}

// A Flow is what went from one cluster to another.
type Flow struct {
	From  string  `json:"from"`
	To    string  `json:"to"`
	Taken uint64  `json:"jobs"` // stolen
	RTT   float64 `json:"rtt_seconds,omitempty"`
}

// A Notice is something that happened while somebody watched.
type Notice struct {
	Number uint64    `json:"number"`
	At     time.Time `json:"at"`
	Letter string    `json:"letter"`
	Tone   string    `json:"tone"` // "good", "warn", "bad" or "quiet"
	Text   string    `json:"text"`
}

// Prefs are how the user likes the page.
type Prefs struct {
	Theme string `json:"theme"` // "system", "light" or "dark"
	Units string `json:"units"` // of bytes: "decimal" or "binary"
}
