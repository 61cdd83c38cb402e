package peer

import (
	"bytes"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/ledger"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/presence"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// What each part of a peer decides by itself, tried without the others and by a clock of the test's own.

// hands are those of a clock.
type hands struct{ at time.Time }

func (h *hands) now() time.Time          { return h.at }
func (h *hands) forward(d time.Duration) { h.at = h.at.Add(d) }

func standing() (*base.Base, *hands) {
	h := &hands{time.Unix(1_000_000_000, 0)}
	return base.New(slog.New(slog.DiscardHandler), h.now, time.Second), h
}

func newKey(t *testing.T) (crypto.PrivKey, peer.ID) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, id
}

// A card is signed anew when what matters has changed, when it proves another membership, after some time, and when the
// clock was set back; its number grows each time.
func TestOwnCardIsRenewed(t *testing.T) {
	b, clock := standing()
	key, _ := newKey(t)
	facts := statement.Card{Swarm: "s", Cluster: "a", Incarnation: 1, Addrs: []string{"/ip4/1.2.3.4/tcp/1"}}
	proof, told := []byte{1}, 0
	o := &ownCard{Base: b, key: key, facts: func() *statement.Card { c := facts; return &c },
		proof: func() []byte { return proof }, tell: func([]byte) { told++ },
		every: func() time.Duration { return members.CardEvery }}
	if o.current() != nil {
		t.Error("there is a card before the first")
	}
	last := uint64(0)
	for i, c := range []struct {
		change func()
		anew   bool
	}{
		{func() {}, true},
		{func() {}, false},
		{func() { clock.forward(members.CardEvery - time.Second) }, false},
		{func() { clock.forward(time.Second) }, true},
		{func() { facts.Cluster = "b" }, true},
		{func() { facts.Addrs = append(facts.Addrs, "/ip4/1.2.3.4/tcp/2") }, true},
		{func() { facts.Reachable = "public" }, true},
		{func() { facts.Software = "newer" }, false},
		{func() { clock.forward(-time.Hour) }, true},
		{func() { proof = []byte{2} }, true},
	} {
		before := told
		c.change()
		o.keepUp(clock.now())
		if anew := told > before; anew != c.anew {
			t.Errorf("change %d: told %v, want %v", i, anew, c.anew)
		}
		now := o.current()
		if c.anew && now.Seq <= last || !bytes.Equal(now.Proof, proof) {
			t.Errorf("change %d: number %d after %d", i, now.Seq, last)
		}
		last = now.Seq
	}
	proof = []byte{3}
	if c := o.current(); !bytes.Equal(c.Proof, proof) {
		t.Error("a card that proves an old membership is shown")
	}
}

// The rate is that of the last seconds, over all runs; the figures of one that ends are neither lost nor counted twice.
func TestWorkIsAddedUp(t *testing.T) {
	_, clock := standing()
	running := report.RunStats{}
	w := &work{running: func() report.RunStats { return running }, others: func(time.Time) float64 { return 3 },
		used: func(time.Duration) {}}
	for i := range uint64(20) {
		running.Executed += i
		w.sample(clock.now())
		clock.forward(time.Second)
	}
	if r := w.report(clock.now()); r.Rate != 17 || r.AllRate != 20 || r.Executed != 190 {
		t.Errorf("%+v", r)
	}
	ended := running
	w.add(&ended)
	running = report.RunStats{Jobs: report.Jobs{Executed: 5}}
	if r := w.report(clock.now()); r.Executed != 195 {
		t.Errorf("after an end: %+v", r)
	}
}

// Members are asked after what goes on or has just ended, and once after what ended before; of so many runs at most.
func TestRunsToWatch(t *testing.T) {
	b, clock := standing()
	now := clock.now()
	on, over, long, lost := job.RunID{1}, job.RunID{2}, job.RunID{3}, job.RunID{4}
	w := newWatching(b, nil, nil, &conductor{}, nil)
	there := []life{
		{run: on, traced: true}, {run: over, over: true, ended: now.Add(-watchedAfter / 2), traced: true},
		{run: long, over: true, ended: now.Add(-time.Hour), traced: true}, {run: lost, over: true, ended: now},
	}
	w.runs = func() []life { return there }
	if got, want := w.chosen(now), []job.RunID{on, over, long}; !slices.Equal(got, want) {
		t.Errorf("at first %v, want %v", got, want)
	}
	if got, want := w.chosen(now), []job.RunID{on, over}; !slices.Equal(got, want) {
		t.Errorf("then %v, want %v", got, want)
	}
	delete(w.done, long) // somebody has more to tell
	if got, want := w.chosen(now.Add(watchedAfter)), []job.RunID{on, long, over}; len(got) != len(want) {
		t.Errorf("with more to tell %v, want %v", got, want)
	}
	there = nil
	for i := range 3 * maxWatchedRuns {
		there = append(there, life{run: job.RunID{9, byte(i)}, traced: true})
	}
	if got := w.chosen(now); len(got) != maxWatchedRuns || len(w.done) != 0 {
		t.Errorf("%d runs are watched, %d are remembered", len(got), len(w.done))
	}
}

// What is left of cancelled runs is read though the clock, which may be wrong, says that nobody needs it any more, and
// only what this peer has signed; a file that cannot be read is left where it is.
func TestArchiveRecalls(t *testing.T) {
	b, clock := standing()
	key, self := newKey(t)
	stranger, _ := newKey(t)
	dir := t.TempDir()
	a, err := openArchive(b, dir, self, &catalog{})
	if err != nil {
		t.Fatal(err)
	}
	bury := func(id job.RunID, key crypto.PrivKey) {
		s := &statement.Tombstone{Run: id, Reason: runs.Cancelled, At: clock.now().Unix(),
			Until: clock.now().Add(time.Hour).Unix()}
		sealed, err := s.Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.cancelled.Write(id.Hex(), sealed); err != nil {
			t.Fatal(err)
		}
	}
	good, forged := job.RunID{1}, job.RunID{3}
	bury(good, key)
	bury(forged, stranger)
	torn := a.answers.Path(job.RunID{4}.Hex())
	if err := errors.Join(a.answers.Make(), os.WriteFile(torn, []byte("torn"), 0o600)); err != nil {
		t.Fatal(err)
	}
	clock.forward(1e5 * time.Hour)
	left := a.recall()
	if len(left.Cancelled) != 1 || left.Cancelled[0].Run != good || len(left.Answers)+len(left.Own)+len(left.Held) > 0 {
		t.Errorf("recalled %+v", left)
	}
	if a.cancelled.Has(forged.Hex()) || !a.cancelled.Has(good.Hex()) {
		t.Error("what is needed has gone, or what is not is still there")
	}
	if _, err := os.Stat(torn); err != nil {
		t.Errorf("the torn file: %v", err)
	}
	if a.gone() != "" {
		t.Error("the directory is said to be gone")
	}
	if err := os.RemoveAll(dir); err != nil || a.gone() == "" {
		t.Errorf("nobody notices that the directory is gone: %v", err)
	}
}

// A roster is told by its author only: what another one passes on counts for less, see package runs.
func TestRostersAreOfTheirAuthors(t *testing.T) {
	b, _ := standing()
	key, id := newKey(t)
	_, other := newKey(t)
	sealed := signer{b, key}.Enroll(&runs.Roster{Number: 1})
	if err := checkRoster(id, sealed); err != nil {
		t.Error(err)
	}
	if checkRoster(other, sealed) == nil {
		t.Error("a roster is taken from somebody else")
	}
}

// What was decided is shown with the word for it.
func TestRosterIsShown(t *testing.T) {
	at := time.Unix(7, 0).UTC()
	got := rosterShown(&runs.Roster{Log: []runs.RosterEntry{{At: at.Unix(), Text: "peer p may come back"}}})
	want := report.RosterEntry{At: at, Kind: "readmitted", Text: "peer p may come back"}
	if len(got.Log) != 1 || got.Log[0] != want {
		t.Errorf("shown is %+v", got.Log)
	}
}

// Guards that a pause is over when the clock shows what was said, though the machine has slept meanwhile: what else Go
// compares times by stands still then.
func TestAPauseEndsByTheClock(t *testing.T) {
	b, _ := standing()
	b.Now = time.Now
	k := &caretaker{Base: b, presence: presence.New("", func(bool, bool) {}, func() {})}
	if err := k.pause(time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, until := k.presence.Paused(); strings.Contains(until.String(), "m=") {
		t.Errorf("it ends at %v", until)
	}
}

// By whom an owner is a member is known of its run also when it was not said with it: a peer that meets thousands
// forgets what each has shown.
func TestOwnersShown(t *testing.T) {
	open := func() *host.Host {
		h, err := host.Open(t.Context(), host.Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	h, owner := open(), open()
	x := &outside{host: h, checkpoints: &ledger.Store{Base: &base.Base{Log: slog.New(slog.DiscardHandler)}}}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	before, err := (&statement.Manifest{Swarm: "lab", App: "a", Entry: "e", Created: 1, Expires: 2}).Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	tell := func() *runs.Told {
		return x.byMember(&runs.Told{Manifest: &runs.Manifest{Owner: peerName(owner.ID()), Sealed: before.Bytes}})
	}
	if !tell().Failed {
		t.Error("the run of one who is no member is taken up")
	}
	line, err := h.Invite(t.Context(), host.InviteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Join(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	told := tell()
	if told.Failed || !bytes.Equal(told.Manifest.Proof, owner.Proof()) {
		t.Fatalf("of a member's run %+v is known", told)
	}
	// it came without the proof, from a daemon of before, and goes on with it
	if m, err := statement.OpenManifest(told.Manifest.Sealed); err != nil || !bytes.Equal(m.Proof, owner.Proof()) {
		t.Errorf("%+v is passed on, %v", m, err)
	}
}
