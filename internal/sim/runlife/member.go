package runlife

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// member is a peer: a core while it is up, and a disk.
type member struct {
	w    *world
	i    int
	id   runs.PeerID
	core *runs.Core // nil: it is down
	life int

	files map[fileName]any       // what the disk has
	dates map[fileName]time.Time // when that was written, by the clock then
	off   time.Duration          // by which the clock is wrong
	busy  time.Duration          // until when the disk is
	full  bool

	kept     map[job.RunID]*checkpoint // of runs in progress, on the disk
	parts    steal.Incarnation         // parts in runs so far, over all lives
	sessions []*session
	seen     []time.Duration // when the others were heard last
	met      []bool
	finals   map[job.RunID]bool // whose owner's final tombstone was heard in this life
	orders   []runs.Order
	tickets  map[runs.Ticket]func(*runs.Refusal)
	ticket   runs.Ticket
	trouble  map[fileName]bool       // files that could not be written in this life
	leaving  []*part                 // in runs whose rosters do without this member
	numbers  map[numbered]uint64     // of rosters that were believed, in this life
	tolls    map[job.RunID]runs.Toll // when runs have killed the process here, in all lives
	library  library
}

type fileName struct {
	kind runs.File
	run  job.RunID
}

// Bury and Claim sign: the statement says who has made it.
func (m *member) Bury(t *runs.Tombstone) []byte { return []byte("stone") }
func (m *member) Claim(c *runs.Claim) []byte    { return []byte("claim") }

func (m *member) Alive(id runs.PeerID) bool {
	if id == m.id {
		return true
	}
	o := m.w.member(id)
	return o != nil && m.w.now-m.seen[o.i] <= lost
}
func (m *member) Admitted(id runs.PeerID) bool { return m.w.member(id) != nil }
func (m *member) Computes(runs.PeerID) bool    { return true }
func (m *member) Hands(*runs.Manifest) int     { return 2 }
func (m *member) Partners(*runs.Manifest) (list []runs.PeerID) {
	for _, o := range m.w.members {
		if o != m && m.Alive(o.id) {
			list = append(list, o.id)
		}
	}
	return list
}

// boot brings a member up.
func (m *member) boot() {
	w := m.w
	m.life++
	w.discharge(m)
	cfg := runs.DefaultConfig()
	cfg.Life = uint64(m.life)
	if w.clocks != nil {
		cfg.Doubt = doubt
	}
	m.core = runs.New(cfg, m.id, m, m)
	m.sessions, m.orders, m.busy, m.full = nil, nil, w.now, false
	m.tickets, m.finals = map[runs.Ticket]func(*runs.Refusal){}, map[job.RunID]bool{}
	m.trouble, m.leaving, m.numbers = map[fileName]bool{}, nil, map[numbered]uint64{}
	m.library.waiting = map[*project]*wait{}
	m.seen, m.met = make([]time.Duration, len(w.members)), make([]bool, len(w.members))
	for i := range m.seen {
		m.seen[i] = w.now - 2*lost
	}
	w.say("%s is up", m.id)
	m.input(m.core.Recall(m.clock(), m.recall()))
	for _, p := range w.runs {
		if k := m.kept[p.id]; k != nil {
			m.input(m.core.Dormant(m.clock(), k.manifest, m.library.unfit(p)))
		}
	}
	life := m.life
	var tick, step func()
	tick = func() {
		if m.life == life {
			m.meet()
			for _, s := range slices.Clone(m.sessions) {
				if s.part != nil {
					s.part.keepUp()
				}
			}
			m.input(m.core.Tick(m.clock()))
			m.library.keepUp()
			w.lookAtOutsiders(m)
			m.decide()
			w.after(time.Second, tick)
		}
	}
	step = func() {
		if m.life == life {
			m.compute()
			w.after(beat, step)
		}
	}
	w.after(w.some(time.Second), tick)
	w.after(w.some(beat), step)
}

// crash ends a member at once. What waits for the disk is lost.
func (m *member) crash() {
	m.w.say("%s is down", m.id)
	m.w.counts.Crashes++
	m.core = nil
	m.life++
	m.sessions = nil
	for _, p := range m.w.runs { // what was written last may not have got to the disk
		if c := m.kept[p.id]; c != nil && len(c.parts) > 0 && m.w.kind.Stealing {
			c.parts = c.parts[:m.w.random.IntN(len(c.parts)+1)]
		}
	}
	for _, o := range m.w.members {
		if o.met != nil {
			o.met[m.i] = false
		}
	}
	for _, p := range m.w.runs {
		if p.owner == m {
			p.busy = false // nobody waits any more
		}
	}
}

// recall reads the disk.
func (m *member) recall() *runs.Recalled {
	d := &runs.Recalled{}
	for _, p := range m.w.runs {
		if f, ok := m.files[fileName{runs.CancelledFile, p.id}].(runs.Tombstone); ok {
			d.Cancelled = append(d.Cancelled, &f)
		}
		if a, ok := m.files[fileName{runs.AnswerFile, p.id}].(*runs.Answer); ok {
			r := runs.RecalledAnswer{Manifest: p.manifest, Hash: a.Outcome.Hash, Ended: a.Ended, Took: a.Elapsed,
				Claim: a.Claim, Failure: a.Outcome.Failure}
			if second, ok := m.files[fileName{runs.DisputeFile, p.id}].(*runs.Answer); ok {
				h := second.Outcome.Hash
				r.Second, r.SecondBy = &h, m.id
			}
			d.Answers = append(d.Answers, r)
		}
		if o, ok := m.files[fileName{runs.OwnFile, p.id}].(runs.Own); ok {
			d.Own = append(d.Own, runs.RecalledOwn{Own: o, Unfit: m.library.unfit(p)})
		}
		for _, kind := range []runs.File{runs.HeldFile, runs.RivalFile} {
			if a, ok := m.files[fileName{kind, p.id}].(*runs.Answer); ok {
				d.Held = append(d.Held, runs.RecalledHeld{File: kind, Manifest: p.manifest, Claim: *a.Claim,
					Since: m.dates[fileName{kind, p.id}]})
			}
		}
	}
	return d
}

// input carries out what an input has led to, first in, first out.
func (m *member) input(list []runs.Order) {
	m.orders = append(m.orders, list...)
	for len(m.orders) > 0 && m.core != nil {
		o := m.orders[0]
		m.orders = m.orders[1:]
		m.w.watch(m, o)
		m.carryOut(o)
	}
	if m.core != nil {
		m.w.look(m)
	}
}

func (m *member) carryOut(o runs.Order) {
	w := m.w
	switch o := o.(type) {
	case runs.Fetch:
		m.question(o.Run, o.From, true, func(t *runs.Told) { m.input(m.core.Fetched(m.clock(), t)) })
	case runs.Ask:
		m.question(o.Run, o.Whom, false, func(t *runs.Told) { m.input(m.core.Asked(m.clock(), t)) })
	case runs.FetchAnswer:
		m.fetchAnswer(o, 0)
	case runs.KeepAt:
		m.keepAt(o)
	case runs.Collect:
		late, no := w.hinder()
		m.later(w.some(2*time.Second)+late, func() {
			m.collect(o)
			m.input(m.core.Collected(m.clock(), o.Run, no))
		})
	case runs.Announce:
		m.tellAll(func(to *member) []runs.Order { return to.core.Announced(to.clock(), o.Run, m.id) })
	case runs.Bury:
		m.tellAll(func(to *member) []runs.Order { return to.hearTombstone(&o.Tombstone) })
	case runs.TellClaim:
		m.tellAll(func(to *member) []runs.Order { return to.core.Claimed(to.clock(), &o.Claim, m.id) })
	case runs.Start:
		p := w.byID[o.Manifest.Run]
		if m.kept[p.id] == nil && (m == p.owner || !p.strict()) {
			m.kept[p.id] = &checkpoint{manifest: o.Manifest}
		}
		if why := m.prevents(p); why != "" {
			m.input(m.core.NotStarted(m.clock(), p.id, why))
		} else {
			m.begin(p, o.Fresh)
		}
	case runs.TellDeath:
		m.tellAll(func(to *member) []runs.Order {
			return to.core.Deaths.DeathTold(to.clock(), o.Run, m.id, o.Jobs, o.Why)
		})
	case runs.Doom:
		w.doomed(m, o)
		m.later(time.Millisecond, func() {
			m.input(m.core.RootEnded(m.clock(), o.Run, failure(w.byID[o.Run])))
		})
	case runs.TellRoster:
		m.tellAll(func(to *member) []runs.Order { return to.core.Rostered(to.clock(), &o.Roster, m.id) })
	case runs.Stop:
		m.stop(&o)
	case runs.Discard:
		delete(m.kept, o.Run)
	case runs.WriteOwn:
		m.write(fileName{runs.OwnFile, o.Run}, o.Own)
	case runs.WriteAnswer:
		m.write(fileName{o.File, o.Run}, o.Answer)
	case runs.WriteCancelled:
		m.write(fileName{runs.CancelledFile, o.Tombstone.Run}, o.Tombstone)
	case runs.Remove:
		m.onDisk(func() { delete(m.files, fileName{o.File, o.Run}) })
	case runs.Reply:
		f := m.tickets[o.Ticket]
		delete(m.tickets, o.Ticket)
		if f != nil {
			f(o.Refusal)
		} else if o.Ticket > 0 { // else nobody has asked: its manifest has expired
			w.fail("%s: command %d is answered twice", m.id, o.Ticket)
		}
	case runs.Note:
		w.say("%s: run %d: %s", m.id, w.byID[o.Run].n, o.Text)
	}
}

// later has something happen to a member in this life.
func (m *member) later(d time.Duration, do func()) {
	life := m.life
	m.w.after(d, func() {
		if m.life == life {
			do()
		}
	})
}

// onDisk does something to the disk, after all before.
func (m *member) onDisk(do func()) {
	m.busy = max(m.busy, m.w.now) + time.Millisecond + m.w.some(80*time.Millisecond)
	m.later(m.busy-m.w.now, do)
}

func (m *member) write(name fileName, content any) {
	m.onDisk(func() {
		trouble := ""
		if m.full {
			trouble = "the disk is full"
			m.w.byID[name.run].unkept = m.w.byID[name.run].unkept || name.kind == runs.AnswerFile
			m.trouble[name] = true
		} else {
			m.w.wrote(m, name, content)
			m.w.byID[name.run].wrote(m, name, content)
			m.files[name], m.dates[name] = content, m.clock().Round(0)
			delete(m.trouble, name)
			if m.w.cut(m) {
				return
			}
		}
		m.input(m.core.Written(m.clock(), name.kind, name.run, trouble))
	})
}

// command gives a command; done is called with its end.
func (m *member) command(f func(c *runs.Core, t runs.Ticket) []runs.Order, done func(*runs.Refusal)) {
	m.ticket++
	m.tickets[m.ticket] = done
	m.input(f(m.core, m.ticket))
}

// tellAll is gossip.
func (m *member) tellAll(f func(to *member) []runs.Order) {
	for _, o := range m.w.members {
		if o != m {
			m.w.send(m, o, func() { o.input(f(o)) })
		}
	}
}

func (m *member) hearTombstone(t *runs.Tombstone) []runs.Order {
	if p := m.w.byID[t.Run]; p.manifest.Owner == t.Author && t.Reason.Final() {
		m.finals[t.Run] = true
	}
	return m.core.Buried(m.clock(), t)
}

// question asks after a run.
func (m *member) question(id job.RunID, whom runs.PeerID, full bool, done func(*runs.Told)) {
	o := m.w.member(whom)
	ask(m.w, m, o, func() *runs.Knowledge {
		k := o.core.Knows(id, m.id, full)
		if _, there := o.core.Run(id); !there && k.Tombstone == nil && !full {
			o.input(o.core.Announced(o.clock(), id, m.id))
		}
		return &k
	}, func(k *runs.Knowledge) {
		t := &runs.Told{Run: id, From: whom, Failed: k == nil}
		if k != nil {
			t.Tombstone, t.Claim, t.Over, t.Led, t.Known = k.Tombstone, k.Claim, k.Over, k.Led, k.Known
			t.Roster, t.RosterAge = k.Roster, k.RosterAge
			if k.Manifest != nil || k.Held {
				t.Manifest, t.Unfit = m.w.byID[id].manifest, m.library.unfit(m.w.byID[id])
			}
			if s := t.Tombstone; s != nil && s.Author == m.w.byID[id].manifest.Owner && s.Reason.Final() {
				m.finals[id] = true
			}
		}
		done(t)
	})
}

func (m *member) fetchAnswer(o runs.FetchAnswer, from int) {
	w := m.w
	if from == len(o.From) {
		m.input(m.core.AnswerFetched(m.clock(), &o.Claim, runs.Outcome{}, "nobody has it"))
		return
	}
	whom := w.member(o.From[from])
	ask(w, m, whom, func() *runs.Outcome {
		kind := whom.core.Holds(o.Claim.Run, o.Claim.Hash)
		if a, ok := whom.files[fileName{kind, o.Claim.Run}].(*runs.Answer); ok && a.Outcome.Hash == o.Claim.Hash {
			return &a.Outcome
		}
		if i, _ := whom.core.Run(o.Claim.Run); i.Unsaved != nil && !i.Mine && i.Unsaved.Hash == o.Claim.Hash {
			return i.Unsaved
		}
		return &runs.Outcome{}
	}, func(out *runs.Outcome) {
		if out == nil || out.Bytes == nil {
			m.fetchAnswer(o, from+1)
			return
		}
		m.input(m.core.AnswerFetched(m.clock(), &o.Claim, *out, ""))
	})
}

func (m *member) keepAt(o runs.KeepAt) {
	w, to := m.w, m.w.member(o.Peer)
	life, over := m.life, false
	end := func(kept bool) {
		if !over && m.life == life {
			over = true
			m.input(m.core.KeptAt(m.clock(), o.Run, kept))
		}
	}
	w.after(exchangeTime, func() { end(false) })
	w.send(m, to, func() {
		if to.core.MayKeep(o.Answer.Claim, int64(len(o.Answer.Outcome.Bytes))) != "" {
			w.send(to, m, func() { end(false) })
			return
		}
		to.command(func(c *runs.Core, t runs.Ticket) []runs.Order {
			return c.Keep(to.clock(), t, o.Answer.Claim, o.Answer.Outcome, 1, 1)
		}, func(no *runs.Refusal) { w.send(to, m, func() { end(no == nil) }) })
	})
}

// meet looks who is there, and exchanges what there is to tell with those who were not a moment ago.
func (m *member) meet() {
	w := m.w
	for _, o := range w.members {
		if o == m {
			continue
		}
		if !w.connected(m, o) {
			m.met[o.i] = false
			continue
		}
		m.seen[o.i] = w.now
		if m.met[o.i] {
			continue
		}
		m.met[o.i] = true
		m.tell(o)
	}
}

// tell is one side of a meeting.
func (m *member) tell(o *member) {
	going, over, claims := m.core.InProgress(64), m.core.OwnTombstones(), m.core.ClaimsFor(o.id)
	m.w.send(m, o, func() {
		for _, s := range over {
			o.input(o.hearTombstone(s))
		}
		for i := range claims {
			o.input(o.core.Claimed(o.clock(), &claims[i], m.id))
		}
		for _, id := range going {
			o.input(o.core.Announced(o.clock(), id, m.id))
		}
	})
}
