package peer

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/runs"
)

var (
	livesSeeds = flag.Int("lives", 40, "how many schedules TestLives tries")
	livesFrom  = flag.Uint64("lives.from", 40, "the seed of the first one") // 75 begins a part while its peer is closed
	livesTrace = flag.Bool("lives.trace", false, "show all that peers say")
)

// A lifeRun is a run as its owner's user knows it. The world's mutex guards it.
type lifeRun struct {
	owner *livesMember
	id    job.RunID
	of    errand

	busy      int
	cancelled bool // and it was said that it is
	suspended bool
	muddled   bool // a command was cut off, or two were about it at once
	doubtful  bool // it was said that it may come back
	kept      map[string]bool
}

// A livesStep is something that is done, or goes wrong.
type livesStep struct {
	at     time.Duration
	what   string
	member int
	run    int
	long   time.Duration
}

func (s livesStep) String() string {
	return fmt.Sprintf("%v %s p%d run %d %v", s.at.Round(time.Millisecond), s.what, s.member, s.run,
		s.long.Round(time.Millisecond))
}

const (
	livesTroubled = 40 * time.Second
	livesQuiet    = 90 * time.Second
)

// livesSchedule draws one.
func livesSchedule(seed uint64) (members int, list []livesStep) {
	r := rand.New(rand.NewPCG(seed, 20))
	members = 1 + r.IntN(3)
	some := func(most time.Duration) time.Duration { return time.Duration(r.Float64() * float64(most)) }
	step := func(what string, from, to time.Duration) {
		list = append(list, livesStep{from + some(to-from), what, r.IntN(members), r.IntN(3), some(15 * time.Second)})
	}
	for range 1 + r.IntN(3) {
		step("submit", 0, livesTroubled/3)
	}
	kinds := []string{"kill", "kill", "leave", "full", "deaf", "slow", "slow", "apart", "die", "cancel", "suspend",
		"suspend", "resume", "resume", "submit", "killer"}
	if seed%2 == 0 {
		kinds = append(kinds, powerCut, powerCut, "blackout")
	}
	for range 2 + r.IntN(10) {
		step(kinds[r.IntN(len(kinds))], time.Second, livesTroubled)
		if last := list[len(list)-1]; r.IntN(4) == 0 { // and something else about the same run at that moment
			last.what, last.at = kinds[8+r.IntN(6)], last.at+some(3*time.Second)
			list = append(list, last)
		}
	}
	if seed%3 == 0 { // drawn apart, so that all else is as without
		r = rand.New(rand.NewPCG(seed, 22))
		for range 1 + r.IntN(4) {
			step("clock", 0, livesTroubled)
		}
	}
	slices.SortFunc(list, func(a, b livesStep) int { return int(a.at - b.at) })
	return members, list
}

// do does one step.
func (w *livesWorld) do(s livesStep) {
	m := w.members[s.member]
	switch x := m.life(); {
	case s.what == "apart":
		m.setApart(true)
		w.after(s.long, func() { m.setApart(false) })
	case s.what == "clock": // by less than what is left of a run that was begun with a clock that is behind
		m.mu.Lock()
		m.tries += 2 // deaths that lie apart by the clock are not held against a run
		m.mu.Unlock()
		m.off.Store(int64([]time.Duration{30 * 365, 100, -60}[s.run] * 24 * time.Hour))
		w.after(s.long, func() { m.off.Store(0) })
	case x == nil:
	case s.what == "submit", s.what == "killer":
		w.submit(x, errand{1 + s.run*3, 1 + int(s.long/(300*time.Millisecond)), len(w.runs), s.what == "killer"})
	case s.what == politely, s.what == killed, s.what == powerCut:
		x.end(s.what)
		w.after(s.long, m.boot)
	case s.what == "blackout":
		w.blackout(s.long)
	case s.what == "full", s.what == "deaf", s.what == "slow":
		w.mood(m, s)
	default:
		w.direct(s)
	}
}

// blackout is a power cut of all members at once.
func (w *livesWorld) blackout(most time.Duration) {
	var all sync.WaitGroup
	for _, m := range w.members {
		if x := m.life(); x != nil {
			all.Go(func() { x.end(powerCut) })
			w.after(w.some(most), m.boot)
		}
	}
	all.Wait()
}

func (m *livesMember) setApart(on bool) {
	m.mu.Lock()
	m.apart = on
	x := m.now
	m.mu.Unlock()
	if on && x != nil {
		x.lane.sever(false)
	}
}

// mood changes that of a disk for a while.
func (w *livesWorld) mood(m *livesMember, s livesStep) {
	set := func(on bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		was := m.onDisk
		m.onDisk = func(d *moods) {
			if was != nil {
				was(d)
			}
			switch {
			case s.what == "full":
				d.full = on
			case s.what == "deaf":
				d.deaf = on
			case on:
				d.slow = s.long / 4
			default:
				d.slow = 0
			}
		}
		m.disk.set(func() { m.onDisk(m.disk) })
	}
	set(true)
	w.after(s.long, func() { set(false) })
}

// direct has an owner say something about a run of his, or its process die.
func (w *livesWorld) direct(s livesStep) {
	w.mu.Lock()
	if len(w.runs) == 0 {
		w.mu.Unlock()
		return
	}
	r := w.runs[s.run%len(w.runs)]
	w.mu.Unlock()
	x := r.owner.life()
	switch {
	case s.what == "die":
		if x = w.members[s.member].life(); x != nil {
			x.kill(r.id)
		}
	case x == nil:
	case s.what == "cancel":
		w.cancel(x, r)
	case s.what == "suspend":
		w.suspend(x, r)
	default:
		w.resume(x, r)
	}
}

func (x *being) kill(id job.RunID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.engines {
		if e.run == id {
			e.kill()
		}
	}
}

// look looks at a life every second.
func (x *being) look() {
	w, t := x.m.w, x.peer.runs
	w.mu.Lock()
	list := slices.Clone(w.runs)
	w.mu.Unlock()
	for _, r := range list {
		w.mu.Lock()
		owner, sound := r.owner == x.m, r.busy == 0 && !r.muddled
		over := r.cancelled || r.suspended
		w.mu.Unlock()
		i, p, there := t.info(r.id)
		if there && (i.State == runs.StateDone || i.State == runs.StateFailed || i.State == runs.StateCancelled) {
			x.m.mu.Lock()
			delete(x.m.deaths, r.id) // its owner may yet lose the answer, as when its disk was full, and go on with it
			x.m.mu.Unlock()
		}
		if owner && sound && over && there && (!i.State.Ended() || p != nil && t.sessions.of(r.id) != nil) {
			w.mu.Lock()
			again := r.busy == 0 && !r.muddled && (r.cancelled || r.suspended)
			w.mu.Unlock()
			if again {
				w.fail("run %s is %s, though it was cancelled (%t) or suspended (%t)", r.id, i.State, r.cancelled,
					r.suspended)
			}
		}
	}
}

// play plays a schedule, and says which invariant it has broken.
func (w *livesWorld) play(list []livesStep) error {
	w.loss = 0.05 + 0.1*w.draw((*rand.Rand).Float64)
	for _, m := range w.members {
		m.boot()
	}
	for _, s := range list {
		time.Sleep(time.Until(w.began.Add(s.at)))
		w.say("%v", s)
		w.do(s)
	}
	time.Sleep(time.Until(w.began.Add(livesTroubled + 15*time.Second)))
	w.heal()
	time.Sleep(livesQuiet)
	w.ended()
	w.goOn()
	w.answered()
	time.Sleep(livesQuiet)
	w.nothingLeft()
	for _, m := range w.members { // and all know what there is in the next life
		m.life().end(powerCut)
	}
	for _, m := range w.members {
		m.boot()
	}
	time.Sleep(30 * time.Second)
	w.answered()
	w.nothingLeft()
	for _, m := range w.members {
		m.life().end(politely)
	}
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.loose.Wait()
	for _, m := range w.members {
		m.busy.Wait()
	}
	return w.broken
}

// heal ends all faults.
func (w *livesWorld) heal() {
	w.say("no more faults")
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	for _, m := range w.members {
		m.setApart(false)
		m.off.Store(0)
		m.mu.Lock()
		m.onDisk = nil
		m.disk.set(func() { m.disk.full, m.disk.deaf, m.disk.slow = false, false, 0 })
		m.mu.Unlock()
		m.boot()
	}
}

// ended says that no command may still be waited for, but for the end of a run.
func (w *livesWorld) ended() {
	w.mu.Lock()
	open := slices.Sorted(maps.Keys(w.open))
	w.mu.Unlock()
	for _, name := range open {
		if !strings.Contains(name, "wait") {
			w.fail("%s does not come to its end", name)
		}
	}
}

// goOn has all go on that was suspended or is in quarantine, and what could not be started be tried again.
func (w *livesWorld) goOn() {
	for _, r := range w.runs {
		i, _, _ := r.owner.life().peer.runs.info(r.id)
		switch i.State {
		case runs.StateSuspended, runs.StateRefused:
			w.resume(r.owner.life(), r)
		}
	}
	time.Sleep(10 * time.Second)
	w.ended()
	for _, m := range w.members {
		if len(m.refused()) > 0 {
			m.life().end(killed)
			m.boot()
		}
	}
	time.Sleep(livesQuiet)
	for _, m := range w.members { // what is left is in quarantine
		for _, id := range m.refused() {
			r := &lifeRun{id: id}
			if i := slices.IndexFunc(w.runs, func(r *lifeRun) bool { return r.id == id && r.of.Kills }); i >= 0 {
				r = w.runs[i]
			}
			w.cancel(m.life(), r)
		}
	}
	time.Sleep(time.Second)
}

// refused are its own runs in which it takes no part.
func (m *livesMember) refused() (list []job.RunID) {
	t := m.life().peer.runs
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range t.core.Runs() {
		if i.Mine && i.State == runs.StateRefused {
			list = append(list, i.Manifest.Run)
		}
	}
	return list
}

// answered says that every run has its answer, or is cancelled.
func (w *livesWorld) answered() {
	for _, r := range w.runs {
		x := r.owner.life()
		i, _, there := x.peer.runs.info(r.id)
		noted := x.peer.files.cancelled.Has(r.id.Hex())
		switch {
		case r.cancelled && (there && i.State != runs.StateCancelled):
			w.fail("run %s was cancelled, and is %s", r.id, i.State)
		case r.cancelled, noted, r.doubtful:
		case i.State == runs.StateCancelled && r.muddled:
		case !there:
			w.fail("run %s is not known to its owner", r.id)
		case i.State != runs.StateDone && i.State != runs.StateFailed:
			w.fail("run %s has no answer: it is %s: %s", r.id, i.State, i.Why)
		default:
			w.wait(x, r)
		}
	}
	time.Sleep(10 * time.Second)
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.open {
		if w.broken == nil {
			w.broken = fmt.Errorf("%s does not come to its end", name)
		}
	}
}

// nothingLeft says that of runs that are over nothing but answers is left.
func (w *livesWorld) nothingLeft() {
	for _, m := range w.members {
		p := m.life().peer
		left := filesIn(m.dir, func(path string) bool {
			dir := filepath.Base(filepath.Dir(path))
			return dir == "deaths" || w.disputable(path) || dir == "answers" && filepath.Ext(path) == ".answer" ||
				dir == "cancelled" && filepath.Ext(path) == ".tombstone"
		})
		if len(left) > 0 {
			w.fail("p%d has on its disk %q", m.mine, left)
		}
		synctest.Wait() // what was being tidied up is
		t := p.runs
		t.mu.Lock()
		going := 0
		for _, r := range t.parts {
			if r.final == nil || !r.settled {
				going++
			}
		}
		counts := map[string]int{"parts": going, "resumed": len(t.resumed), "over": len(t.over),
			"replies": len(t.replies),
			"orders":  len(t.orders), "allotments": p.crew.arbiter.Runs(), "memory": len(p.crew.memory.of),
			"quota": p.checkpoints.Quota.Len(), "index": p.checkpoints.Index.Len(),
			"fetching": len(t.sessions.fetching),
			"waiting":  len(t.sessions.waiting), "disk": len(t.disk.queue)}
		t.mu.Unlock()
		t.sessions.live.Range(func(any, any) bool { counts["live"]++; return true })
		counts["inUse"] = p.checkpoints.InUse()
		for what, n := range counts {
			if n > 0 {
				w.fail("p%d: %d %s are left", m.mine, n, what)
			}
		}
	}
}

// disputable says whether a file is of a run that kills processes: whoever fails it names those that it has heard of.
func (w *livesWorld) disputable(path string) bool {
	return (strings.Contains(path, "held") || strings.Contains(path, "disputed")) &&
		slices.ContainsFunc(w.runs, func(r *lifeRun) bool {
			return r.of.Kills && strings.Contains(path, r.id.Hex())
		})
}

// livesHosts are made once: only their names and keys are used.
func livesHosts(t *testing.T) (list []*host.Host) {
	for range 3 {
		h, err := host.Open(context.Background(), host.Config{StateDir: t.TempDir(), Swarm: "lives",
			Trust:  host.TrustOpen,
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		list = append(list, h)
	}
	return list
}

// playLives plays a schedule in virtual time.
func playLives(t *testing.T, seed uint64, members int, list []livesStep, hosts []*host.Host) (
	words string, err error) {
	var dirs []string
	for range members {
		dir, bad := os.MkdirTemp(t.TempDir(), "")
		if bad != nil {
			return "", bad
		}
		dirs = append(dirs, dir)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newLives(seed, hosts[:members], dirs)
		err = w.play(list)
		words = w.words.String()
	})
	return words, err
}

// Whatever becomes of processes, disks and the network, every run comes to its answer unless its owner has cancelled
// it; whoever waits is told; what was suspended goes on with what was kept; and nothing is left in the end.
func TestLives(t *testing.T) {
	hosts := livesHosts(t)
	for i := range *livesSeeds {
		seed := *livesFrom + uint64(i)
		members, list := livesSchedule(seed)
		words, err := playLives(t, seed, members, list, hosts)
		if err == nil {
			continue
		}
		list = shrinkLives(t, seed, members, list, hosts)
		t.Errorf("go test ./peer -run TestLives$ -lives 1 -lives.from %d: %v\n%d members, %v\n%s", seed, err, members,
			list, words)
	}
}

// shrinkLives leaves out the steps without which a schedule fails too.
func shrinkLives(t *testing.T, seed uint64, members int, list []livesStep, hosts []*host.Host) []livesStep {
	for i := len(list) - 1; i >= 0; i-- {
		less := slices.Delete(slices.Clone(list), i, i+1)
		if _, err := playLives(t, seed, members, less, hosts); err != nil {
			list = less
		}
	}
	return list
}
