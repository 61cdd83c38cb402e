package sharedobj

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func newTestCore(t *testing.T, change func(*Config)) *Core {
	t.Helper()
	cfg := Default()
	if change != nil {
		change(&cfg)
	}
	c, err := NewCore(cfg, "a1", membersOf("a1", "a2", "b1", "b2"),
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// membersOf are members whose first letters are their clusters.
func membersOf(ids ...string) (list []Member) {
	for _, id := range ids {
		list = append(list, Member{ID: PeerID(id), Cluster: ClusterID(id[:1])})
	}
	return list
}

func recipeOf(i int) *Recipe {
	return &Recipe{Kind: Constant, Name: fmt.Sprint("object ", i), State: Build([]byte(fmt.Sprint(i))).Blob}
}

// A peer that announces without an end, or asks for the adoption of what nobody has, keeps nothing from the
// jobs here, and fills no table.
func TestFloodOfNames(t *testing.T) {
	c := newTestCore(t, nil)
	liars := []PeerID{"b1", "b3", "b4", "b5", "b6"}
	c.SetMembers(1, membersOf("a1", "a2", "b1", "b2", "b3", "b4", "b5", "b6"))
	for i := range 5000 {
		r := recipeOf(i)
		c.Step(1, &Message{From: liars[i%len(liars)], To: "a1", Announce: &Announce{Origin: "b1", Recipe: *r}})
		c.Step(1, &Message{From: "a2", To: "a1", Ask: &Ask{Digest: Digest{byte(i), byte(i >> 8)},
			Holders: []PeerID{"b1"}}})
		c.Hear(1, "b1", &News{Offers: []Offer{{r.Digest(), []byte("x")}}})
	}
	if n := len(c.fetches.list); n > c.cfg.MaxAdopted {
		t.Errorf("%d fetches that nobody here wants, at most %d may be", n, c.cfg.MaxAdopted)
	}
	if n := len(c.store.entries); n > c.cfg.MaxEntries {
		t.Errorf("%d entries", n)
	}
	wanted := Digest{1, 2, 3, 4}
	out := c.JobCame(2, Job{ID: 1, Victim: "b2", Needs: []Need{{Digest: wanted}}})
	if !slices.ContainsFunc(out.Messages, func(m *Message) bool { return m.Ask != nil && m.Ask.Digest == wanted }) {
		t.Error("what a job here names is not asked for")
	}
}

// A value that is larger than the volunteer allows is an error that names the object and says what to do; the
// job that names it goes back at once.
func TestTooLarge(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxBytes = 1000 })
	body := Build(noise(2000))
	r := &Recipe{Kind: Constant, Name: "sky.survey", State: body.Blob}
	out := c.Created(1, r, body)
	if len(out.Orders) != 1 || out.Orders[0].Kind != OrderFailed {
		t.Fatalf("orders %+v", out.Orders)
	}
	const want = `shared object "sky.survey" (%v) has 2000 bytes, but this peer holds at most 1000 at once: ` +
		`allow more memory for objects, or share it in parts`
	if got := out.Orders[0].Err.Error(); got != fmt.Sprintf(want, r.Digest()) {
		t.Errorf("%s", got)
	}
	other := newTestCore(t, func(c *Config) { c.MaxBytes = 1000 })
	asks := slices.Clone(other.JobCame(1, Job{ID: 7, Victim: "a2", Needs: []Need{{Digest: r.Digest()}}}).Messages)
	if len(asks) != 1 {
		t.Fatalf("%d messages", len(asks))
	}
	out = other.Step(2, &Message{From: asks[0].To, To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
		Told: []Told{{Recipe: *r}}}})
	if len(out.Orders) != 1 || out.Orders[0].Kind != OrderBack || out.Orders[0].Job != 7 {
		t.Errorf("orders %+v", out.Orders)
	}
	if _, ok := other.Next(); ok {
		t.Error("something is still waited for")
	}
}

// An argument is no value that jobs may read by its name: whoever does is told so, whether it is here or was fetched.
func TestArgumentsAreNotRead(t *testing.T) {
	arg := Build(noise(2000))
	r := Recipe{Kind: Argument, Name: "f", State: arg.Blob}
	failed := func(out Output) bool {
		return len(out.Orders) == 1 && out.Orders[0].Kind == OrderFailed && out.Orders[0].Digest == r.Digest()
	}
	c := newTestCore(t, nil)
	if d, out, ok := c.Keep(1, "f", arg); d != r.Digest() || len(out.Orders) > 0 || !ok {
		t.Fatalf("%v, %+v, %v", d, out, ok)
	}
	if out := c.Read(2, r.Digest()); !failed(out) {
		t.Errorf("one that is here: %+v", out.Orders)
	}
	other := newTestCore(t, nil)
	asks := slices.Clone(other.Read(1, r.Digest(), "a2").Messages)
	out := other.Step(2, &Message{From: asks[0].To, To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
		Told: []Told{{Recipe: r, State: arg.Bytes()}}}})
	if !failed(out) {
		t.Errorf("one that was fetched: %+v", out.Orders)
	}
}

// One peer gets no more than its rate, whatever it asks for.
func TestServeRate(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.ServeRate = maxPieces * pieceSize })
	body := Build(noise(maxPieces * pieceSize))
	c.Created(1, &Recipe{Kind: Constant, Name: "x", State: body.Blob}, body)
	var ids []PieceID
	for i := range uint64(maxPieces) {
		ids = append(ids, PieceID{0, i})
	}
	sent := 0
	for i := range 100 {
		out := c.Step(time.Duration(i+1), &Message{From: "b1", To: "a1", Get: &Get{body.Top, ids}})
		sent += len(out.Messages)
	}
	if sent == 0 || sent > maxPieces {
		t.Errorf("%d pieces were sent at once, at most %d may be", sent, maxPieces)
	}
}

// Whatever a stranger, or a peer of another opinion, says changes nothing but a counter.
func TestStrangers(t *testing.T) {
	c := newTestCore(t, nil)
	out := c.Step(1, &Message{From: "z9", To: "a1", Ask: &Ask{Digest: Digest{1}}})
	if len(out.Messages)+len(out.Orders) > 0 || c.Stats().Strangers != 1 {
		t.Errorf("%+v", out)
	}
	out = c.Step(1, &Message{From: "b1", To: "a1", Ask: &Ask{}, Get: &Get{}})
	if len(out.Messages)+len(out.Orders) > 0 || c.Stats().Malformed != 1 {
		t.Errorf("%+v", out)
	}
}

// Two peers do not become members of each other's at once. What a stranger asks is answered when it is a member, unless
// it has given that question up; and what was looked for in vain is asked of a holder when that is a member, at once.
func TestEarlyQuestions(t *testing.T) {
	body := Build([]byte("sea"))
	r := &Recipe{Kind: Constant, Name: "sea", State: body.Blob}
	d := r.Digest()
	now := time.Second
	messages := func(out Output, of func(*Message) bool) (to []PeerID) {
		for _, m := range out.Messages {
			if of(m) {
				to = append(to, m.To)
			}
		}
		return to
	}
	answer := func(m *Message) bool { return m.Answer != nil }
	owner := newTestCore(t, nil)
	owner.Created(now, r, body)
	ask := func(from PeerID) { owner.Step(now, &Message{From: from, To: "a1", Ask: &Ask{Digest: d}}) }
	ask("y9") // too early
	now += owner.cfg.AskTimeout
	for range 2 * maxEarlyEach {
		ask("z9")
	}
	for i := range 2 * maxEarly {
		ask(PeerID(fmt.Sprint("flood", i)))
	}
	if n := len(owner.early); n != maxEarly {
		t.Errorf("%d questions of strangers are kept", n)
	}
	all := membersOf("a1", "a2", "b1", "b2", "y9", "z9")
	answers := messages(owner.SetMembers(now, all), answer)
	if want := slices.Repeat([]PeerID{"z9"}, maxEarlyEach); !slices.Equal(answers, want) {
		t.Errorf("answers go to %v, want %v", answers, want)
	}
	if answers = messages(owner.SetMembers(now, all), answer); len(answers) > 0 {
		t.Errorf("they go a second time to %v", answers)
	}
	ask("x9")
	now += owner.cfg.AskTimeout
	out := owner.SetMembers(now, append(all, membersOf("x9")...))
	if answers = messages(out, answer); len(answers) > 0 {
		t.Errorf("%v are answered what they have given up", answers)
	}

	asks := func(out Output) []PeerID { return messages(out, func(m *Message) bool { return m.Ask != nil }) }
	alone, err := NewCore(Default(), "a1", membersOf("a1"), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if to := asks(alone.Read(now, d, "z9")); len(to) > 0 {
		t.Errorf("strangers are asked: %v", to)
	}
	if to := asks(alone.SetMembers(now, membersOf("a1", "z9"))); !slices.Equal(to, []PeerID{"z9"}) {
		t.Errorf("when its holder is a member there is asked %v", to)
	}
}

// What a job names is waited for as long as it comes, however slowly: a large constant over a slow link would never
// come else. When nothing comes any more the job goes back, and in any case after so long as a read would wait.
func TestSlowLink(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.PieceTimeout, c.ReadPatience = time.Hour, 6*c.Patience })
	body := Build(noise(300 * pieceSize))
	r := Recipe{Kind: Constant, Name: "sea", State: body.Blob}
	var wanted []*Message // pieces that were asked for
	var back []JobID
	now := time.Second
	var take func(Output)
	take = func(out Output) {
		for _, o := range slices.Clone(out.Orders) {
			if o.Kind == OrderBack {
				back = append(back, o.Job)
			}
		}
		for _, m := range slices.Clone(out.Messages) {
			switch {
			case m.Get != nil:
				wanted = append(wanted, m)
			case m.Ask != nil && m.To == "b2":
				take(c.Step(now, &Message{From: m.To, To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
					Told: []Told{{Recipe: r}}}}))
			case m.Ask != nil:
				take(c.Step(now, &Message{From: m.To, To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Lacking}}))
			}
		}
	}
	take(c.JobCame(now, Job{ID: 1, Victim: "b2", Needs: []Need{{Digest: r.Digest()}}}))
	wait := func() {
		for end := now + c.cfg.Patience; now < end; {
			now += time.Second
			take(c.Tick(now))
		}
	}
	bring := func() { // one message's pieces
		m := wanted[0]
		wanted = wanted[1:]
		for _, id := range m.Get.Pieces {
			data, _ := body.Piece(id)
			take(c.Step(now, &Message{From: m.To, To: "a1", Piece: &Piece{Top: body.Top, ID: id, Data: data}}))
		}
		wait()
	}
	for range 3 {
		if bring(); len(back) > 0 {
			t.Fatalf("after %v there went back %v", now, back)
		}
	}
	if wait(); !slices.Equal(back, []JobID{1}) {
		t.Errorf("when nothing comes any more there went back %v", back)
	}
	wanted = nil
	take(c.JobCame(now, Job{ID: 2, Victim: "b2", Needs: []Need{{Digest: r.Digest()}}}))
	for came := now; now < came+c.cfg.ReadPatience; {
		bring()
	}
	if !slices.Equal(back, []JobID{1, 2}) {
		t.Errorf("while it came a little at a time there went back %v", back)
	}
}

// A job that stays waits as long as it takes, and has fetched what there was no room to fetch when it came.
func TestJobsThatStay(t *testing.T) {
	c := newTestCore(t, func(cfg *Config) {
		cfg.MaxFetches, cfg.MaxAdopted, cfg.Patience, cfg.ReadPatience = 1, 1, time.Second, 2*time.Second
	})
	now := time.Second
	for id := range JobID(2) {
		c.JobCame(now, Job{ID: id, Victim: "b1", Needs: []Need{{Digest: Digest{byte(id), 1}}}})
	}
	wanted := Digest{9}
	asks := func(out Output) bool {
		return slices.ContainsFunc(out.Messages, func(m *Message) bool {
			return m.Ask != nil && m.Ask.Digest == wanted
		})
	}
	if asks(c.JobCame(now, Job{ID: 7, Victim: "b2", Needs: []Need{{Digest: wanted}}, Stays: true})) {
		t.Fatal("there was room")
	}
	asked := 0
	for range 100 {
		at, due := c.Next()
		if !due || at <= now {
			t.Fatalf("the next tick is due at %v, and it is %v", at, now)
		}
		now = at
		out := c.Tick(now)
		for _, o := range out.Orders {
			if o.Kind == OrderBack && o.Job == 7 {
				t.Fatalf("it goes back after %v: %v", now, o.Err)
			}
		}
		if asks(out) {
			asked++
		}
	}
	if now < 10*time.Second || asked < 2 {
		t.Errorf("it was asked for %d times in %v", asked, now)
	}
}
