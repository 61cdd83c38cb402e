package dashboard

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// maxShoots is how many segments go into one reply.
const maxShoots = 4000

// A param is one of a call's query: a number, if of is float64 or uint64, or a text.
type param struct {
	name, about string
	of          any
}

// viewParams are those of a viewport.
var viewParams = []param{
	{"root", "ID of the segment that is the whole; the tree if it is missing", ""},
	{"from", "the part of the whole that is seen: 0 if missing", 0.0}, {"to", "1 if missing", 0.0},
	{"depth", "levels below the root: 64 if missing", uint64(0)},
	{"least", "width below which segments are left out, as a share of what is seen", 0.0},
	{"most", "boxes at most: 1000 if missing", uint64(0)},
}

var growthParams = []param{
	{"epoch", "of the last reply", ""}, {"from", "of the last reply", uint64(0)},
	{"to", "of the last reply", uint64(0)},
}

var timelineParams = []param{{"epoch", "of the last reply", ""}, {"thin", "of the last reply", uint64(0)},
	{"to", "of the last reply", uint64(0)}}

// A query reads the parameters of a request; the first that cannot be is its error.
type query struct {
	r   *http.Request
	err error
}

func (q *query) number(name string, otherwise float64) float64 {
	text := q.r.URL.Query().Get(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && q.err == nil {
		q.err = fmt.Errorf("%w: %s is %q, which is no number", report.ErrBadInput, name, clipped(text))
	}
	return v
}

func (q *query) count(name string, otherwise uint64) uint64 {
	text := q.r.URL.Query().Get(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil && q.err == nil {
		q.err = fmt.Errorf("%w: %s is %q, which is no count", report.ErrBadInput, name, clipped(text))
	}
	return v
}

// withStory does something with the story of the run that a request names.
func (s *Server) withStory(r *http.Request, do func(st *story) error) error {
	all := s.hub.stories
	all.mu.Lock()
	defer all.mu.Unlock()
	st := all.find(r.PathValue("run"))
	if st == nil {
		return fmt.Errorf(
			"%w: nothing was seen of this run: runs are remembered while a page is open, the last %d of them",
			report.ErrNotFound, maxStories)
	}
	return do(st)
}

func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }

// tree shows a run's tree through a viewport.
func (s *Server) tree(r *http.Request) (any, error) {
	q := &query{r: r}
	v := Viewport{
		Root: r.URL.Query().Get("root"), From: q.number("from", 0), To: q.number("to", 1), Least: q.number("least", 0),
		Depth: int(min(q.count("depth", 64), MaxDepth+1)), Most: int(min(q.count("most", 1000), MaxBoxes+1)),
	}
	if q.err != nil {
		return nil, q.err
	}
	panel := Panel{Boxes: []Pane{}}
	return &panel, s.withStory(r, func(st *story) error {
		sight, err := st.tree.View(v)
		if err != nil {
			return err
		}
		panel.Folded, panel.Invisible = sight.Folded.Segments, sight.Invisible.Segments
		for _, b := range sight.Boxes {
			panel.Folded += b.Folded.Segments
			panel.Boxes = append(panel.Boxes, Pane{
				ID: b.ID, Job: b.Job, Peer: b.Peer, Cluster: b.Cluster, State: b.State.String(), Depth: b.Depth,
				From: b.From, To: b.To,
				Start: seconds(b.Start), End: seconds(b.End), Executed: b.Executed, Spawned: b.Spawned,
				Folded: b.Folded.Segments, Invisible: b.Invisible.Segments,
			})
		}
		return nil
	})
}

// segments tells what is new of a run's tree.
func (s *Server) segments(r *http.Request) (any, error) {
	q := &query{r: r}
	from, to := q.count("from", 0), q.count("to", 0)
	if q.err != nil {
		return nil, q.err
	}
	if r.URL.Query().Get("epoch") != s.hub.epoch {
		from, to = 0, 0
	}
	g := Growth{Epoch: s.hub.epoch, Set: []Shoot{}, Gone: []uint64{}, Peers: []Place{}}
	return &g, s.withStory(r, func(st *story) error {
		d := st.tree.Since(from, to, maxShoots)
		g.All, g.From, g.To, g.More = d.All, d.From, d.To, d.More
		g.Gone, g.Folded, g.Newest = append(g.Gone, d.Gone...), st.tree.Folded(), seconds(st.newest)
		for i, p := range st.peers {
			g.Peers = append(g.Peers, Place{p, st.places[i]})
		}
		for _, l := range d.Leaves {
			shoot := Shoot{
				Number: l.Number, Up: l.Up, Job: l.Job, Peer: st.index[l.Peer], Start: seconds(l.Start),
				Spawned: l.Spawned, Executed: l.Executed,
				State: l.State.String(), Restarted: l.Restarted, Folded: l.Folded.Segments,
				FoldedX: l.Folded.Executed,
			}
			if l.State.Ended() {
				shoot.End = max(seconds(l.End), 1e-6) // 0 would be left out
			}
			g.Set = append(g.Set, shoot)
		}
		return nil
	})
}

// timeline tells what is new of what the workers of a run did.
func (s *Server) timeline(r *http.Request) (any, error) {
	q := &query{r: r}
	thin, to := q.count("thin", 0), q.count("to", 0)
	if q.err != nil {
		return nil, q.err
	}
	t := Timeline{Epoch: s.hub.epoch, Rows: []Row{}}
	return &t, s.withStory(r, func(st *story) error {
		if r.URL.Query().Get("epoch") != s.hub.epoch || thin != st.thin {
			to = 0
		}
		t.Thin, t.To = st.thin, st.last
		for i, p := range st.peers {
			row := Row{Peer: p, Cluster: st.places[i], Spans: []Span{}}
			for _, x := range st.spans[i].list {
				if x.number > to {
					row.Spans = append(row.Spans, Span{seconds(x.start), seconds(x.end), x.work, x.steal, x.comm,
						x.idle})
				}
			}
			t.Rows = append(t.Rows, row)
		}
		return nil
	})
}
