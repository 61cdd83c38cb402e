package peer

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/gateway"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// A sharing is the way in for visitors' tabs: it is opened by the first command that wants a link.
type sharing struct {
	*base.Base
	visitors *visitors
	changed  func() // where it is
	dist     fs.FS  // what the gateway serves; see gateway.Config

	mu     sync.Mutex
	server *gateway.Server
	asked  control.Sharing // what it was opened for
	served chan struct{}   // closed when it serves no more
}

const (
	// defaultLinkLife is how long a link is good, and maxLinkLife the longest.
	defaultLinkLife = 24 * time.Hour
	maxLinkLife     = 30 * 24 * time.Hour
	// gatewayPatience is how long requests in progress get when the gateway is closed.
	gatewayPatience = 2 * time.Second
)

// welcome makes the parts of a peer that visitors meet.
func welcome(p *Peer, vouch *vouching.Border) {
	p.visitors = &visitors{Base: p.Base, self: p.host.ID(), host: p.host, runs: p.runs, vouch: vouch,
		modules: p.modules, dist: p.cfg.Visitors,
		called:  func(id peer.ID) string { return p.reporter.nameOf(id) }, // it is made later
		changed: p.membersChanged, guests: map[steal.PeerID]*guest{}, known: map[steal.PeerID]peer.ID{}}
	p.visitors.linkTo = func(id peer.ID) ma.Multiaddr { return p.meetings.linkTo(id) }
	p.sharing = &sharing{Base: p.Base, visitors: p.visitors, dist: p.cfg.Visitors, changed: p.card.tellAnew}
	p.traffic.guests, p.traffic.voice, p.swarm.guests = p.visitors, p.voice, p.visitors.taking
}

// share makes a link, and opens the gateway if that has not been done.
func (x *sharing) share(a control.Sharing) (control.Shared, error) {
	if a.Stop {
		return control.Shared{}, x.stop(a)
	}
	life := time.Duration(a.Seconds) * time.Second
	life = cmp.Or(life, defaultLinkLife)
	if life < time.Second || life > maxLinkLife {
		return control.Shared{}, control.Errorf(control.ErrBadInput, "a link is good for 1s to %v", maxLinkLife)
	}
	run, err := x.runOf(a.Run)
	if err != nil {
		return control.Shared{}, err
	}
	s, opened, err := x.open(a)
	if err != nil {
		return control.Shared{}, err
	}
	if opened {
		x.changed()
	}
	ticket, err := x.visitors.ticket(run, life, s.Origin())
	if err != nil {
		return control.Shared{}, err
	}
	return control.Shared{Link: s.Link(ticket), Expires: x.Now().Add(life).UTC()}, nil
}

// runOf is the run that a link is to be for, if browsers can take part in it.
func (x *sharing) runOf(text string) (id job.RunID, err error) {
	apps, err := gateway.Apps(x.dist)
	if err != nil {
		return id, control.Errorf(control.ErrRefused, "%v", err)
	}
	if text == "" {
		return id, nil
	}
	id, ok := job.ParseRunID(plain.Clip(text))
	if !ok {
		return id, control.Errorf(control.ErrBadInput, "%q is no name of a run", plain.Clip(text))
	}
	info, r, known := x.visitors.runs.info(id)
	switch m := info.Manifest; {
	case known && info.State.Ended() && info.State != runs.StateRefused:
		return id, control.Errorf(control.ErrRefused, "run %s is %s: there is nothing to help with", id, info.State)
	case !known || r == nil || r.final != nil:
		return id, control.Errorf(control.ErrNotFound, "this peer takes no part in run %s: it must, to have "+
			"visitors help with it", id)
	case m.Entry != module.Func && apps[m.App] != hexVersion(m.Version):
		return id, control.Errorf(control.ErrRefused, "the program for browsers has %s in another version than the run, "+
			"or not at all: build both from the same sources", m.App)
	case !x.visitors.mayHelp(m):
		return id, control.Errorf(control.ErrRefused, "run %s is verified, and another peer's: browsers help with it "+
			"by a link of its owner's only", id)
	}
	return id, nil
}

// hexVersion is a version as gateway.Apps has it.
func hexVersion(v string) string { return hex.EncodeToString([]byte(v)) }

// at is where the gateway is; "": there is none.
func (x *sharing) at() statement.Origin {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.listens() {
		return ""
	}
	return x.server.Origin()
}

// listens says whether there is a gateway that has not ended by itself. The mutex is held.
func (x *sharing) listens() bool {
	if x.server == nil {
		return false
	}
	select {
	case <-x.served:
		return false
	default:
		return true
	}
}

// open opens the gateway, if it is not.
func (x *sharing) open(a control.Sharing) (_ *gateway.Server, opened bool, _ error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a.Run, a.Seconds = "", 0
	if x.listens() {
		if a != x.asked && a != (control.Sharing{}) {
			return nil, false, control.Errorf(control.ErrRefused, "the gateway listens on %s already: leave the address out, "+
				"or start the daemon again", cmp.Or(x.asked.Listen, gateway.DefaultListen))
		}
		return x.server, false, nil
	}
	x.end() // it has ended by itself, but for the visits
	s, err := gateway.Open(gateway.Config{House: x.visitors, Listen: a.Listen, URL: a.URL, CertFile: a.Cert,
		KeyFile: a.Key, Dist: x.dist, Log: x.Log})
	if errors.Is(err, gateway.ErrConfig) {
		return nil, false, control.Errorf(control.ErrBadInput, "%v", err)
	}
	if err != nil {
		return nil, false, control.Errorf(control.ErrUnavailable, "%v", err)
	}
	x.server, x.asked, x.served = s, a, make(chan struct{})
	go func() {
		defer close(x.served)
		if err := s.Serve(); err != nil {
			x.Log.Error("the gateway for visitors has ended", "error", err)
		}
	}()
	return s, true, nil
}

// stop closes the gateway because a command says so.
func (x *sharing) stop(a control.Sharing) error {
	if a != (control.Sharing{Stop: true}) {
		return control.Errorf(control.ErrBadInput, "who stops sharing asks for no link")
	}
	if !x.close() {
		return control.Errorf(control.ErrNotFound, "there is no page to close: nothing is shared with browsers")
	}
	x.changed()
	return nil
}

// close ends the gateway, and with it all visits; false if there is none.
func (x *sharing) close() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.end()
}

// end is close; the mutex is held.
func (x *sharing) end() bool {
	if x.server == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), gatewayPatience)
	defer cancel()
	_ = x.server.Close(ctx)
	<-x.served
	x.server = nil
	return true
}
