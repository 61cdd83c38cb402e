package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/gateway"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// visitors are the browser tabs that lend this peer their cores: guests of its sessions (steal.Member), whom no other
// peer knows. Each takes part in one run at a time, which is chosen here. A tab is a stranger:
//
//   - What it computes carries its signature. This peer signs besides, for those who do not know the tab: so whoever
//     has brought a wrong outcome into the swarm can be named, and it is this peer that let it in.
//   - It may say what a thief and a victim say, and nothing that is for lost work or for third peers.
//   - The jobs that it gives must descend from jobs that it was given, and say nothing of others' orphans.
//   - What it shares it says to this peer alone, for which it is a guest (package sharedobj).
//   - A module is sent to a tab whose ticket gives to a run of it, and to nobody else; it takes part when it says that
//     it can.
//   - In a run that is verified it takes part if the run is this peer's own: what it computes is compared as what any
//     stranger has, a tab counts as let in by whoever has signed its ticket, and it gives nothing on. One that has lied
//     is put out of the house; it may come again, under another name.
//
// All that it tells goes to the session of its run, in order; a session that is behind holds up this one tab.
type visitors struct {
	*base.Base
	self    peer.ID
	called  func(peer.ID) string // what a peer calls itself; "": that is not known
	host    *host.Host
	runs    *conductor
	vouch   *vouching.Border
	modules *modules
	dist    fs.FS                      // what the gateway serves
	changed func()                     // who takes part in a run
	linkTo  func(peer.ID) ma.Multiaddr // where a connected peer is; nil if it has gone

	mu     sync.Mutex
	guests map[steal.PeerID]*guest
	known  map[steal.PeerID]peer.ID // guests, and who was one not long ago: by whose ticket
}

// maxGuests bounds the tabs of one member; and some times as many are remembered when they have gone.
const (
	maxGuests = 1024
	maxKnown  = 8 * maxGuests
)

// maxGuestJobs bounds the jobs that are remembered to be with a tab: more than may be out with it.
const maxGuestJobs = 8192

// tellBurst is how often a tab may say at once that it rests or is ready; then it may once a second.
const tellBurst = 4

// A guest is one tab.
type guest struct {
	of    *visitors
	id    steal.PeerID
	visit *statement.SignedVisit
	// of its ticket
	only   job.RunID // zero: any run
	issuer peer.ID
	until  int64 // a Unix time

	send func(*tab.Frame) bool
	pace *rate.Limiter // of what it says about itself: runs are dealt out anew for it

	// the mutex of visitors guards the rest
	run     job.RunID // zero: none
	life    steal.Incarnation
	ready   bool // it takes part in the run: it may have to fetch a module before
	hoards  bool // it gives nothing on
	resting bool
	out     bool                        // it has lied
	cannot  map[job.RunID]bool          // take part in these
	asked   map[verify.Hash]chan []byte // the nodes that it is to show, by what it has claimed
	has     map[steal.Handle]job.Path   // the jobs that it was given
}

// errGuest is why a tab is turned away.
func errGuest(format string, args ...any) error {
	return control.Errorf(control.ErrRefused, format, args...)
}

// Ticket signs that whoever has it may lend the swarm cores for a run, or for all that a gateway takes part in if it is
// zero, for so long, from a page of this peer's.
func (v *visitors) ticket(run job.RunID, life time.Duration, page statement.Origin) ([]byte, error) {
	t := statement.Ticket{Swarm: v.host.SwarmName(), Run: run, Expires: v.Now().Add(life).Unix(), Page: page}
	s, err := t.Sign(v.vouch.Key)
	if err != nil {
		return nil, err
	}
	return s.Bytes, nil
}

// Member is the ID of this peer: see gateway.House.
func (v *visitors) Member() string { return v.self.String() }

// Enter lets a tab in that has answered a greeting: see gateway.House.
func (v *visitors) Enter(challenge [32]byte, word []byte, send func(*tab.Frame) bool) (gateway.Visitor, error) {
	visit, err := statement.OpenVisit(word)
	if err != nil {
		return nil, err
	}
	t, err := v.open(visit.Ticket)
	if err != nil {
		return nil, err
	}
	switch {
	case visit.Member != v.self.String() || visit.Challenge != challenge:
		return nil, errGuest("the visit is not for this greeting")
	case visit.Visitor == v.self || v.runs.swarm.members.Get(visit.Visitor) != nil:
		return nil, errGuest("a member needs no ticket")
	case t.Issuer == v.self && v.outdated(visit.Apps):
		return nil, errGuest("the page is of another version of the program than its member by now: load it again")
	}
	g := &guest{of: v, id: steal.PeerID(visit.Visitor.String()), visit: visit, only: t.Run, issuer: t.Issuer,
		until: t.Expires, send: send, pace: rate.NewLimiter(1, tellBurst), asked: map[verify.Hash]chan []byte{}}
	v.mu.Lock()
	switch {
	case v.guests[g.id] != nil:
		err = errGuest("this tab is here already")
	case len(v.guests) >= maxGuests:
		err = errGuest("there are as many visitors as there may be: try again later")
	default:
		if len(v.known) >= maxKnown {
			maps.DeleteFunc(v.known, func(id steal.PeerID, _ peer.ID) bool { return v.guests[id] == nil })
		}
		v.guests[g.id], v.known[g.id] = g, g.issuer
	}
	v.mu.Unlock()
	if err != nil {
		return nil, err
	}
	v.assign()
	return g, nil
}

// open checks a ticket.
func (v *visitors) open(ticket []byte) (*statement.SignedTicket, error) {
	t, err := statement.OpenTicket(ticket)
	switch {
	case err != nil:
		return nil, err
	case t.Swarm != v.host.SwarmName():
		return nil, errGuest("the link is of another swarm")
	case v.Now().Unix() > t.Expires:
		return nil, errGuest(expired)
	case t.Issuer == v.self:
		return t, nil
	case t.Expires > v.Now().Add(maxLinkLife+time.Hour).Unix(): // clocks differ
		return nil, errGuest("the link is good for longer than any may be")
	case !v.host.Roll().StillMember(t.Issuer):
		return nil, errGuest("the link is not from a member that this one knows")
	}
	return t, nil
}

const (
	expired  = "the link has expired: ask for a new one"
	disowned = "whoever has made the link is out of the swarm"
)

// expire puts out the tabs whose link is good no more. One for which there is never anything to do would stay for ever
// else; as it is, a place is taken for no longer than whoever made the link has said, and is not put out.
func (v *visitors) expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, g := range v.guests {
		why := ""
		switch {
		case v.Now().Unix() > g.until:
			why = expired
		case v.host.Roll().Outcast(g.issuer):
			why = disowned
		default:
			continue
		}
		g.send(&tab.Frame{Over: &tab.Over{Why: why}}) // which ends the connection; then it has Left
	}
}

// About says what a ticket is for: see gateway.House.
func (v *visitors) About(ticket []byte) (gateway.About, error) {
	t, err := v.open(ticket)
	if err != nil {
		return gateway.About{}, err
	}
	a := gateway.About{Member: v.nameOf(v.runs.self), Expires: time.Unix(t.Expires, 0).UTC()}
	if t.Run == (job.RunID{}) {
		return a, nil
	}
	info, r, known := v.runs.info(t.Run)
	if !known || r == nil || r.final != nil {
		return a, errGuest("the run that it is for has ended")
	}
	a.Title = forPeople(cmp.Or(info.Manifest.Title, info.Manifest.App))
	a.Owner = v.nameOf(info.Manifest.Owner)
	return a, nil
}

// assign gives each tab without work a run that goes on, and ends the part of those whose run has ended.
func (v *visitors) assign() {
	parts := v.runs.inProgress()
	slices.SortFunc(parts, func(a, b *part) int {
		return cmp.Or(a.began.Compare(b.began), bytes.Compare(a.manifest.Run[:], b.manifest.Run[:]))
	})
	v.mu.Lock()
	changed := false
	for _, g := range v.guests {
		goesOn := func(r *part) bool { return r.manifest.Run == g.run }
		if g.run != (job.RunID{}) && !slices.ContainsFunc(parts, goesOn) {
			g.send(&tab.Frame{Over: &tab.Over{Run: g.run, Why: "the run has ended"}})
			g.run, g.has, g.ready, changed = job.RunID{}, nil, false, true
		}
		if g.run != (job.RunID{}) || g.resting {
			continue
		}
		for _, r := range parts {
			if v.fits(g, r) && g.begin(r) {
				changed = true
				break
			}
		}
	}
	v.mu.Unlock()
	if changed {
		v.changed()
	}
}

// fits says whether a tab can take part in a run.
func (v *visitors) fits(g *guest, r *part) bool {
	m := r.manifest
	switch {
	case g.only != (job.RunID{}) && g.only != m.Run, !v.mayHelp(m), g.out, g.cannot[m.Run]:
		return false
	case m.Entry == module.Func:
		return slices.Contains(g.visit.Apps,
			statement.App{Name: consentApp, Version: consentVersion(ModulesMembers)})
	}
	return slices.ContainsFunc(g.visit.Apps, func(a statement.App) bool {
		return a.Name == m.App && string(a.Version[:]) == m.Version
	})
}

// mayHelp says whether tabs can: where a run is verified its owner alone compares what they bring.
func (v *visitors) mayHelp(m *runs.Manifest) bool {
	return m.Verify == "" || m.Owner == peerName(v.self)
}

// begin has a tab take part. The mutex is held.
func (g *guest) begin(r *part) bool {
	g.life++
	m := r.manifest
	g.hoards = m.Verify != ""
	w := &tab.Work{Run: m.Run, Self: g.life, Hoard: g.hoards, App: forPeople(m.App), Title: forPeople(m.Title),
		Owner: g.of.nameOf(m.Owner)}
	if m.Entry == module.Func {
		w.Module = []byte(m.Version)
	}
	if !g.send(&tab.Frame{Work: w}) {
		return false
	}
	g.ready = w.Module == nil
	g.run, g.has = m.Run, map[steal.Handle]job.Path{}
	return true
}

func forPeople(s string) string { return plain.Name(s[:min(len(s), tab.MaxText)]) }

// nameOf is what a peer is called, for people.
func (v *visitors) nameOf(name runs.PeerID) string {
	id, _ := peer.Decode(string(name)) // of what is none nothing is known
	return forPeople(cmp.Or(v.called(id), string(name)))
}

// taking lists the tabs that take part in a run.
func (v *visitors) taking(run job.RunID) (ids []steal.PeerID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, g := range v.guests {
		if g.takesPart(run) {
			ids = append(ids, id)
		}
	}
	return ids
}

// takesPart says whether it does in a run. The mutex is held.
func (g *guest) takesPart(run job.RunID) bool { return g.ready && g.run == run }

// carry sends a message of a session, if it is to a tab. It does not block.
func (v *visitors) carry(m *steal.Message) (here, sent bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := v.guests[m.To.Peer]
	if g == nil {
		return false, false
	}
	if !g.takesPart(m.Run) || len(g.has) > maxGuestJobs {
		return true, false
	}
	switch {
	case m.Reply != nil:
		for i := range m.Reply.Jobs {
			g.has[m.Reply.Jobs[i].Handle] = m.Reply.Jobs[i].Job.Path
		}
	case m.Ack != nil:
		delete(g.has, m.Ack.Handle)
	case m.Abort != nil:
		for _, h := range m.Abort.Handles {
			delete(g.has, h)
		}
	}
	sent = g.send(&tab.Frame{Steal: m})
	if !sent && m.Reply != nil { // they go to somebody else
		for i := range m.Reply.Jobs {
			delete(g.has, m.Reply.Jobs[i].Handle)
		}
	}
	return true, sent
}

// errTab is what a correct tab does not send.
var errTab = errors.New("a frame that no tab sends")

// Received takes a frame of the tab in. It may block, and is for one goroutine. An error ends the connection.
func (g *guest) Received(f *tab.Frame) error {
	g.of.mu.Lock()
	out := g.out
	g.of.mu.Unlock()
	if out {
		return errTab
	}
	if f.Rest != nil || f.Ready != nil {
		_ = g.pace.Wait(context.Background()) // a second at most, as nobody else waits for it
	}
	switch {
	case f.Rest != nil:
		g.rest(f.Rest.Resting)
		return nil
	case f.Steal != nil:
		return g.steal(f.Steal)
	case f.Shared != nil:
		return g.shared(f.Shared)
	case f.Ready != nil:
		g.isReady(f.Ready)
		return nil
	case f.Show != nil:
		g.shows(f.Show)
		return nil
	}
	return errTab
}

// rest gives the tab no work, or some again.
func (g *guest) rest(resting bool) {
	g.of.mu.Lock()
	news := g.resting != resting
	g.resting = resting
	if news && resting {
		g.run, g.has, g.ready = job.RunID{}, nil, false
	}
	g.of.mu.Unlock()
	if news {
		g.of.changed()
		g.of.assign()
	}
}

// steal takes in a message of the protocol.
func (g *guest) steal(m *steal.Message) error {
	v := g.of
	if m.From.Peer != g.id || m.To.Peer != steal.PeerID(v.self.String()) {
		return fmt.Errorf("%w: it is from %.60s to %.60s", errTab, m.From.Peer, m.To.Peer)
	}
	switch m.Kind() {
	case steal.KindRequest, steal.KindReply, steal.KindReturn, steal.KindResult, steal.KindAck, steal.KindAbort,
		steal.KindHeartbeat, steal.KindHunger, steal.KindGoodbye:
	default:
		return fmt.Errorf("%w: a %s", errTab, m.Kind())
	}
	v.mu.Lock()
	here := g.takesPart(m.Run) && m.From.Inc == g.life
	if here {
		g.note(m)
	}
	v.mu.Unlock()
	s := v.runs.sessions.of(m.Run)
	if !here || s == nil {
		return nil // it is of a part that has ended
	}
	if m.Result != nil {
		v.vouch.ForGuest(m, g.visit.Visitor)
	}
	s.Received(m)
	return nil
}

// note takes down what the tab has no more, and takes out of a reply what it may not give. The mutex is held.
func (g *guest) note(m *steal.Message) {
	switch {
	case m.Result != nil:
		delete(g.has, m.Result.Handle)
	case m.Return != nil:
		for _, h := range m.Return.Handles {
			delete(g.has, h)
		}
	case m.Reply != nil:
		// What it was given may have been aborted meanwhile: that its children come all the same is no offence.
		m.Reply.Jobs = slices.DeleteFunc(m.Reply.Jobs, func(j steal.Grant) bool {
			for _, above := range g.has {
				if !g.hoards && len(j.Job.Path) > len(above) && slices.Equal(j.Job.Path[:len(above)], above) {
					return false
				}
			}
			return true
		})
		for i := range m.Reply.Jobs {
			m.Reply.Jobs[i].Orphans = nil
		}
	}
}

// expel puts out a tab that has lied. It says whether that was a tab of this peer's at all.
func (v *visitors) expel(id steal.PeerID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := v.guests[id]
	if g != nil && !g.out {
		g.out = true
		g.send(&tab.Frame{Over: &tab.Over{Why: "a result of yours was wrong"}})
	}
	return g != nil || v.known[id] != ""
}

// issuer is who has signed the ticket of a tab that is here, or was not long ago; "" if none is known of that name.
func (v *visitors) issuer(id steal.PeerID) peer.ID {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known[id]
}

// Left is called when the connection has ended, once: the tab is certainly gone.
func (g *guest) Left() {
	v := g.of
	v.mu.Lock()
	delete(v.guests, g.id)
	run, life := g.run, g.life
	g.run, g.ready = job.RunID{}, false
	v.mu.Unlock()
	if s := v.runs.sessions.of(run); s != nil {
		s.Received(&steal.Message{Run: run, From: steal.Address{Peer: g.id, Inc: life},
			To: steal.Address{Peer: steal.PeerID(v.self.String())}, Goodbye: &steal.Goodbye{}})
	}
	v.changed()
}
