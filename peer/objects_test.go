package peer

import (
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/sharedobj"
)

// What jobs share in all runs of an owner is half of the setting at most, and in all of others' runs the whole; an own
// run takes nothing of it. A run that is refused has the others asked for what they can spare.
func TestMemoryOfWhatIsShared(t *testing.T) {
	const mib = 1 << 20
	q := &memory{shareable: 64 * mib}
	if most := q.objects().MaxBytes; most != 32*mib {
		t.Fatalf("one run may have %d bytes", most)
	}
	now := time.Unix(1000, 0)
	said := 0
	enter := func(run byte, owner runs.PeerID) interface {
		Hold(uint64, bool) bool
		Wanted() bool
	} {
		q.enter(job.RunID{run}, owner, owner == "self", func(string) { said++ })
		return q.roomToShare(job.RunID{run}, func() time.Time { return now })
	}
	if own := enter(9, "self"); !own.Hold(900*mib, false) || q.of[job.RunID{9}].shared != 0 {
		t.Fatal("an own run is counted with others'")
	}
	one, two, three := enter(1, "a"), enter(2, "a"), enter(3, "b")
	for i, step := range []struct {
		room  interface{ Hold(uint64, bool) bool }
		mib   uint64
		fits  bool
		run   byte
		holds int64
		why   string
	}{
		{one, 30, true, 1, 30, ""}, {two, 3, false, 2, 0, "in its owner's runs would be more than 32 MiB"},
		{two, 2, true, 2, 2, "in its owner's runs"}, {three, 32, true, 3, 32, ""},
		{enter(4, "c"), 1, false, 4, 0, "in others' runs would be more than 64 MiB"}, {one, 29, true, 1, 29, ""},
	} {
		fits := step.room.Hold(step.mib*mib, false)
		id := job.RunID{step.run}
		if why := q.trouble(id); fits != step.fits || q.of[id].shared != step.holds*mib ||
			!strings.Contains(why, step.why) || (why == "") != (step.why == "") {
			t.Errorf("step %d: %v, %d bytes, %q", i, fits, q.of[id].shared, why)
		}
	}
	if !one.Wanted() || one.Wanted() || !three.Wanted() {
		t.Error("the others are not asked for what they can spare, or are again and again")
	}
	if said != 2 {
		t.Errorf("refusals are said %d times", said)
	}

	// What jobs make is held; whoever is beyond its bounds for long goes, and not whoever was there before.
	two.Hold(10*mib, true)
	if _, _, found := q.excess(now.Add(time.Second)); found || q.of[job.RunID{2}].shared != 10*mib {
		t.Error("a run goes at once, or what it has made is not counted")
	}
	id, why, found := q.excess(now.Add(excessPatience))
	if !found || id != (job.RunID{2}) || !strings.Contains(why, "owner") {
		t.Errorf("run %x goes: %s", id[:1], why)
	}
	one.Hold(10*mib, false)
	if _, _, found := q.excess(now.Add(excessPatience)); found {
		t.Error("a run goes though there is room again")
	}
	two.Hold(30*mib, true)
	if _, _, found := q.excess(now); found {
		t.Error("the time of an earlier excess counts")
	}
	q.leave(job.RunID{1})
	q.leave(job.RunID{3})
	if _, _, found := q.excess(now.Add(time.Hour)); found {
		t.Error("a run goes though the others have ended")
	}
}

// One sender may have a quarter of the setting in all runs, own ones too, whatever others have sent, and all of them a
// half; what it has in one that is over, or has no more, it may send again. No setting makes that more than so much.
func TestSendersOverAllRuns(t *testing.T) {
	const mib = 1 << 20
	q := &memory{shareable: 64 * mib}
	enter := func(run byte, owner runs.PeerID) sharedobj.Room {
		q.enter(job.RunID{run}, owner, owner == "self", nil)
		return q.roomToShare(job.RunID{run}, time.Now)
	}
	one, two, own := enter(1, "a"), enter(2, "b"), enter(3, "self")
	for i, step := range []struct {
		room sharedobj.Room
		from sharedobj.PeerID
		mib  uint64
		must bool
		fits bool
	}{
		{one, "x", 8, false, true}, {own, "x", 7, false, true}, {two, "x", 2, false, false}, {two, "x", 1, false, true},
		{one, "x", 9, false, false}, {one, "x", 8, false, true}, {two, "y", 16, false, true},
		{one, "y", 1, false, false},
		{own, "x", 0, true, true}, {one, "x", 15, false, true}, {one, "x", 20, true, false}, {two, "x", 1, false, true},
		{two, "x", 2, false, false}, {one, "x", 14, true, true}, {two, "x", 2, false, true},
	} {
		if fits := step.room.Sent(step.from, step.mib*mib, step.must); fits != step.fits {
			t.Errorf("step %d: %v", i, fits)
		}
	}
	if q.leave(job.RunID{2}); !one.Sent("y", 16*mib, false) || len(q.of[job.RunID{3}].sent) > 0 {
		t.Error("what was sent to a run that is over counts, or what is there no more")
	}
	if !one.Sent("", 20*mib, false) || own.Sent("", 13*mib, false) || !own.Sent("", 12*mib, false) {
		t.Error("all senders may have another part than a half")
	}
	q.shareable = 4096 * mib
	if own.Sent("", 13*mib, false) || own.Sent("z", 17*mib, false) || !own.Sent("z", 16*mib, false) {
		t.Error("who gives much to what is shared gives it to what nobody has named")
	}
	if (&memory{}).roomToShare(job.RunID{1}, time.Now) != nil {
		t.Error("a room without a bound")
	}
}
