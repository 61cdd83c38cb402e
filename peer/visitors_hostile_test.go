package peer_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/libp2p/go-libp2p/core/crypto"
	libp2p "github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// An intruder is a tab that speaks by hand.
type intruder struct {
	t      *testing.T
	conn   *websocket.Conn
	key    crypto.PrivKey
	id     steal.PeerID
	member steal.PeerID
	work   *tab.Work
	asked  steal.RequestID
}

// intrude comes in by a link, after change has changed its first word.
func intrude(t *testing.T, link string, change func(*statement.Visit)) *intruder {
	t.Helper()
	conn, ticket := dial(t, link)
	x := &intruder{t: t, conn: conn}
	var err error
	if x.key, _, err = crypto.GenerateEd25519Key(rand.Reader); err != nil {
		t.Fatal(err)
	}
	id, err := libp2p.IDFromPrivateKey(x.key)
	if err != nil {
		t.Fatal(err)
	}
	g := x.hear().Greeting
	x.id, x.member = steal.PeerID(id.String()), steal.PeerID(g.Member)
	v := &statement.Visit{Member: g.Member, Challenge: g.Challenge, Ticket: ticket,
		Apps: []statement.App{{Name: "peertest"}}}
	if change != nil {
		change(v)
	}
	b, err := v.Sign(x.key)
	if err != nil {
		t.Fatal(err)
	}
	x.say(&tab.Frame{Visit: b})
	return x
}

// hear gives the next frame; nil: the connection has ended.
func (x *intruder) hear() *tab.Frame {
	x.t.Helper()
	_, b, err := x.conn.ReadMessage()
	if err != nil {
		return nil
	}
	f, err := tab.Decode(b)
	if err != nil {
		x.t.Fatal(err)
	}
	return f
}

func (x *intruder) say(f *tab.Frame) {
	x.t.Helper()
	b, err := f.Encode(tab.MaxFromTab)
	if err == nil {
		err = x.conn.WriteMessage(websocket.BinaryMessage, b)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// begin waits for work.
func (x *intruder) begin() {
	x.t.Helper()
	for x.work == nil {
		f := x.hear()
		if f == nil || f.Over != nil {
			x.t.Fatalf("it is not let in: %+v", f)
		}
		x.work = f.Work
	}
}

// message is one of its own of the run that it is in.
func (x *intruder) message() *steal.Message {
	return &steal.Message{Run: x.work.Run, From: steal.Address{Peer: x.id, Inc: x.work.Self},
		To: steal.Address{Peer: x.member, Inc: 1}}
}

// ask asks its member for a job.
func (x *intruder) ask() {
	x.asked++
	m := x.message()
	m.To.Inc = 0 // it may have heard nothing of the member's life yet
	m.Request = &steal.StealRequest{ID: x.asked, Max: 1}
	x.say(&tab.Frame{Steal: m})
}

// asks asks its member for a job, and gives what it gets, and from which life of its member.
func (x *intruder) asks() ([]steal.Grant, steal.Address) {
	x.t.Helper()
	x.ask()
	for {
		f := x.hear()
		if f == nil {
			x.t.Fatal("it gets no job")
		}
		if f.Steal != nil && f.Steal.Reply != nil {
			return f.Steal.Reply.Jobs, f.Steal.From
		}
	}
}

// take takes a job, and says from which life of its member.
func (x *intruder) take() (steal.Grant, steal.Address) {
	x.t.Helper()
	for {
		if jobs, from := x.asks(); len(jobs) > 0 {
			return jobs[0], from
		}
	}
}

// ends says whether the member ends the connection.
func (x *intruder) ends() bool {
	for range 1000 {
		if x.hear() == nil {
			return true
		}
	}
	return false
}

// Whoever has no ticket, one of another swarm or of nobody, an old one, or another's word, is told so and gets nothing;
// so is a page that was loaded before its member's program was replaced: it waited for work for ever.
func TestIntrudersAreNotLetIn(t *testing.T) {
	t.Parallel()
	own, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ticket := func(x statement.Ticket) []byte {
		s, err := x.Sign(own)
		if err != nil {
			t.Fatal(err)
		}
		return s.Bytes
	}
	for name, change := range map[string]func(*statement.Visit){
		"no ticket": func(v *statement.Visit) { v.Ticket = nil },
		"another swarm's": func(v *statement.Visit) {
			v.Ticket = ticket(statement.Ticket{Swarm: "other", Expires: 1 << 33})
		},
		"one for ever": func(v *statement.Visit) {
			v.Ticket = ticket(statement.Ticket{Swarm: "test", Expires: 1 << 33})
		},
		"an old one":       func(v *statement.Visit) { v.Ticket = ticket(statement.Ticket{Swarm: "test", Expires: 5}) },
		"another greeting": func(v *statement.Visit) { v.Challenge[0]++ },
		"another member":   func(v *statement.Visit) { v.Member = "12D3" },
		"an old page":      func(v *statement.Visit) { v.Apps[0].Version[0]++ },
	} {
		x := intrude(t, link(t, open(t, browsers), ""), change) // three offences at one, and the address is refused
		if f := x.hear(); f == nil || f.Over == nil || f.Over.Why == "" || !x.ends() {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Guards that a page of an earlier version, which is told to load itself again, is let in when it has: each of its
// cores is turned away, and after three its address was refused.
func TestOldPagesDoNotOffend(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	run := submit(t, a, "count", last(t).arg)
	at := link(t, a, run)
	for range 8 {
		x := intrude(t, at, func(v *statement.Visit) { v.Apps[0].Version[0]++ })
		if f := x.hear(); f == nil || f.Over == nil || !x.ends() {
			t.Fatalf("an old page: %+v", f)
		}
	}
	intrude(t, at, nil).begin()
}

// Tabs go when the member is put out that has signed their ticket.
func TestTabsGoWithTheirMember(t *testing.T) {
	t.Parallel()
	own, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	by, err := libp2p.IDFromPrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := (&statement.Ticket{Swarm: "test", Expires: time.Now().Add(time.Hour).Unix()}).Sign(own)
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, browsers)
	run := submit(t, a, "count", last(t).arg)
	x := intrude(t, link(t, a, run), func(v *statement.Visit) { v.Ticket = ticket.Bytes })
	x.begin()
	if err := a.Revoke(t.Context(), by.String()); err != nil {
		t.Fatal(err)
	}
	if !x.ends() {
		t.Error("it stays")
	}
}

// Nothing that is not a tab's to say reaches a session, and a lie about who has computed what gives the job back.
func TestIntrudersSayWhatTheyMay(t *testing.T) {
	ask := &steal.StealRequest{ID: 1, Max: 1}
	for name, change := range map[string]func(*steal.Message){
		"in another's name": func(m *steal.Message) { m.From.Peer, m.Request = "12D3", ask },
		"to another":        func(m *steal.Message) { m.To.Peer, m.Request = "12D3", ask },
		"what is left": func(m *steal.Message) {
			m.HandOver = &steal.HandOver{ID: 1, Parts: []steal.Partial{{Outcome: []byte{1}}}}
		},
		"for a third": func(m *steal.Message) {
			m.Relayed = &steal.Message{Run: m.Run, From: m.From, To: steal.Address{Peer: "x", Inc: 1},
				Ack: &steal.ResultAck{Handle: 1}}
		},
		"to be adopted": func(m *steal.Message) { m.Disown = &steal.Disown{Handles: []steal.Handle{1}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := open(t, browsers)
			run := submit(t, a, "count", last(t).arg)
			x := intrude(t, link(t, a, run), nil)
			x.begin()
			m := x.message()
			change(m)
			x.say(&tab.Frame{Steal: m})
			if !x.ends() {
				t.Error("the connection goes on")
			}
		})
	}
}

// A tab that takes jobs and answers with outcomes that it has not signed, and gives jobs that were never its own, costs
// work: the answer is right.
func TestIntrudersOutcomesAreNotUsed(t *testing.T) {
	t.Parallel()
	var log book
	a := open(t, browsers, logging(&log))
	work := last(t)
	run := submit(t, a, "count", work.arg)
	x := intrude(t, link(t, a, run), nil)
	x.begin()
	j, from := x.take()
	m := x.message()
	m.To = from
	m.Reply = &steal.StealReply{Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Path: job.Path{77},
		Function: "peertest.bottomless"}}}}
	x.say(&tab.Frame{Steal: m})
	m = x.message()
	m.To = from
	m.Result = &steal.Result{Handle: j.Handle, Path: j.Job.Path, Identity: j.Job.Identity, Outcome: []byte{0},
		Voucher: []byte("mine")}
	x.say(&tab.Frame{Steal: m})
	until(t, "the outcome is refused", func() bool { return log.has(refusal) })
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	if s := runs(t, a)[run]; s.State != control.RunDone {
		t.Errorf("the run is %s", s.State)
	}
}

// logging has a peer's log written down.
func logging(b *book) func(*peer.Config) { return func(c *peer.Config) { c.Log = b.logger() } }

// A tab that cannot take part in a run is given it no more, whatever the run is of: else it might say so without an
// end, and this peer write it down.
func TestTabThatCannot(t *testing.T) {
	t.Parallel()
	a := open(t, browsers)
	first, second := last(t), last(t)
	submit(t, a, "count", first.arg)
	x := intrude(t, link(t, a, ""), nil)
	x.begin()
	was := x.work.Run
	x.say(&tab.Frame{Ready: &tab.Ready{Run: was, Cannot: "it is too deep"}})
	next := submit(t, a, "count", second.arg)
	x.work = nil
	if x.begin(); x.work.Run.Hex() != next {
		t.Errorf("after %v it is given %v, want %s", was, x.work.Run, next)
	}
	first.end(t)
	second.end(t)
}
