package runs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/satin-peer/satin/internal/transcript"
)

// The transcripts in testdata are played as package transcript says. What is to be written stays in flight, too.
func TestTranscripts(t *testing.T) {
	transcript.Play(t, func() (*strings.Builder, func(*testing.T, *datadriven.TestData)) {
		s := &stage{actors: map[PeerID]*actor{}, manifests: map[RunID]*Manifest{}, now: time.Unix(1000, 0)}
		return &s.out, s.command
	})
}

// stage holds the cores of one transcript and what is in flight between them and their disks.
type stage struct {
	out       strings.Builder
	now       time.Time
	actors    map[PeerID]*actor
	order     []PeerID
	manifests map[RunID]*Manifest
	flying    []flight
	last      int
}

// flight is an order that is not carried out yet.
type flight struct {
	n  int
	by *actor
	Order
}

// actor is one peer: its core, its disk, and whom it believes to be silent.
type actor struct {
	s      *stage
	id     PeerID
	core   *Core
	files  map[string]Order
	silent map[PeerID]bool
	out    bool // it is no member
	ticket Ticket
	asked  map[Ticket]func(no *Refusal)
}

func (a *actor) Bury(*Tombstone) []byte { return []byte("t") }
func (a *actor) Claim(*Claim) []byte    { return []byte("c") }
func (a *actor) Enroll(*Roster) []byte  { return []byte("r") }
func (a *actor) Cluster(PeerID) string  { return "" }
func (a *actor) Hand(PeerID) string     { return "" }
func (a *actor) Hands(*Manifest) int    { return 2 }
func (a *actor) Computes(PeerID) bool   { return true }
func (a *actor) Alive(id PeerID) bool   { return !a.silent[id] }
func (a *actor) Admitted(id PeerID) bool {
	x := a.s.actors[id]
	return x != nil && !x.out
}
func (a *actor) Partners(*Manifest) (list []PeerID) {
	for _, id := range a.s.order {
		if id != a.id && !a.silent[id] {
			list = append(list, id)
		}
	}
	return list
}

func (s *stage) command(t *testing.T, d *datadriven.TestData) {
	var at *actor
	var run RunID
	for i, x := range d.CmdArgs {
		if a := s.actors[PeerID(x.Key)]; i == 0 && a != nil {
			at = a
		}
		if strings.HasPrefix(x.Key, "r") && len(x.Vals) == 0 {
			n, err := strconv.Atoi(x.Key[1:])
			if err == nil {
				run = RunID{byte(n)}
			}
		}
	}
	switch d.Cmd {
	case "peers": // peers a b c
		for _, x := range d.CmdArgs {
			a := &actor{s: s, id: PeerID(x.Key), files: map[string]Order{}, silent: map[PeerID]bool{}}
			s.actors[a.id] = a
			s.order = append(s.order, a.id)
			a.boot()
		}
	case "submit": // submit a r1 b c [adapt=volunteers]: with these deputies
		m := &Manifest{Run: run, Owner: at.id, App: "app", Created: s.now.Unix(), Expires: s.now.Unix() + 1e6,
			Sealed: []byte("m")}
		for _, x := range d.CmdArgs[2:] {
			if len(x.Vals) > 0 {
				m.Adapt = x.Vals[0]
				continue
			}
			m.Deputies = append(m.Deputies, PeerID(x.Key))
		}
		s.manifests[run] = m
		at.do(func(c *Core, k Ticket) []Order { return c.Submit(s.now, k, m, nil) })
	case "cancel":
		at.do(func(c *Core, k Ticket) []Order { return c.Cancel(s.now, k, run) })
	case "suspend":
		at.do(func(c *Core, k Ticket) []Order { return c.Suspend(s.now, k, run) })
	case "resume":
		at.do(func(c *Core, k Ticket) []Order { return c.Resume(s.now, k, s.manifests[run]) })
	case "root": // root a r1 42: its root job has ended here
		at.take(at.core.RootEnded(s.now, run, answer(d.CmdArgs[2].Key)))
	case "holds": // holds b r1 yes: whether the root is there
		at.take(at.core.RootHeld(s.now, run, d.CmdArgs[2].Key == "yes"))
	case "leads": // leads b r1: everybody hears that it holds the root
		for _, id := range s.order {
			if to := s.actors[id]; to != at && to.core != nil {
				to.take(to.core.Led(s.now, run, at.id))
			}
		}
	case "roster": // roster a r1 b: a coordinates, and does without b
		w := &Muster{}
		for _, x := range d.CmdArgs[2:] {
			w.Out = append(w.Out, Outsider{Peer: PeerID(x.Key), Left: 1})
		}
		at.take(at.core.Musters.Muster(s.now, run, w))
	case "usurp": // usurp z r1 b: z says so, to everybody
		s.fly(at, TellRoster{Roster{Run: run, Author: at.id, Number: 1 << 40,
			Out: []Outsider{{Peer: PeerID(d.CmdArgs[2].Key), Left: 1}}}})
	case "claim": // claim z r1 42: z says so, to everybody
		c := Claim{Run: run, Author: PeerID(d.CmdArgs[0].Key), Hash: answer(d.CmdArgs[2].Key).Hash, Sealed: []byte("c")}
		s.fly(&actor{s: s, id: c.Author}, TellClaim{c})
	case "bury": // bury z r1: z says that it is cancelled, to everybody
		s.fly(&actor{s: s, id: PeerID(d.CmdArgs[0].Key)},
			Bury{Tombstone{Run: run, Author: PeerID(d.CmdArgs[0].Key), Reason: Cancelled, Until: 1e9,
				Sealed: []byte("t")}})
	case "silent", "heard": // silent a b: a believes that b is
		for _, x := range d.CmdArgs[1:] {
			at.silent[PeerID(x.Key)] = d.Cmd == "silent"
		}
	case "expel":
		at.out = true
	case "meet": // meet a b: they tell each other what they have to
		s.meet(at, s.actors[PeerID(d.CmdArgs[1].Key)])
		s.meet(s.actors[PeerID(d.CmdArgs[1].Key)], at)
	case "advance": // advance 10s: everybody ticks every second
		for range number(t, d, strings.TrimSuffix(d.CmdArgs[0].Key, "s")) {
			s.now = s.now.Add(time.Second)
			for _, id := range s.order {
				if a := s.actors[id]; a.core != nil {
					a.take(a.core.Tick(s.now))
				}
			}
		}
	case "deliver", "drop": // deliver 3 4 [to=b]; stabilize: all of them
		for _, x := range d.CmdArgs {
			if len(x.Vals) == 0 {
				s.land(number(t, d, x.Key), d.Cmd == "deliver")
			}
		}
	case "stabilize":
		for len(s.flying) > 0 {
			s.land(s.flying[0].n, true)
		}
	case "crash": // what was in flight from there is lost
		at.core = nil
		s.flying = slices.DeleteFunc(s.flying, func(f flight) bool { return f.by == at })
	case "tear": // tear a own r1: the file is lost
		for name := range at.files {
			if name == d.CmdArgs[1].Key+" "+d.CmdArgs[2].Key {
				delete(at.files, name)
			}
		}
	case "boot":
		at.boot()
	case "state":
		for _, x := range d.CmdArgs {
			s.state(s.actors[PeerID(x.Key)])
		}
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
}

func number(t *testing.T, d *datadriven.TestData, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

// answer is an outcome that reads as told.
func answer(text string) Outcome {
	o := Outcome{Bytes: []byte(text)}
	copy(o.Hash[:], text)
	return o
}

func (a *actor) boot() {
	a.core = New(DefaultConfig(), a.id, a, a)
	a.asked = map[Ticket]func(*Refusal){}
	r := &Recalled{}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range a.files {
			if !yield(n) {
				return
			}
		}
	}) {
		switch f := a.files[name].(type) {
		case WriteOwn:
			r.Own = append(r.Own, RecalledOwn{Own: f.Own})
		case WriteCancelled:
			r.Cancelled = append(r.Cancelled, &f.Tombstone)
		case WriteAnswer:
			m := a.s.manifests[f.Run]
			switch f.File {
			case AnswerFile:
				r.Answers = append(r.Answers, RecalledAnswer{Manifest: m, Hash: f.Answer.Outcome.Hash,
					Ended: f.Answer.Ended, Claim: f.Answer.Claim})
			case HeldFile, RivalFile:
				r.Held = append(r.Held, RecalledHeld{File: f.File, Manifest: m, Claim: *f.Answer.Claim, Since: a.s.now})
			}
		}
	}
	a.take(a.core.Recall(a.s.now, r))
}

func (a *actor) do(f func(c *Core, k Ticket) []Order) {
	a.ticket++
	a.take(f(a.core, a.ticket))
}

// take shows what a core orders, and has the rest fly.
func (a *actor) take(list []Order) {
	for _, o := range list {
		switch o := o.(type) {
		case Start, Stop, Discard, Over, Forget, Note:
			fmt.Fprintf(&a.s.out, "%s: %s\n", a.id, show(o))
		case Remove:
			fmt.Fprintf(&a.s.out, "%s: %s\n", a.id, show(o))
			delete(a.files, fileNames[o.File]+" "+name(o.Run))
		case Reply:
			if f := a.asked[o.Ticket]; f != nil {
				f(o.Refusal)
				continue
			}
			fmt.Fprintf(&a.s.out, "%s: %s\n", a.id, show(o))
		default:
			a.s.fly(a, o)
		}
	}
}

func (s *stage) fly(a *actor, o Order) {
	s.last++
	s.flying = append(s.flying, flight{s.last, a, o})
	fmt.Fprintf(&s.out, "%s: [%d] %s\n", a.id, s.last, show(o))
}

// land carries out an order that flies, or has it fail.
func (s *stage) land(n int, well bool) {
	i := slices.IndexFunc(s.flying, func(f flight) bool { return f.n == n })
	if i < 0 {
		fmt.Fprintf(&s.out, "nothing flies as %d\n", n)
		return
	}
	f := s.flying[i]
	s.flying = slices.Delete(s.flying, i, i+1)
	a := f.by
	everybody := func(g func(to *actor) []Order) {
		for _, id := range s.order {
			if to := s.actors[id]; to.id != a.id && to.core != nil && well {
				to.take(g(to))
			}
		}
	}
	switch o := f.Order.(type) {
	case Announce:
		everybody(func(to *actor) []Order { return to.core.Announced(s.now, o.Run, a.id) })
	case Bury:
		everybody(func(to *actor) []Order { return to.core.Buried(s.now, &o.Tombstone) })
	case TellRoster:
		everybody(func(to *actor) []Order { return to.core.Rostered(s.now, &o.Roster, a.id) })
	case TellClaim:
		everybody(func(to *actor) []Order { return to.core.Claimed(s.now, &o.Claim, a.id) })
	case Fetch:
		a.take(a.core.Fetched(s.now, s.told(a, o.Run, o.From, true, well)))
	case Ask:
		a.take(a.core.Asked(s.now, s.told(a, o.Run, o.Whom, false, well)))
	case FetchAnswer:
		s.landAnswer(a, o, well)
	case KeepAt:
		s.landKeeping(a, o, well)
	case Collect:
		var no *Refusal
		if !well {
			no = &Refusal{Unavailable, "no checkpoint"}
		}
		a.take(a.core.Collected(s.now, o.Run, no))
	case WriteOwn:
		s.landWriting(a, OwnFile, o.Run, o, well)
	case WriteAnswer:
		s.landWriting(a, o.File, o.Run, o, well)
	case WriteCancelled:
		s.landWriting(a, CancelledFile, o.Tombstone.Run, o, well)
	}
}

func (s *stage) landWriting(a *actor, f File, run RunID, o Order, well bool) {
	trouble := "the disk is full"
	if well {
		a.files[fileNames[f]+" "+name(run)] = o
		trouble = ""
	}
	a.take(a.core.Written(s.now, f, run, trouble))
}

func (s *stage) told(a *actor, run RunID, from PeerID, full, well bool) *Told {
	x := s.actors[from]
	if x == nil || x.core == nil || !well {
		return &Told{Run: run, From: from, Failed: true}
	}
	k := x.core.Knows(run, a.id, full)
	t := &Told{Run: run, From: from, Tombstone: k.Tombstone, Claim: k.Claim, Over: k.Over, Led: k.Led, Known: k.Known,
		Roster: k.Roster, RosterAge: k.RosterAge}
	if k.Manifest != nil || k.Held {
		t.Manifest = s.manifests[run]
	}
	return t
}

func (s *stage) landAnswer(a *actor, o FetchAnswer, well bool) {
	for _, id := range o.From {
		x := s.actors[id]
		if x == nil || x.core == nil || !well {
			continue
		}
		if f := x.core.Holds(o.Claim.Run, o.Claim.Hash); f != 0 {
			w := x.files[fileNames[f]+" "+name(o.Claim.Run)].(WriteAnswer)
			a.take(a.core.AnswerFetched(s.now, &o.Claim, w.Answer.Outcome, ""))
			return
		}
	}
	a.take(a.core.AnswerFetched(s.now, &o.Claim, Outcome{}, "nobody has it"))
}

func (s *stage) landKeeping(a *actor, o KeepAt, well bool) {
	x := s.actors[o.Peer]
	if x == nil || x.core == nil || !well {
		a.take(a.core.KeptAt(s.now, o.Run, false))
		return
	}
	x.ticket++
	x.asked[x.ticket] = func(no *Refusal) {
		if no != nil {
			fmt.Fprintf(&s.out, "%s: does not keep it: %s\n", x.id, no.Text)
		}
		a.take(a.core.KeptAt(s.now, o.Run, no == nil))
	}
	x.take(x.core.Keep(s.now, x.ticket, o.Answer.Claim, o.Answer.Outcome, 0, 0))
}

func (s *stage) meet(a, b *actor) {
	stones, claims, going := a.core.OwnTombstones(), a.core.ClaimsFor(b.id), a.core.InProgress(9)
	for _, t := range stones {
		b.take(b.core.Buried(s.now, t))
	}
	for i := range claims {
		b.take(b.core.Claimed(s.now, &claims[i], a.id))
	}
	for _, run := range going {
		b.take(b.core.Announced(s.now, run, a.id))
	}
}

var fileNames = map[File]string{OwnFile: "own", CancelledFile: "cancelled", AnswerFile: "answer",
	DisputeFile: "dispute",
	HeldFile:    "held", RivalFile: "rival"}

func name(run RunID) string { return fmt.Sprintf("r%d", run[0]) }

// show is an order for people.
func show(o Order) string {
	switch o := o.(type) {
	case Fetch:
		return fmt.Sprintf("fetch %s from %s", name(o.Run), o.From)
	case Ask:
		return fmt.Sprintf("ask %s after %s", o.Whom, name(o.Run))
	case FetchAnswer:
		return fmt.Sprintf("fetch %q of %s from %v", text(o.Claim.Hash), name(o.Claim.Run), o.From)
	case KeepAt:
		return fmt.Sprintf("ask %s to keep %q of %s", o.Peer, o.Answer.Outcome.Bytes, name(o.Run))
	case Collect:
		return fmt.Sprintf("collect %s from %v", name(o.Run), o.From)
	case Announce:
		return "announce " + name(o.Run)
	case Bury:
		s := fmt.Sprintf("tell: %s is %s, %d", name(o.Tombstone.Run), o.Tombstone.Reason, o.Tombstone.Seq)
		if h := o.Tombstone.Hash; h != nil {
			s += fmt.Sprintf(" %q", text(*h))
		}
		return s
	case TellClaim:
		return fmt.Sprintf("tell: %s is answered, %q", name(o.Claim.Run), text(o.Claim.Hash))
	case TellRoster:
		s := fmt.Sprintf("tell: roster %d of %s", o.Roster.Number, name(o.Roster.Run))
		for _, x := range o.Roster.Out {
			s += fmt.Sprintf(", without %s", x.Peer)
		}
		return s
	case Start:
		if o.Fresh {
			return "start " + name(o.Manifest.Run) + " with the root"
		}
		return "take part in " + name(o.Manifest.Run)
	case Stop:
		if o.HandOver {
			return fmt.Sprintf("leave %s: %s", name(o.Run), o.Why)
		}
		return fmt.Sprintf("stop %s: %s, %s; discard: %t", name(o.Run), o.State, o.Why, o.Discard)
	case Discard:
		return "discard " + name(o.Run)
	case WriteOwn:
		return fmt.Sprintf("write own %s, suspended: %t, %d", name(o.Run), o.Own.Suspended, o.Own.Seq)
	case WriteAnswer:
		return fmt.Sprintf("write %s %s: %q", fileNames[o.File], name(o.Run), o.Answer.Outcome.Bytes)
	case WriteCancelled:
		return "write cancelled " + name(o.Tombstone.Run)
	case Remove:
		return fmt.Sprintf("remove %s %s", fileNames[o.File], name(o.Run))
	case Over:
		return name(o.Run) + " is over"
	case Reply:
		if o.Refusal != nil {
			return "refused: " + o.Refusal.Text
		}
		return "done"
	case Forget:
		return "forget " + name(o.Run)
	case Note:
		return "note: " + o.Text
	}
	return fmt.Sprintf("%T", o)
}

func text(h Hash) string { return strings.TrimRight(string(h[:]), "\x00") }

// state shows the runs that a peer knows and the files it has.
func (s *stage) state(a *actor) {
	for _, i := range a.core.Runs() {
		fmt.Fprintf(&s.out, "%s: %s %s", a.id, name(i.Manifest.Run), i.State)
		if i.Hash != (Hash{}) {
			fmt.Fprintf(&s.out, " %q", text(i.Hash))
		}
		if i.Answered != nil {
			fmt.Fprintf(&s.out, " by %s", i.Answered.Author)
		}
		if i.Disputed != "" {
			fmt.Fprintf(&s.out, ", disputed by %s", i.Disputed)
		}
		fmt.Fprintln(&s.out)
	}
	var files []string
	for f := range a.files {
		files = append(files, f)
	}
	slices.Sort(files)
	fmt.Fprintf(&s.out, "%s: files %v\n", a.id, files)
}
