package steal

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Members that name themselves holders of a job that runs, for the first time or again, at work for as long as can be,
// or with its outcome, have it given up for them a few times, however many they are, whether they list it or give it
// back at once; some minutes after the last time it runs here again, and stays.
func TestAgedHolders(t *testing.T) {
	for i := range 4 {
		lists := i%2 > 0
		core := salvageCore(t, nil)
		j := jobAt(3)
		j.Restarted = i < 2
		holdFor(core, "b", 1, j)
		core.Report(core.now, Load{Workers: 1, Runs: 1})
		var held []Handle // that the first liar lists, or gives back
		var asked, again time.Duration
		var last SegmentID
		aborts, runs := 0, uint64(1)
		take := func(out Output) {
			for _, m := range out.Messages {
				if m.Adopt != nil {
					asked, held = core.now, append(held, m.Adopt.Jobs[0].Handle)
				}
			}
			for _, o := range out.Orders {
				switch o.Kind {
				case AbortSegment:
					aborts++
					core.Report(core.now, Load{Workers: 1, Idle: 1, Runs: runs})
				case RunSegment:
					runs, last, again = runs+1, o.Segment, core.now
					core.Report(core.now, Load{Workers: 1, Runs: runs})
				}
			}
		}
		for i := range uint64(3600) {
			now := core.now + time.Second
			take(core.Step(now, core.from("b", &Message{Heartbeat: &Heartbeat{Seq: i + 1, Leases: 1}})))
			switch {
			case len(held) == 0:
			case lists:
				take(core.Step(now, core.from("c", &Message{Heartbeat: &Heartbeat{Seq: i + 1, Held: held}})))
			default:
				take(core.Step(now, core.from("c", &Message{Return: &Return{Handles: held[len(held)-1:]}})))
			}
			for _, liar := range []PeerID{"c", "d", "e"} {
				if i >= 60 && i%10 == 0 && (lists || liar == "c") {
					take(core.Hear(now, &News{From: living(liar), Tuples: []Tuple{{Path: j.Path, Identity: j.Identity,
						Holder: living(liar), Age: math.MaxInt64, Done: liar == "d"}}}))
				}
			}
			take(core.Tick(now))
		}
		if len(held) < 1 || len(held) > maxSought || aborts > maxSought || last == 0 || again-asked > 5*time.Minute {
			t.Fatalf("%+v, lists %v: it is given up %d times, asked for %d times, and runs here again after %v", j, lists,
				aborts, len(held), again-asked)
		}
		if lists && core.partners.find("c").credit.most >= firstCredit {
			t.Error("it costs the liar nothing")
		}
		out := core.Finished(core.now, last, []byte("x"), nil)
		if !slices.ContainsFunc(out.Messages, func(m *Message) bool { return m.Result != nil && m.To.Peer == "b" }) {
			t.Errorf("its outcome leads to %+v", out)
		}
	}
}
