package peer

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/steal"
)

// A tab stays until its ticket has expired, whether it works or not, and is told why it has to go.
func TestTabsGoWhenTheirLinkExpires(t *testing.T) {
	h, err := host.Open(t.Context(), host.Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	now := time.Unix(1000, 0)
	v := &visitors{Base: &base.Base{Now: func() time.Time { return now }}, host: h, guests: map[steal.PeerID]*guest{}}
	var told []steal.PeerID
	for id, until := range map[steal.PeerID]int64{"a": 1000, "b": 2000} {
		v.guests[id] = &guest{of: v, id: id, until: until, send: func(f *tab.Frame) bool {
			if f.Over == nil || f.Over.Why != expired || !f.Over.Out() {
				t.Errorf("it is told %+v", f)
			}
			told = append(told, id)
			return true
		}}
	}
	for _, at := range []struct {
		unix int64
		told []steal.PeerID
	}{{1000, nil}, {1001, []steal.PeerID{"a"}}, {2000, []steal.PeerID{"a"}}, {2001, []steal.PeerID{"a", "b"}}} {
		now, told = time.Unix(at.unix, 0), nil
		v.expire()
		slices.Sort(told)
		if !slices.Equal(told, at.told) {
			t.Errorf("at %d %q have to go, want %q", at.unix, told, at.told)
		}
	}
}

// Jobs that did not reach a tab, which was behind, are none that it has: else it had as many as it may in the end, and
// got no more; and could name them as those above its own.
func TestJobsThatDoNotArrive(t *testing.T) {
	behind := true
	run := job.RunID{1}
	g := &guest{id: "a", run: run, ready: true, has: map[steal.Handle]job.Path{},
		send: func(*tab.Frame) bool { return !behind }}
	v := &visitors{guests: map[steal.PeerID]*guest{g.id: g}}
	for h := range steal.Handle(2) {
		_, sent := v.carry(&steal.Message{Run: run, To: steal.Address{Peer: g.id},
			Reply: &steal.StealReply{Jobs: []steal.Grant{{Handle: h}}}})
		if sent == behind || len(g.has) != int(h) {
			t.Errorf("sent %v, it has %d jobs", sent, len(g.has))
		}
		behind = false
	}
}

// What a tab had sent before its connection ended is not taken in any more when it has lied.
func TestLiarsLastFramesAreDropped(t *testing.T) {
	v := &visitors{guests: map[steal.PeerID]*guest{}, changed: func() { t.Error("it is listened to") }}
	g := &guest{of: v, id: "a", send: func(*tab.Frame) bool { return true }}
	v.guests[g.id] = g
	if !v.expel(g.id) {
		t.Error("it is not known")
	}
	if err := g.Received(&tab.Frame{Rest: &tab.Rest{Resting: true}}); !errors.Is(err, errTab) {
		t.Errorf("after it was put out: %v", err)
	}
}

// However often a tab says that it rests, or does not, the runs are dealt out anew once a second, and only for news.
func TestRestlessTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := 0
		v := &visitors{runs: &conductor{}, changed: func() { changed++ }}
		g := &guest{of: v, pace: rate.NewLimiter(1, tellBurst)}
		say := func(f *tab.Frame) {
			if err := g.Received(f); err != nil {
				t.Error(err)
			}
		}
		began := time.Now()
		for i := range 100 {
			say(&tab.Frame{Rest: &tab.Rest{Resting: i%4 < 2}})
			say(&tab.Frame{Ready: &tab.Ready{}})
		}
		if took := time.Since(began); took < (200-tellBurst)*time.Second || changed != 50 {
			t.Errorf("it was dealt out %d times in %v", changed, took)
		}
	})
}
