package peer

import (
	"errors"
	"testing"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// A peer's rate is what came between the last two times it told; when it tells no more, the rate falls, and ends.
func TestRateOfOthers(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := &load{Stats: report.RunStats{Jobs: report.Jobs{Executed: 300}}, heard: now, until: now.Add(loadLife),
		before: 100, beforeAt: now.Add(-2 * time.Second)}
	for after, want := range map[time.Duration]float64{0: 100, 2 * time.Second: 50, loadLife: 0} {
		if got := l.rate(now.Add(after)); got != want {
			t.Errorf("after %v: %v jobs/s, want %v", after, got, want)
		}
	}
	for name, l := range map[string]*load{"told once": {Stats: l.Stats, heard: now, until: l.until},
		"began anew": {Stats: report.RunStats{Jobs: report.Jobs{Executed: 3}}, heard: now, until: l.until, before: 100,
			beforeAt: now.Add(-time.Second)}} {
		if got := l.rate(now.Add(time.Second)); got != 0 {
			t.Errorf("%s: %v jobs/s", name, got)
		}
	}
}

// A load out of range is refused before anybody looks at it.
func TestLoadsAreChecked(t *testing.T) {
	if err := checkLoad("", encode(&load{Workers: 2, Busy: 1, Share: wholeShare})); err != nil {
		t.Error(err)
	}
	for _, l := range []*load{{Workers: -1}, {Workers: 1, Busy: 2}, {Share: -1}, {Share: wholeShare + 1},
		{Queued: -1}} {
		if err := checkLoad("", encode(l)); !errors.Is(err, errLoad) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// What a newer build tells besides is skipped, in the load and in its figures; all else is heard.
func TestLoadsOfNewerBuilds(t *testing.T) {
	b, err := wire.Control().Encode(map[int]any{2: 3, 5: map[int]any{2: 7, 99: 1}, 98: "new"})
	if err != nil {
		t.Fatal(err)
	}
	var l load
	if err := checkLoad("", b); err != nil {
		t.Error(err)
	}
	if err := wire.Figures().Decode(b, &l); err != nil || l.Workers != 3 || l.Stats.Executed != 7 {
		t.Errorf("it is heard as %+v, %v", l, err)
	}
}

// How far a run is comes from its root, or from whoever holds it, and from nobody else; and it does not go back.
func TestHowFarARunIs(t *testing.T) {
	_, m := newKey(t)
	r := &part{manifest: &runs.Manifest{}, began: time.Now(),
		loads: map[libpeer.ID]*load{m: {Share: 300_000}, "x": {Share: 900_000}}}
	for _, c := range []struct {
		master   bool
		progress float64
		want     float64
	}{{false, 0.8, 0.3}, {true, 0.4, 0.4}, {true, 0.2, 0.4}, {false, 0, 0.4}} {
		r.note(port.Figures{Progress: c.progress}, session.Stats{Master: c.master, MasterID: steal.PeerID(m.String())},
			r.began)
		if r.reached != c.want {
			t.Errorf("master %v, %v: %v, want %v", c.master, c.progress, r.reached, c.want)
		}
	}
	if r.note(port.Figures{}, session.Stats{}, r.began); r.reached != 0.4 {
		t.Errorf("with an unknown master: %v", r.reached)
	}
	r.manifest.Verify, r.manifest.Owner, r.loads[m].Share = "quorum=2", peerName(m), 500_000
	if r.note(port.Figures{}, session.Stats{}, r.began); r.reached != 0.5 {
		t.Errorf("of a run that is verified, by what its owner tells: %v", r.reached)
	}
}

// Guards that all hear how far a run is from whoever holds its root, also while that does nothing itself: what others
// do brings it on, as when its owner's machine is not to compute. And a peer that has cores and nothing new to tell
// says now and then that it has them.
func TestProgressIsTold(t *testing.T) {
	l := &load{Busy: 1, Share: 300_000, Stats: report.RunStats{Jobs: report.Jobs{Executed: 7}}}
	before := loadTeller{executed: 7, busy: 1, share: 300_000}
	if !before.told(l, true) {
		t.Error("what was told is told again")
	}
	for _, change := range []func(l *load){
		func(l *load) { l.Share++ }, func(l *load) { l.Busy = 0 }, func(l *load) { l.Stats.Executed++ },
	} {
		now := *l
		if change(&now); before.told(&now, true) {
			t.Errorf("%+v is not told", now)
		}
	}
	if !before.told(l, false) {
		t.Error("a peer without cores says so again and again")
	}
	if l.Workers = 1; before.told(l, false) || !before.told(l, true) {
		t.Error("a peer that has cores does not say so now and then")
	}
	if l.Workers, l.Lacks, before.lacks = 0, 1, true; before.told(l, true) {
		t.Error("newcomers do not hear that the root waits for its input")
	}
	if l.Lacks = 0; before.told(l, true) {
		t.Error("nobody hears that the root waits no more")
	}
}
