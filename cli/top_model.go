package cli

import (
	"cmp"
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/satin-peer/satin/peer/control"
)

// top is the program's state. Update alone changes it; View draws it. At most one question to the daemon is
// on its way.
type top struct {
	ctx    context.Context
	source topSource

	sight  topSight
	seen   bool
	failed error     // of the last question
	note   string    // what became of the last action
	rates  []float64 // jobs a second, oldest first, one a second
	width  int
	height int

	list   topList // which list the keys move
	scroll [topLists]int
	order  topOrder
}

// A topList is one of the two tables.
type topList int

const (
	topRuns topList = iota
	topPeers
	topLists
)

// A topOrder is how peers are sorted.
type topOrder int

const (
	byCluster topOrder = iota // and then by ID
	byTaken                   // jobs stolen from them, most first
	byGiven                   // jobs that they stole, most first
	byRTT                     // nearest first, not measured last
	topOrders
)

var topOrderNames = [topOrders]string{"cluster", "taken", "given", "round trip"}

func newTop(ctx context.Context, source topSource) *top {
	return &top{ctx: ctx, source: source, width: 80, height: 24}
}

// Init begins to look. Each answer, or failure, leads to the next look a second later.
func (t *top) Init() tea.Cmd { return t.look }

// Update takes in what happened.
func (t *top) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		t.width, t.height = m.Width, m.Height
	case topTick:
		return t, t.look
	case topSeen:
		t.take(m)
		return t, topLater()
	case topDone:
		t.note = m.what
		if m.err != nil {
			t.note = m.err.Error()
		}
		return t, t.glance
	case topGlance:
		t.sight = topSight(m)
	case tea.KeyMsg:
		return t, t.key(m.String())
	}
	return t, nil
}

// glance shows the effect of an action at once, beside the regular looks.
func (t *top) glance() tea.Msg {
	if seen := t.look().(topSeen); seen.err == nil {
		return topGlance(seen.sight)
	}
	return nil
}

// take keeps what was seen. Without an answer the last one stays, and the screen says so.
func (t *top) take(m topSeen) {
	if t.failed = m.err; m.err != nil {
		return
	}
	t.sight, t.seen = m.sight, true
	t.rates = append(t.rates, m.sight.status.Work.Rate)
	t.rates = t.rates[max(0, len(t.rates)-topHistory):]
}

func (t *top) key(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c", "esc":
		return tea.Quit
	case "tab", "shift+tab", "left", "right":
		t.list = (t.list + 1) % topLists
	case "up", "k":
		t.scroll[t.list]--
	case "down", "j":
		t.scroll[t.list]++
	case "pgup":
		t.scroll[t.list] -= t.height / 2
	case "pgdown", " ":
		t.scroll[t.list] += t.height / 2
	case "home", "g":
		t.scroll[t.list] = 0
	case "end", "G":
		t.scroll[t.list] = len(t.sight.peers) + len(t.sight.runs)
	case "s":
		t.order = (t.order + 1) % topOrders
	case "p":
		return t.act("paused for an hour: r resumes",
			func(ctx context.Context) error { return t.source.Pause(ctx, topPause) })
	case "r":
		return t.act("resumed", t.source.Resume)
	}
	return nil
}

// sorted gives the peers in the chosen order.
func (t *top) sorted() []control.PeerInfo {
	peers := slices.Clone(t.sight.peers)
	slices.SortStableFunc(peers, func(a, b control.PeerInfo) int {
		switch t.order {
		case byTaken:
			return cmp.Compare(b.Taken, a.Taken)
		case byGiven:
			return cmp.Compare(b.Given, a.Given)
		case byRTT:
			return cmp.Or(cmp.Compare(unmeasured(a), unmeasured(b)), cmp.Compare(a.RTT, b.RTT))
		}
		return 0 // as the daemon sorts them
	})
	return peers
}

func unmeasured(p control.PeerInfo) int {
	if p.RTT <= 0 {
		return 1
	}
	return 0
}
