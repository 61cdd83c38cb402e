package peer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/steal"
)

// What a tab had that says goodbye is to be had again, though its connection goes on, and it says that it lives and has
// the job.
func TestGoodbyeGivesBack(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	work := last(t)
	link := link(t, a, submit(t, a, "lend", work.arg))
	x, second := intrude(t, link, nil), intrude(t, link, nil)
	x.begin()
	second.begin()
	j, from := x.take()
	say := func(m *steal.Message) {
		m.To = from
		x.say(&tab.Frame{Steal: m})
	}
	bye := x.message()
	bye.Goodbye = &steal.Goodbye{}
	say(bye)
	beats := uint64(0)
	until(t, "its job is given to another tab, or a part of it once the member has begun it", func() bool {
		beats++
		m := x.message()
		m.Heartbeat = &steal.Heartbeat{Seq: beats, Held: []steal.Handle{j.Handle}, Every: time.Second}
		say(m)
		jobs, _ := second.asks()
		return slices.ContainsFunc(jobs, func(g steal.Grant) bool {
			return slices.Equal(g.Job.Path, j.Job.Path) || j.Job.Path.Above(g.Job.Path)
		})
	})
}
