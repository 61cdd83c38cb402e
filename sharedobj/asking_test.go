package sharedobj

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// narrow carries messages one after the other, each in so long, and keeps what it cannot carry yet.
type narrow struct {
	each time.Duration
	free time.Duration
	list []crossing
}

type crossing struct {
	m  *Message
	at time.Duration
}

func (n *narrow) take(now time.Duration, messages []*Message) {
	for _, m := range messages {
		n.free = max(n.free, now) + n.each
		n.list = append(n.list, crossing{m, n.free})
	}
}

// A link that is too slow for the questions that jobs have at once is not asked ever more: they are answered in the
// time that they and their answers take.
func TestQuestionsOnASlowLink(t *testing.T) {
	const jobs, needs = 4, 64
	cores := map[PeerID]*Core{}
	for _, id := range []PeerID{"a1", "b1"} {
		c, err := NewCore(Default(), id, membersOf("a1", "b1"), rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		cores[id] = c
	}
	const each = 100 * time.Millisecond
	links := map[PeerID]*narrow{"a1": {each: each}, "b1": {each: each}}
	ready, asked := 0, 0
	absorb := func(from PeerID, now time.Duration, out Output) {
		for _, m := range out.Messages {
			if m.Ask != nil {
				asked++
			}
		}
		for _, o := range out.Orders {
			if o.Kind == OrderReady {
				ready++
			}
		}
		links[from].take(now, out.Messages)
	}
	for j := range JobID(jobs) {
		job := Job{ID: j + 1, Victim: "b1", Stays: true}
		for i := range needs {
			b := Build([]byte(fmt.Sprint(j, i)))
			r := &Recipe{Kind: Constant, Name: "x", State: b.Blob}
			absorb("b1", 1, cores["b1"].Created(1, r, b))
			job.Needs = append(job.Needs, Need{Digest: r.Digest()})
		}
		absorb("a1", 1, cores["a1"].JobCame(1, job))
	}
	now := time.Duration(1)
	for ready < jobs && now < 3*time.Minute {
		now += 10 * time.Millisecond
		for from, l := range links {
			for len(l.list) > 0 && l.list[0].at <= now {
				m := l.list[0].m
				l.list = l.list[1:]
				absorb(m.To, now, cores[m.To].Step(now, m))
			}
			if at, due := cores[from].Next(); due && at <= now {
				absorb(from, now, cores[from].Tick(now))
			}
		}
	}
	if ready < jobs || asked > jobs*needs*5/4 {
		t.Errorf("after %v %d of %d jobs may begin; %d questions for %d values", now, ready, jobs, asked, jobs*needs)
	}
}

// waitsFor has a core wait for a constant of b1.
func waitsFor(c *Core, now time.Duration, size int) *Recipe {
	r := &Recipe{Kind: Constant, Name: "x", State: Build(noise(size)).Blob}
	c.JobCame(now, Job{ID: 1, Victim: "b1", Needs: []Need{{Digest: r.Digest()}}, Stays: true})
	return r
}

// An answer that comes when everybody has been asked in vain, and in a later round, is used at once.
func TestAnswersThatComeLate(t *testing.T) {
	for _, late := range []time.Duration{0, time.Hour} {
		c := newTestCore(t, nil)
		r := waitsFor(c, 1, 5*pieceSize)
		now := time.Duration(0)
		for f := c.fetches.list[0]; f.restAt == 0; {
			now, _ = c.Next()
			c.Tick(now)
		}
		for end := now + late; now < end; {
			now, _ = c.Next()
			c.Tick(now)
		}
		out := c.Step(now+1, &Message{From: "b1", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
			Told: []Told{{Recipe: *r}}}})
		if len(out.Messages) == 0 || out.Messages[0].Get == nil || out.Messages[0].To != "b1" {
			t.Errorf("%v later: to an answer it says %v", late, out.Messages)
		}
	}
}

// What was asked of nobody is taken from nobody, and an answer ends a rest once.
func TestAnswersEndOneRest(t *testing.T) {
	c := newTestCore(t, nil)
	r := waitsFor(c, 1, 5*pieceSize)
	f := c.fetches.list[0]
	now := time.Second
	answer := &Message{From: "b1", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
		Told: []Told{{Recipe: *r}}}}
	if c.Step(now, answer); c.Stats().Unsought != 1 {
		t.Error("b1 was not asked yet")
	}
	for now < time.Hour && f.restAt == 0 {
		now, _ = c.Next()
		c.Tick(now)
	}
	if c.Step(now, answer); f.restAt != 0 {
		t.Error("it rests although b1 has it")
	}
	f.restAt = now + time.Second
	if c.Step(now, answer); f.restAt != now+time.Second {
		t.Error("the same answer ends another rest")
	}
}

// What nobody has is asked for ever more rarely, but not too rarely.
func TestAskedInVain(t *testing.T) {
	c := newTestCore(t, nil)
	waitsFor(c, 1, 1)
	var rounds []time.Duration
	now, last := time.Duration(1), time.Duration(0)
	for f := c.fetches.list[0]; now < time.Hour; {
		now, _ = c.Next()
		for _, m := range c.Tick(now).Messages {
			c.Step(now, &Message{From: m.To, To: "a1", Answer: &Answer{Digest: f.digest, Status: Lacking}})
		}
		if f.restAt > last {
			rounds = append(rounds, f.restAt-now)
			last = f.restAt
		}
	}
	least, most := c.cfg.RetryAfter, 8*c.cfg.RetryAfter
	if rounds[0] != least || rounds[1] != 2*least || rounds[len(rounds)-1] != most || slices.Max(rounds) != most {
		t.Errorf("it rests for %v", rounds[:min(10, len(rounds))])
	}
}

// What a peer was asked is not asked again before the answer should be here, which is measured.
func TestQuestionsWait(t *testing.T) {
	c := newTestCore(t, nil)
	d := recipeOf(1).Digest()
	ask := func(now time.Duration) bool {
		c.begin(now)
		at, ok := c.asking.ask("b1", d)
		return ok && at == now
	}
	if !ask(1) || ask(c.cfg.AskTimeout) {
		t.Error("it is asked twice in the time that an answer may take")
	}
	if again := c.cfg.AskTimeout + 1; !ask(again) {
		t.Error("it is not asked again")
	}
	c.begin(5 * time.Second) // the answer has taken so long
	if !c.asking.answered("b1", d) || !ask(10*time.Second) {
		t.Error("what was answered is not asked when it is wanted again")
	}
	if due := 10*time.Second + c.cfg.AskTimeout + 4*(5*time.Second-1); ask(due-1) || !ask(due) {
		t.Error("it is not asked again when it was waited for four times as long as the last answer took")
	}
}

// Who leaves as much unanswered as may be is asked for more when it has answered.
func TestQuestionsAreAskedLater(t *testing.T) {
	c := newTestCore(t, nil)
	asks := func(out Output) bool {
		return slices.ContainsFunc(out.Messages, func(m *Message) bool { return m.Ask != nil && m.To == "b1" })
	}
	c.SetMembers(1, membersOf("a1", "b1"))
	for i := range mostAsked {
		c.asking.ask("b1", recipeOf(i).Digest())
	}
	needs := []Need{{Digest: recipeOf(mostAsked).Digest()}}
	if asks(c.JobCame(1, Job{ID: 1, Victim: "b1", Needs: needs, Stays: true})) {
		t.Error("it is asked for more than may be under way")
	}
	c.asking.answered("b1", recipeOf(0).Digest())
	for now := time.Second; !asks(c.Tick(now)); now += time.Second {
		if now > 2*c.cfg.RetryAfter {
			t.Fatal("it is not asked though it has answered")
		}
	}
}

// Of what was asked of one peer only so much is remembered, and nothing of one that is no member any more.
func TestQuestionsAreBounded(t *testing.T) {
	c := newTestCore(t, nil)
	for i := range 1000 {
		c.begin(time.Duration(i) * 10 * time.Second)
		if at, ok := c.asking.ask("b1", recipeOf(i).Digest()); !ok || at != c.now {
			t.Fatalf("question %d: asked at %v, %v", i, at, ok)
		}
	}
	if n := len(c.asking.of["b1"].list); n != 2*mostAsked {
		t.Errorf("%d questions are remembered", n)
	}
	if c.SetMembers(c.now, membersOf("a1", "a2")); len(c.asking.of) > 0 {
		t.Error("questions to who has left are remembered")
	}
	for i := range 1000 { // nobody answers in time
		c.begin(c.now + 1)
		if _, ok := c.asking.ask("a2", recipeOf(i).Digest()); ok != (i < mostAsked) {
			t.Fatalf("question %d: %v", i, ok)
		}
	}
	c.begin(c.now + time.Minute)
	n := 0
	for i := range 1000 {
		if _, ok := c.asking.ask("a2", recipeOf(2000+i).Digest()); ok {
			n++
		}
	}
	if n != leastWindow {
		t.Errorf("who has left %d questions unanswered is asked %d at once", mostAsked, n)
	}
}

// Links carry one comparison of lattices for each cluster, however many of its peers follow one; and who follow one are
// found among many who do not.
func TestComparisonsOfACluster(t *testing.T) {
	var ids []string
	for i := range 16 {
		ids = append(ids, fmt.Sprint("a", 1+i), fmt.Sprint("b", 1+i))
	}
	for name, x := range map[string]struct {
		fellows []string
		least   int // comparisons with the other cluster, of 16,000
		most    int
	}{
		"all follow one":      {ids, 1000, 2000},
		"the other does":      {ids[1:2], 11000, 14000},
		"nobody who is known": {nil, 7000, 9000},
	} {
		c := newTestCore(t, nil)
		c.SetMembers(1, membersOf(ids...))
		seed := Build([]byte("seed"))
		r := seedOf("x", seed)
		c.Created(1, r, seed)
		for _, id := range x.fellows {
			if id != "a1" {
				c.Step(1, &Message{From: PeerID(id), To: "a1", Sums: &Sums{Values: []Sum{{Digest: r.Digest()}}}})
				c.Hear(1, PeerID(id), &News{Offers: []Offer{{Digest{1}, []byte("of another")}}})
			}
		}
		far := 0
		for range 16_000 {
			if !c.place.near(c.lattices.partner()) {
				far++
			}
		}
		if far < x.least || far > x.most {
			t.Errorf("%s: %d of 16000 comparisons go to the other cluster", name, far)
		}
		if c.SetMembers(1, membersOf("a1", "a2")); c.lattices.partner() != "a2" || len(c.lattices.fellows) > 1 {
			t.Errorf("%s: of the members that have gone %d are remembered", name, len(c.lattices.fellows))
		}
		if c.SetMembers(1, membersOf("a1", "b1")); c.lattices.partner() != "b1" {
			t.Errorf("%s: a cluster of one compares with nobody", name)
		}
		if c.SetMembers(1, membersOf("a1")); c.lattices.partner() != "" {
			t.Errorf("%s: a run of one compares", name)
		}
	}
}
