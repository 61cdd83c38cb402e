package sharedobj

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// announced makes a core to which b1 has announced a value of so many bytes: it is a source then.
func announced(t *testing.T, size int) (c *Core, body *Body, r *Recipe) {
	c, body = newTestCore(t, nil), Build(noise(size))
	r = &Recipe{Kind: Constant, Name: "x", State: body.Blob}
	c.Step(1, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1", Recipe: *r}})
	return c, body, r
}

func seedOf(name string, b *Body) *Recipe { return &Recipe{Kind: Lattice, Name: name, State: b.Blob} }

// A lattice that the engine cannot encode, as its program knows none of that name, is not asked for again and again.
func TestLatticesNobodyKnows(t *testing.T) {
	c := newTestCore(t, nil)
	seed := Build([]byte("seed"))
	r := seedOf("registered nowhere", seed)
	c.Step(1, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1", Recipe: *r}})
	c.Step(2, &Message{From: "b1", To: "a1", Piece: &Piece{Top: seed.Top, ID: PieceID{}, Data: seed.Bytes()}})
	if len(c.lattices.list) != 1 {
		t.Fatal("the lattice is not followed")
	}
	now := 4 * time.Second
	out := c.Tick(now)
	n := 0
	for ; n < 100000; n++ { // an engine that answers at once; it has none of that name: value nil (compute/sharing.go)
		i := slices.IndexFunc(out.Orders, func(o Order) bool { return o.Kind == OrderEncode })
		if i < 0 {
			break
		}
		out = c.Encoded(now, out.Orders[i].Ticket, out.Orders[i].Digest, nil)
	}
	if n > 10 {
		t.Errorf("%d orders to encode, all at %v", n, now)
	}
}

// A member that answers nothing, or as late as may be, holds nothing up for longer than one question: others have it.
func TestSilentOnesArePutOff(t *testing.T) {
	for late := range 2 {
		c := newTestCore(t, nil)
		now, ready, asked := time.Duration(1), 0, []Digest(nil)
		values := map[Digest]*Answer{}
		var absorb func(out Output)
		absorb = func(out Output) {
			for _, o := range out.Orders {
				if o.Kind == OrderReady {
					ready++
				}
			}
			for _, m := range out.Messages {
				switch {
				case m.Ask != nil && m.To == "b1":
					absorb(c.Step(now, &Message{From: "b1", To: "a1", Answer: values[m.Ask.Digest]}))
				case m.Ask != nil && m.To == "a2":
					asked = append(asked, m.Ask.Digest)
				}
			}
		}
		for i := range 8 {
			job := Job{ID: JobID(i + 1), Victim: "b1", Stays: true}
			for k := range 40 {
				b := Build(fmt.Append(nil, i, k))
				r := &Recipe{Kind: Constant, Name: "x", State: b.Blob}
				told := []Told{{Recipe: *r, State: b.Bytes()}}
				values[r.Digest()] = &Answer{Digest: r.Digest(), Status: Here, Told: told}
				job.Needs = append(job.Needs, Need{Digest: r.Digest()})
			}
			ready = 0
			absorb(c.JobCame(now, job))
			for end := now + 2*c.cfg.AskTimeout; now < end; now += 100 * time.Millisecond {
				if at, due := c.Next(); due && at <= now {
					absorb(c.Tick(now))
				}
			}
			if ready == 0 {
				t.Fatalf("late %d: job %d waits for who does not answer", late, i)
			}
			now += 30 * time.Second
			for _, d := range asked[:late*len(asked)] {
				absorb(c.Step(now, &Message{From: "a2", To: "a1", Answer: &Answer{Digest: d, Status: Lacking}}))
			}
			asked = nil
		}
	}
}

// A source that only repeats its answer brings nothing: others are asked.
func TestAnswersAreNoPieces(t *testing.T) {
	c, _, r := announced(t, 100)
	d := r.Digest()
	c.JobCame(2, Job{ID: 1, Victim: "a2", Needs: []Need{{Digest: d}}, Stays: true}) // a2 has it
	asked := 0
	now := time.Second
	for ; now < 24*time.Hour; now += time.Second {
		out := c.Tick(now)
		for _, m := range out.Messages {
			if m.To == "a2" {
				asked++
			}
		}
		c.Step(now, &Message{From: "b1", To: "a1", Answer: &Answer{Digest: d, Status: Here,
			Told: []Told{{Recipe: *r}}}})
	}
	if asked == 0 {
		t.Errorf("after %v a2, who has it and gave the job, has not been asked once", now)
	}
}

// Nor does it keep the pieces that were asked of it, where an honest source is at work, too.
func TestAnswersKeepNoPieces(t *testing.T) {
	c, body, r := announced(t, pieceSize*40)
	d := r.Digest()
	top, _ := body.Piece(PieceID{1, 0})
	c.Step(2, &Message{From: "b1", To: "a1", Piece: &Piece{Top: body.Top, ID: PieceID{1, 0}, Data: top}})
	begun := slices.Clone(c.Read(3, d, "a2").Messages)
	now := time.Second
	var failed bool
	honest := func(ms []*Message) {
		for len(ms) > 0 {
			var more []*Message
			says := func(m *Message) {
				m.From, m.To = "a2", "a1"
				more = append(more, c.Step(now, m).Messages...)
			}
			for _, m := range ms {
				switch {
				case m.To != "a2":
				case m.Ask != nil:
					says(&Message{Answer: &Answer{Digest: d, Status: Here, Told: []Told{{Recipe: *r}}}})
				case m.Get != nil:
					for _, id := range m.Get.Pieces {
						b, _ := body.Piece(id)
						says(&Message{Piece: &Piece{m.Get.Top, id, b}})
					}
				}
			}
			ms = more
		}
	}
	honest(begun)
	for ; now < 6*time.Minute && !c.Has(d); now += time.Second {
		out := c.Tick(now)
		if slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == OrderFailed }) {
			failed = true
			break
		}
		honest(slices.Clone(out.Messages))
		out = c.Step(now, &Message{From: "b1", To: "a1", Answer: &Answer{Digest: d, Status: Here,
			Told: []Told{{Recipe: *r}}}})
		honest(slices.Clone(out.Messages))
	}
	if failed {
		t.Errorf("the read fails at %v though a2 has all of it and answers at once; %d pieces are left", now,
			c.fetches.byDigest[d].pull.parts.left)
	}
}

// What is announced while a job waits for it goes with the job: it is on nobody's account.
func TestPushedOnJobs(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxBytes = 1 << 20 })
	r := &Recipe{Kind: Constant, Name: "x", State: Blob{Size: 1<<20 - 100, Top: Hash{1}}}
	d := r.Digest()
	c.JobCame(1, Job{ID: 1, Victim: "b1", Needs: []Need{{Digest: d}}})
	c.Step(2, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1", Recipe: *r}})
	if c.Withdrawn(3, 1); c.fetches.byDigest[d] != nil { // b1 aborts its job
		t.Error("it is fetched for nobody")
	}
	now := time.Second
	for ; now < time.Hour; now += time.Second {
		c.Tick(now)
		c.Step(now, &Message{From: "b1", To: "a1", Answer: &Answer{Digest: d, Status: Here,
			Told: []Told{{Recipe: *r}}}})
	}
	if c.store.reserved > 0 {
		t.Errorf("at %v %d bytes of %d are set aside for what only b1 has named; it pays for %d", now,
			c.store.reserved, c.cfg.MaxBytes,
			c.store.senders.of["b1"].bytes)
	}
	own := Build(noise(1000))
	if out := c.Created(now, &Recipe{Kind: Constant, Name: "own", State: own.Blob},
		own); out.Orders[0].Kind == OrderFailed {
		t.Errorf("a value of 1,000 bytes that is made here fails: %v", out.Orders[0].Err)
	}
}

// A source that is slower each time is not waited for without end.
func TestSlowerAndSlower(t *testing.T) {
	c, body, r := announced(t, pieceSize*15)
	d := r.Digest()
	c.JobCame(2, Job{ID: 1, Victim: "a2", Needs: []Need{{Digest: d}}, Stays: true})
	f := c.fetches.byDigest[d]
	now, longest := time.Duration(3), time.Duration(0)
	for !c.Has(d) && now < 10*24*time.Hour {
		s := f.pull.source("b1")
		if s == nil || len(s.out) == 0 {
			break
		}
		due := s.dueAt(c.cfg.PieceTimeout) - 1
		longest = max(longest, due-now)
		now = due
		b, _ := body.Piece(s.out[0].id)
		c.Step(now, &Message{From: "b1", To: "a1", Piece: &Piece{body.Top, s.out[0].id, b}})
	}
	if longest > time.Minute {
		t.Errorf("a value of 240 KiB took %v, and a piece was waited for %v", now, longest)
	}
}

// Small writes that wait for the engine are bounded by number as well, for each sender.
func TestSmallWritesAreBounded(t *testing.T) {
	c := newTestCore(t, nil)
	first := Build(noise(100))
	root := &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	c.Created(1, root, first)
	c.Pin(root.Digest())
	for i := range 20 {
		var ws []Told
		for k := range 64 {
			w := Build([]byte{byte(k), byte(i), byte(i >> 8)})
			r := Recipe{Kind: Phased, Name: "x", Parent: root.Digest(), Write: w.Blob, State: Blob{Size: 0,
				Top: Hash{9}}}
			ws = append(ws, Told{Recipe: r, Write: w.Bytes()})
		}
		c.Hear(2, "b1", &News{Writes: ws})
	}
	if n := len(c.fetches.applies); n != maxApplies {
		t.Errorf("%d writes of one member wait for the engine", n)
	}
}

// One victim's jobs take a part of all fetches: others' are begun beside them, and when they are gone.
func TestFetchesOfOneVictim(t *testing.T) {
	c := newTestCore(t, nil)
	for i := range 5 {
		var needs []Need
		for k := range 64 {
			needs = append(needs, Need{Digest: Digest{1, byte(i), byte(k)}})
		}
		c.JobCame(1, Job{ID: JobID(1 + i), Victim: "b1", Needs: needs})
	}
	body := Build([]byte("small"))
	r := &Recipe{Kind: Constant, Name: "x", State: body.Blob}
	out := c.JobCame(2, Job{ID: 100, Victim: "a2", Needs: []Need{{Digest: r.Digest()}}})
	if len(out.Messages) == 0 {
		t.Errorf("%d fetches are under way, all for jobs of b1: nobody is asked for what a2's job names",
			len(c.fetches.list))
	}
	for i := range 5 {
		c.Withdrawn(3, JobID(1+i))
	}
	asked, back := false, time.Duration(0)
	for now := 100 * time.Millisecond; now < time.Minute && back == 0; now += 100 * time.Millisecond {
		out = c.Tick(now)
		asked = asked || len(out.Messages) > 0
		if len(out.Orders) > 0 && out.Orders[0].Kind == OrderBack {
			back = now
		}
	}
	if !asked {
		t.Errorf("no fetch is under way (%d), yet a2's job goes back at %v without anybody having been asked",
			len(c.fetches.list), back)
	}
}

// A job for which there was no place among the fetches has one as soon as there is.
func TestFetchesForWhoWaited(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxFetches, c.MaxAdopted = 2, 1 })
	for i := range 3 {
		c.JobCame(1, Job{ID: JobID(1 + i), Victim: "b1", Needs: []Need{{Digest: Digest{1, byte(i)}}}})
	}
	if out := c.JobCame(2, Job{ID: 100, Victim: "a2", Needs: []Need{{Digest: Digest{2}}}}); len(out.Messages) > 0 {
		t.Fatalf("%d fetches are under way", len(c.fetches.list))
	}
	out := c.Withdrawn(3, 2)
	if len(out.Messages) != 1 || out.Messages[0].Ask == nil || out.Messages[0].Ask.Digest != (Digest{2}) {
		t.Errorf("when there is a place %d messages ask for what a job waits for", len(out.Messages))
	}
}

// A lattice that a job here names is not closed for those of others' jobs that are gone.
func TestJobsCloseNoLattices(t *testing.T) {
	c := newTestCore(t, nil)
	seed := Build([]byte("seed"))
	mine := seedOf("bound", seed)
	c.Created(1, mine, seed)
	c.Pin(mine.Digest())
	for i := range 4 {
		var needs []Need
		var rs []*Recipe
		for k := range 64 {
			s := Build([]byte{1, byte(i), byte(k)})
			r := seedOf("junk", s)
			rs = append(rs, r)
			needs = append(needs, Need{Digest: r.Digest()})
		}
		c.JobCame(1, Job{ID: JobID(1 + i), Victim: "b1", Needs: needs})
		for k, r := range rs {
			c.Step(1, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1", Recipe: *r}})
			c.Step(1, &Message{From: "b1", To: "a1", Answer: &Answer{Digest: r.Digest(), Status: Here,
				Told: []Told{{Recipe: *r, State: []byte{1, byte(i), byte(k)}}}}})
		}
		c.Withdrawn(1, JobID(1+i))
	}
	if c.lattices.byDigest[mine.Digest()] == nil {
		t.Errorf("a lattice made here, and pinned, is closed: %d others are open", len(c.lattices.list))
	}
	out := c.JobCame(2, Job{ID: 100, Victim: "a2", Needs: []Need{{Digest: mine.Digest(), Floor: []byte("f")}}})
	if len(out.Orders) > 0 && out.Orders[0].Kind == OrderBack {
		t.Errorf("an honest job that names it goes back: %v", out.Orders[0].Err)
	}
	if out := c.Offered(3, mine.Digest()); len(out.Orders) == 0 {
		t.Error("what is offered to it here is told to nobody")
	}
}

// Bytes that come with answers count as those that are served.
func TestAnswersAreMetered(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.ServeRate = maxPieces * pieceSize })
	body := Build(noise(maxInline))
	r := &Recipe{Kind: Constant, Name: "x", State: body.Blob}
	c.Created(1, r, body)
	bytes := 0
	for range 10000 {
		for _, m := range c.Step(2, &Message{From: "b1", To: "a1", Ask: &Ask{Digest: r.Digest()}}).Messages {
			bytes += len(m.Answer.Told[0].State)
		}
	}
	if bytes > 2*maxPieces*pieceSize {
		t.Errorf("a member gets %d MiB at one moment, at most %d MiB a second may be", bytes>>20, c.cfg.ServeRate>>20)
	}
}

// Where a version on the way is forgotten while the engine makes it, whoever waits goes on when that answers.
func TestForgottenWhileApplied(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxEntries = 8 })
	first := Build(noise(100))
	root := &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	c.Created(1, root, first)
	c.Pin(root.Digest())
	wants(c, 2, 1, root, 300, 300)
	ds, states := leads(c, 2, root, 300, 300)
	ticket := c.store.find(ds[0]).applying
	if ticket == 0 {
		t.Fatal("nothing is applied")
	}
	for i := range 8 { // of this run, with bytes
		b := Build(noise(200 + i))
		c.Created(3, &Recipe{Kind: Constant, Name: "n", State: b.Blob}, b)
	}
	if c.store.find(ds[0]) != nil {
		t.Fatal("it is still known")
	}
	out := c.Applied(4, ticket, states[0])
	at, ok := c.Next()
	f := c.fetches.byDigest[ds[1]]
	if len(out.Messages) == 0 && len(makes(out)) == 0 && f != nil {
		t.Errorf("nothing is asked and nothing made; pull %v, rest %v, full %v; next %v %v", f.pull, f.restAt,
			f.fullTo, at, ok)
	}
}

// Only a source can say that it has a write no more.
func TestGoneFromAnybody(t *testing.T) {
	c := newTestCore(t, nil)
	first := Build(noise(100))
	root := &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	c.Created(1, root, first)
	w := Build(noise(pieceSize * 3))
	r := &Recipe{Kind: Phased, Name: "x", Parent: root.Digest(), Write: w.Blob, State: Blob{Size: 1 << 28,
		Top: Hash{7}}}
	d := r.Digest()
	c.JobCame(2, Job{ID: 1, Victim: "a2", Needs: []Need{{Digest: d}}})
	c.Step(3, &Message{From: "a2", To: "a1", Answer: &Answer{Digest: d, Status: Here, Told: []Told{{Recipe: *r}}}})
	f := c.fetches.byDigest[d]
	if f.pull == nil || !f.write {
		t.Fatal("its write is not got")
	}
	c.Step(4, &Message{From: "b1", To: "a1", Gone: &Gone{w.Top}})
	if f.pull != nil && !f.write {
		t.Errorf("b1, who was asked for nothing, has %d bytes fetched instead of %d", f.pull.parts.blob.Size, w.Size)
	}
}

// A recipe that says another size of bytes that are here does not name them.
func TestSizesAreNamed(t *testing.T) {
	c := newTestCore(t, nil)
	b := Build(noise(100))
	c.Created(1, &Recipe{Kind: Constant, Name: "x", State: b.Blob}, b)
	forged := &Recipe{Kind: Constant, Name: "x", State: Blob{b.Size + 1, b.Top}}
	out := c.Step(2, &Message{From: "b1", To: "a1", Announce: &Announce{Origin: "b1", Recipe: *forged}})
	if len(out.Orders) > 0 || c.Has(forged.Digest()) {
		t.Errorf("it names what is here: %+v", out.Orders)
	}
}
