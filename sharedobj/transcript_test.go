package sharedobj

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/satin-peer/satin/internal/transcript"
)

// The transcripts in testdata are played as package transcript says. An object's state is a text and a write is
// appended to it; a lattice's value is the greatest text, and those that begin with ! are not valid.
func TestTranscripts(t *testing.T) {
	transcript.Play(t, func() (*strings.Builder, func(*testing.T, *datadriven.TestData)) {
		s := &theatre{actors: map[PeerID]*actor{}, names: map[Digest]string{}, recipes: map[string]*Recipe{},
			states: map[string]string{}}
		return &s.out, s.command
	})
}

type theatre struct {
	out     strings.Builder
	now     time.Duration
	members []Member
	hosts   [][2]PeerID // of guests
	actors  map[PeerID]*actor
	flying  []flying
	names   map[Digest]string
	recipes map[string]*Recipe
	states  map[string]string
}

// flying is a message, or news for one peer, on its way.
type flying struct {
	m    *Message
	news *News
	from PeerID
	to   PeerID
}

type actor struct {
	id     PeerID
	core   *Core
	values map[Digest]string
	greats map[Digest]string
	untold map[Digest]string
	guards map[JobID]string // of jobs: the least value that they want
	needs  map[JobID]Digest
	skewed bool
}

func (s *theatre) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

func (s *theatre) command(t *testing.T, d *datadriven.TestData) {
	arg := func(key string) (v string) {
		if d.HasArg(key) {
			d.ScanArgs(t, key, &v)
		}
		return v
	}
	key := func(i int) string { return d.CmdArgs[i].Key }
	switch d.Cmd {
	case "peers": // peers a1 a2 b1: the letter is the cluster
		for _, a := range d.CmdArgs {
			s.members = append(s.members, membersOf(a.Key)[0])
		}
		for _, m := range s.members {
			s.open(t, m.ID, s.members)
		}
	case "guest": // guest a9 of=a1: nobody else knows it, and it knows nobody else
		host, g := PeerID(arg("of")), membersOf(key(0))[0]
		g.Guest = true
		s.open(t, g.ID, append(membersOf(string(host)), g))
		s.absorb(s.actors[host], s.actors[host].core.SetMembers(s.now, append(slices.Clone(s.members), g)))
		s.hosts = append(s.hosts, [2]PeerID{g.ID, host})
	case "skew": // skew a2: its processor computes something else
		s.actor(key(0)).skewed = true
	case "create", "lattice": // create a1 x0 state=text [size=n]
		k := Phased
		if d.Cmd == "lattice" {
			k = Lattice
		}
		state := repeated(arg("state"), arg("size"))
		b := Build([]byte(state))
		r := &Recipe{Kind: k, Name: "x", State: b.Blob}
		s.name(key(1), r, state)
		a := s.actor(key(0))
		s.absorb(a, a.core.Created(s.now, r, b))
	case "write": // write a1 x0 x1 write=text [size=n]
		a, old := s.actor(key(0)), s.recipes[key(1)]
		text := repeated(arg("write"), arg("size"))
		state := s.states[key(1)] + text
		wb, sb := Build([]byte(text)), Build([]byte(state))
		r := &Recipe{Kind: Phased, Name: "x", Parent: old.Digest(), Write: wb.Blob, State: sb.Blob}
		s.name(key(2), r, state)
		s.absorb(a, a.core.Wrote(s.now, r, wb, sb))
	case "job": // job a2 1 x1 victim=a1 [floor=text] [guard=text]
		a := s.actor(key(0))
		var id JobID
		fmt.Sscan(key(1), &id)
		n := Need{Digest: s.recipes[key(2)].Digest(), Floor: []byte(arg("floor"))}
		a.guards[id], a.needs[id] = arg("guard"), n.Digest
		s.absorb(a, a.core.JobCame(s.now, Job{ID: id, Victim: PeerID(arg("victim")), Needs: []Need{n},
			Guarded: arg("guard") != ""}))
	case "offer": // offer a1 l value=text
		a, l := s.actor(key(0)), s.recipes[key(1)].Digest()
		a.greats[l], a.untold[l] = max(a.greats[l], arg("value")), max(a.untold[l], arg("value"))
		s.absorb(a, a.core.Offered(s.now, l))
	case "deliver", "drop": // deliver [n]: the first message, or n of them; drop: lose it
		n := 1
		if len(d.CmdArgs) > 0 {
			fmt.Sscan(key(0), &n)
		}
		for ; n > 0 && len(s.flying) > 0; n-- {
			f := s.flying[0]
			s.flying = s.flying[1:]
			s.arrive(f, d.Cmd == "drop")
		}
	case "stabilize": // all messages, until there are none
		for len(s.flying) > 0 {
			f := s.flying[0]
			s.flying = s.flying[1:]
			s.arrive(f, false)
		}
	case "pass": // pass 2s: time, ticking whoever wants it
		d, err := time.ParseDuration(key(0))
		if err != nil {
			t.Fatal(err)
		}
		s.pass(s.now + d)
	case "say": // say a1 a2 piece|answer|offer x: a lie
		s.lie(key(0), key(1), key(2), key(3))
	case "value": // value a1 l
		s.printf("%q\n", s.actor(key(0)).greats[s.recipes[key(1)].Digest()])
	default:
		t.Fatalf("%s: no such command %q", d.Pos, d.Cmd)
	}
}

func (s *theatre) open(t *testing.T, id PeerID, members []Member) {
	core, err := NewCore(Default(), id, members, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s.actors[id] = &actor{id: id, core: core, values: map[Digest]string{}, greats: map[Digest]string{},
		untold: map[Digest]string{}, guards: map[JobID]string{}, needs: map[JobID]Digest{}}
}

// hears lists who hears the news of a peer, and as whose: those of a guest its host alone, and guests whatever their
// hosts hear or tell.
func (s *theatre) hears(from PeerID, tell func(as, to PeerID)) {
	for _, h := range s.hosts {
		if h[0] == from {
			tell(from, h[1])
			return
		}
	}
	for _, m := range s.members {
		if m.ID != from {
			tell(from, m.ID)
		}
	}
	for _, h := range s.hosts {
		tell(h[1], h[0])
	}
}

func repeated(text, times string) string {
	n := 1
	if times != "" {
		fmt.Sscan(times, &n)
	}
	return strings.Repeat(text, n)
}

func (s *theatre) actor(id string) *actor { return s.actors[PeerID(id)] }

func (s *theatre) name(n string, r *Recipe, state string) {
	s.names[r.Digest()], s.recipes[n], s.states[n] = n, r, state
}

func (s *theatre) pass(end time.Duration) {
	for {
		var who *actor
		at := end
		for _, id := range slices.Sorted(maps.Keys(s.actors)) {
			if t, ok := s.actors[id].core.Next(); ok && t <= at && (who == nil || t < at) {
				who, at = s.actors[id], t
			}
		}
		if who == nil {
			s.now = end
			return
		}
		s.now = max(s.now, at)
		s.absorb(who, who.core.Tick(s.now))
	}
}

func (s *theatre) arrive(f flying, lost bool) {
	verb := "arrives"
	if lost {
		verb = "is lost"
	}
	if f.news != nil {
		s.printf("news of %s %s at %s\n", f.from, verb, f.to)
	} else {
		s.printf("%s of %s %s at %s\n", s.kind(f.m), f.m.From, verb, f.m.To)
	}
	if lost {
		return
	}
	a := s.actors[f.to]
	if f.news != nil {
		s.absorb(a, a.core.Hear(s.now, f.from, f.news))
	} else {
		s.absorb(a, a.core.Step(s.now, f.m))
	}
}

func (s *theatre) kind(m *Message) string {
	switch {
	case m.Ask != nil:
		return fmt.Sprintf("ask for %s%v", s.names[m.Ask.Digest], m.Ask.Holders)
	case m.Answer != nil:
		told := ""
		for _, x := range m.Answer.Told {
			told += " " + s.names[x.Recipe.Digest()]
			if len(x.State) > 0 {
				told += "+state"
			}
			if len(x.Write) > 0 {
				told += "+write"
			}
		}
		return fmt.Sprintf("answer on %s: %s,%s", s.names[m.Answer.Digest],
			[]string{"", "lacking", "coming", "here"}[m.Answer.Status], told)
	case m.Get != nil:
		return fmt.Sprintf("get of %d pieces", len(m.Get.Pieces))
	case m.Piece != nil:
		return fmt.Sprintf("piece %d/%d", m.Piece.ID.Level, m.Piece.ID.Index)
	case m.Gone != nil:
		return "gone"
	case m.Announce != nil:
		return "announcement of " + s.names[m.Announce.Recipe.Digest()]
	}
	values := ""
	for _, v := range m.Sums.Values {
		values += fmt.Sprintf(" %s=%q", s.names[v.Digest], v.Value)
	}
	return "sums" + values
}

// absorb prints what a core orders and sends, and lets the engine obey at once.
func (s *theatre) absorb(a *actor, out Output) {
	orders, messages := slices.Clone(out.Orders), slices.Clone(out.Messages)
	for _, m := range messages {
		s.printf("  %s -> %s %s\n", a.id, m.To, s.kind(m))
		s.flying = append(s.flying, flying{m: m, from: a.id, to: m.To})
	}
	for _, o := range orders {
		s.obey(a, o)
	}
}

func (s *theatre) obey(a *actor, o Order) {
	name := s.names[o.Digest]
	switch o.Kind {
	case OrderHere:
		s.printf("  %s: %s is here\n", a.id, name)
		a.values[o.Digest] = string(o.Data)
	case OrderForget:
		s.printf("  %s: %s is forgotten\n", a.id, name)
	case OrderApply:
		s.printf("  %s: apply the write of %s to %s\n", a.id, name, s.names[o.Parent])
		next := a.values[o.Parent] + string(o.Data)
		if a.skewed {
			next += "~"
		}
		s.absorb(a, a.core.Applied(s.now, o.Ticket, Build([]byte(next))))
	case OrderJoin:
		v := string(o.Data)
		ok := !strings.HasPrefix(v, "!")
		s.printf("  %s: join %q into %s, valid: %v\n", a.id, v, name, ok)
		changed := ok && v > a.greats[o.Digest]
		if changed {
			a.greats[o.Digest] = v
		}
		s.absorb(a, a.core.Joined(s.now, o.Ticket, ok, changed))
		if changed && o.Own {
			a.untold[o.Digest] = max(a.untold[o.Digest], v)
			s.absorb(a, a.core.Offered(s.now, o.Digest))
		}
	case OrderCollect:
		v := a.untold[o.Digest]
		a.untold[o.Digest] = ""
		s.printf("  %s: collect %q\n", a.id, v)
		s.absorb(a, a.core.Collected(s.now, o.Digest, Build([]byte(v))))
	case OrderEncode:
		s.absorb(a, a.core.Encoded(s.now, o.Ticket, o.Digest, Build([]byte(a.greats[o.Digest]))))
	case OrderGuard:
		ok := a.greats[a.needs[o.Job]] >= a.guards[o.Job]
		s.printf("  %s: the guard of job %d is %v\n", a.id, o.Job, ok)
		s.absorb(a, a.core.Guarded(s.now, o.Job, ok))
	case OrderReady:
		s.printf("  %s: job %d may begin\n", a.id, o.Job)
	case OrderBack:
		s.printf("  %s: job %d goes back: %v\n", a.id, o.Job, o.Err)
	case OrderTell:
		s.printf("  %s tells everybody %d writes and %d offers\n", a.id, len(o.News.Writes), len(o.News.Offers))
		s.hears(a.id, func(as, to PeerID) { s.flying = append(s.flying, flying{news: o.News, from: as, to: to}) })
	case OrderNote:
		s.printf("  %s: %s\n", a.id, o.Text)
	case OrderFailed:
		s.printf("  %s: %s fails\n", a.id, name)
	}
}

// lie sends what is not so.
func (s *theatre) lie(from, to, what, name string) {
	r := s.recipes[name]
	m := &Message{From: PeerID(from), To: PeerID(to)}
	switch what {
	case "piece":
		m.Piece = &Piece{Top: r.State.Top, Data: []byte("lie")}
	case "answer":
		m.Answer = &Answer{Digest: r.Digest(), Status: Here, Told: []Told{{Recipe: *r, State: []byte("lie")}}}
	case "parent": // a write that claims to lead to a version it does not lead to
		forged := *r
		forged.Parent[0] ^= 1
		m.Answer = &Answer{Digest: r.Digest(), Status: Here, Told: []Told{{Recipe: forged}}}
	case "offer":
		a := s.actor(to)
		s.absorb(a, a.core.Hear(s.now, PeerID(from), &News{Offers: []Offer{{r.Digest(), []byte("!zzz")}}}))
		return
	}
	a := s.actor(to)
	before := a.core.Stats()
	s.absorb(a, a.core.Step(s.now, m))
	after := a.core.Stats()
	s.printf("malformed %d, unsought %d, wrong %d\n", after.Malformed-before.Malformed, after.Unsought-before.Unsought,
		after.Wrong-before.Wrong)
}
