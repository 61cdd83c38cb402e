package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

// A fakeSource is a daemon that says what it was told to.
type fakeSource struct {
	mu     sync.Mutex
	status control.Status
	peers  []control.PeerInfo
	runs   []control.RunInfo
	err    error
	done   []string
}

func (f *fakeSource) Status(context.Context) (control.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status, f.err
}
func (f *fakeSource) Peers(context.Context) ([]control.PeerInfo, error) { return f.peers, nil }
func (f *fakeSource) Runs(context.Context) ([]control.RunInfo, error)   { return f.runs, nil }
func (f *fakeSource) Pause(_ context.Context, d time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, "pause "+d.String())
	f.status.State = control.PeerPaused
	return nil
}
func (f *fakeSource) Resume(context.Context) error { return errors.New("the daemon is leaving") }

func busySource() *fakeSource {
	f := &fakeSource{status: control.Status{
		Peer: "12D3KooWQm65kDdVbZ4ZKbKfAKSdfx4Mjje6V5goNcvea3vub2v9", Version: "v0.1.0", Swarm: "lab\x1b[2J",
		Started: time.Now().Add(-time.Hour),
		State:   control.PeerWorking, Workers: 4, Busy: 3, Peers: 41,
		Work: report.Work{Executed: 123_456, Rate: 1234, Given: 7, Taken: 9},
	}}
	for i := range 40 {
		f.peers = append(f.peers, control.PeerInfo{Peer: strings.Repeat("p", 44) + string(rune('A'+i)),
			Cluster: "c", Name: "n\u202e\x1b]0;x\a", Connected: true, Alive: i != 3,
			State: control.PeerWorking, Workers: 2, RTT: float64(i%7) / 1000, Given: int64(i), Taken: int64(40 - i)})
	}
	for range 9 {
		f.runs = append(f.runs, control.RunInfo{Run: strings.Repeat("ab", 16), Title: "18 queens",
			State: control.RunRunning, Mine: true, Share: 0.612, Peers: 4, Elapsed: 12})
	}
	return f
}

// seenBy is a top that has looked once.
func seenBy(t *testing.T, f *fakeSource) *top {
	t.Helper()
	m := newTop(t.Context(), f)
	m.Update(m.Init()())
	return m
}

func press(m *top, keys ...string) {
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		switch k {
		case "tab":
			msg = tea.KeyMsg{Type: tea.KeyTab}
		case "down":
			msg = tea.KeyMsg{Type: tea.KeyDown}
		case "up":
			msg = tea.KeyMsg{Type: tea.KeyUp}
		}
		if _, cmd := m.Update(msg); cmd != nil {
			if next := cmd(); next != nil {
				if _, more := m.Update(next); more != nil {
					m.Update(more())
				}
			}
		}
	}
}

// The screen fits any terminal, says what matters, and lets nothing of another peer's through that a terminal
// would obey.
func TestTopFitsTheTerminal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 12}, {24, 5}, {1, 1}} {
		m := seenBy(t, busySource())
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		lines := strings.Split(m.View(), "\n")
		if len(lines) > size[1] {
			t.Errorf("%d lines in a terminal of %v", len(lines), size)
		}
		for _, line := range lines {
			if w := ansi.StringWidth(line); w > max(size[0], topLeast) {
				t.Errorf("a line of %d columns in a terminal of %v: %q", w, size, line)
			}
		}
		if text := m.View(); strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\u202e") ||
			strings.Contains(text, "\x1b]") {
			t.Errorf("a peer's name reaches the terminal as it is: %q", text)
		}
	}
	m := seenBy(t, busySource())
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	text := ansi.Strip(m.View())
	for _, want := range []string{"working, 3 of 4 workers busy", "1.23k jobs/s", "abababab", "18 queens", "61.2 %",
		"silent", "more"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Peers that are called the same are told apart by their IDs, as those without a name are; others are called by name.
func TestTopTellsPeersApart(t *testing.T) {
	f := &fakeSource{}
	for i, name := range []string{"vm", "vm", "desk", "", "machine", "machine"} {
		f.peers = append(f.peers, control.PeerInfo{Peer: strings.Repeat("p", 44) + string(rune('A'+i)), Name: name})
	}
	m := seenBy(t, f)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	text := ansi.Strip(m.View())
	for _, want := range []string{" vm   …pppppppA ", " vm   …pppppppB ", " desk  ", " …pppppppD ", " mac… …pppppppE ",
		" mac… …pppppppF "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Each key does what the screen says of it: peers are sorted by every column in turn, what was not measured last; a
// list is scrolled to its end and no further; and what the daemon refuses is shown.
func TestTopKeys(t *testing.T) {
	f := busySource()
	m := seenBy(t, f)
	first := m.sorted()[0].Peer
	press(m, "s")
	if got := m.sorted()[0]; got.Taken != 40 {
		t.Errorf("sorted by jobs taken, the first has %d", got.Taken)
	}
	press(m, "s", "s")
	if got := m.sorted(); got[0].RTT <= 0 || got[len(got)-1].RTT > 0 {
		t.Error("sorted by round trip, what was not measured is not last")
	}
	press(m, "s")
	if m.sorted()[0].Peer != first {
		t.Error("the order does not come round")
	}
	press(m, "tab", "down", "down", "down", "up")
	if m.View(); m.scroll[topPeers] != 2 || m.scroll[topRuns] != 0 {
		t.Errorf("scrolled to %v", m.scroll)
	}
	press(m, "G")
	if m.View(); m.scroll[topPeers] <= 2 || m.scroll[topPeers] >= 40 {
		t.Errorf("the end of 40 peers is at %d", m.scroll[topPeers])
	}
	press(m, "p")
	if len(f.done) != 1 || f.done[0] != "pause 1h0m0s" || !strings.Contains(m.View(), "paused for an hour") ||
		m.sight.status.State != control.PeerPaused {
		t.Errorf("p did %q, and the screen says\n%s", f.done, m.View())
	}
	press(m, "r")
	if !strings.Contains(m.View(), "the daemon is leaving") {
		t.Error("a refused action is not shown")
	}
}

// While the daemon is silent the last sight stays, and the screen says of when it is.
func TestTopOutlivesItsDaemon(t *testing.T) {
	f := busySource()
	f.err = errors.New("no daemon runs here")
	m := seenBy(t, f)
	if text := m.View(); !strings.Contains(text, "no daemon runs here") {
		t.Errorf("without a first answer the screen says %q", text)
	}
	f.err = nil
	m.Update(m.look())
	f.err = errors.New("no daemon runs here")
	m.Update(m.look())
	if text := ansi.Strip(m.View()); !strings.Contains(text, "this is how it was at") ||
		!strings.Contains(text, "18 queens") {
		t.Errorf("a lost daemon shows as\n%s", text)
	}
}

// The whole program, on a terminal that is a buffer.
func TestTopProgram(t *testing.T) {
	f := busySource()
	m := newTop(t.Context(), f)
	var screen bytes.Buffer
	p := tea.NewProgram(m, tea.WithInput(strings.NewReader("q")), tea.WithOutput(&screen), tea.WithoutSignals())
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
}

// A curve shows its last values by the highest of them, and a bar the share that it is to show.
func TestTopDrawing(t *testing.T) {
	if c := curve([]float64{0, 1, 2, 4}, 3); c != "▃▅█" {
		t.Errorf("the curve of 1, 2, 4 is %q", c)
	}
	if b := ansi.Strip(bar(0.5, 4)); b != "██░░" {
		t.Errorf("a half is %q", b)
	}
}
