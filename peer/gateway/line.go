package gateway

import (
	"crypto/rand"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/statement"
)

const (
	// helloWithin is how long a tab may take for its first frame.
	helloWithin = 20 * time.Second
	// pingEvery is how often a tab's browser is asked whether it is there, and goneAfter when it is believed not to
	// be. The browser answers also for a tab that computes: that one is silent in the steal protocol, where it is
	// noticed sooner. What a browser is asked its page does not see, so a tab is told as often.
	pingEvery = tab.StillEvery
	goneAfter = tab.GoneAfter
	// writeWithin is how long one frame may take to leave.
	writeWithin = 20 * time.Second
	// maxQueue bounds the bytes that wait for a tab; one frame may always wait.
	maxQueue = 4 << 20
)

// A line is the websocket of one tab: one goroutine reads, another one writes what is queued.
type line struct {
	conn *websocket.Conn

	mu    sync.Mutex
	queue [][]byte
	bytes int
	ended bool
	bell  chan struct{} // there is something to write, or the line has ended; room for one
}

// send queues a frame; false if it is not going to leave. It does not block. What puts the tab out is the last word,
// and goes before all that waits: the connection ends when that has left.
func (l *line) send(f *tab.Frame) bool {
	b, err := f.Encode(tab.MaxToTab)
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	last := f.Over != nil && f.Over.Out()
	switch {
	case l.ended:
		return false
	case last:
		l.ended, l.queue, l.bytes = true, nil, 0
	case len(l.queue) > 0 && l.bytes+len(b) > maxQueue:
		return false
	}
	l.queue = append(l.queue, b)
	l.bytes += len(b)
	l.ring()
	return true
}

func (l *line) ring() {
	select {
	case l.bell <- struct{}{}:
	default:
	}
}

// end has the writer stop. Of what waits nothing leaves but a last word.
func (l *line) end() {
	l.mu.Lock()
	if !l.ended {
		l.ended, l.queue = true, nil
	}
	l.mu.Unlock()
	l.ring()
}

// next takes out the frame that leaves next, and rings for the one after it; nil if none waits, and none will if the
// line has ended.
func (l *line) next() (b []byte, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		b, l.queue[0] = l.queue[0], nil
		l.queue, l.bytes = l.queue[1:], l.bytes-len(b)
		l.ring()
	}
	return b, l.ended
}

// write sends what is queued until the line ends. Then the reader's connection is of no use either.
func (l *line) write() {
	defer func() { _ = l.conn.Close() }()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case <-l.bell:
			b, ended := l.next()
			if b == nil && ended {
				return
			}
			_ = l.conn.SetWriteDeadline(time.Now().Add(writeWithin))
			if b != nil && l.conn.WriteMessage(websocket.BinaryMessage, b) != nil {
				l.end()
				return
			}
		case <-ping.C:
			_ = l.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWithin))
			l.send(&tab.Frame{Still: &tab.Still{}})
		}
	}
}

// read gives the next frame.
func (l *line) read() (*tab.Frame, error) {
	_, b, err := l.conn.ReadMessage()
	if err != nil {
		return nil, err
	}
	_ = l.conn.SetReadDeadline(time.Now().Add(goneAfter))
	return tab.Decode(b)
}

// talk serves a tab until its connection ends.
func (s *Server) talk(w http.ResponseWriter, r *http.Request) {
	who := s.visitor(r)
	if !s.tabs.enter(who, time.Now()) {
		http.Error(w, "there are as many tabs here as there may be, or this address has misbehaved: try again in a minute",
			http.StatusTooManyRequests)
		return
	}
	defer s.tabs.leave(who)
	up := websocket.Upgrader{HandshakeTimeout: writeWithin, Subprotocols: []string{tab.Subprotocol},
		CheckOrigin: func(r *http.Request) bool { return s.permitted(r, shown(r)) }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	l := &line{conn: conn, bell: make(chan struct{}, 1)}
	s.mu.Lock()
	closed := s.lines == nil
	if !closed {
		s.lines[l] = true
		s.active.Add(1)
	}
	s.mu.Unlock()
	if closed {
		_ = conn.Close()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.write()
	}()
	why := s.serve(l, who)
	s.log.Debug("a tab has gone", "from", who.Addr(), "why", why)
	l.end()
	<-done
	s.mu.Lock()
	delete(s.lines, l)
	s.mu.Unlock()
	s.active.Done()
}

// shown is the ticket that a page of another gateway shows as its second subprotocol: a header that no log has; nil if
// there is none.
func shown(r *http.Request) []byte {
	list := websocket.Subprotocols(r)
	if len(list) != 2 || list[0] != tab.Subprotocol {
		return nil
	}
	b, _ := decodeTicket(list[1])
	return b
}

// serve greets a tab, and gives the house what it sends.
func (s *Server) serve(l *line, who netip.Prefix) error {
	g := &tab.Greeting{Member: s.house.Member()}
	_, _ = rand.Read(g.Challenge[:]) // documented never to fail
	l.send(&tab.Frame{Greeting: g})
	l.conn.SetPingHandler(l.seldom())
	l.conn.SetReadLimit(statement.MaxVisit + wire.FrameHead + 64)
	_ = l.conn.SetReadDeadline(time.Now().Add(helloWithin))
	f, err := l.read()
	if err != nil {
		return s.blame(who, err)
	}
	visitor, err := s.house.Enter(g.Challenge, f.Visit, l.send)
	if err != nil {
		l.send(&tab.Frame{Over: &tab.Over{Why: tab.Text(err.Error())}})
		if s.hasTicket(f.Visit) {
			return err // its page is of an earlier version, or there is no room: it is a correct tab
		}
		return s.blame(who, err)
	}
	defer visitor.Left()
	l.conn.SetReadLimit(tab.MaxFromTab)
	l.conn.SetPongHandler(func(string) error { return l.conn.SetReadDeadline(time.Now().Add(goneAfter)) })
	for {
		f, err := l.read()
		if err == nil {
			err = visitor.Received(f)
		}
		if err != nil {
			return s.blame(who, err)
		}
	}
}

// seldom answers pings, one of those that come within a second: a browser sends hardly any.
func (l *line) seldom() func(ping string) error {
	var last time.Time
	return func(ping string) error {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			_ = l.conn.WriteControl(websocket.PongMessage, []byte(ping), now.Add(time.Second))
		}
		return nil
	}
}

// hasTicket says whether the word of a visitor has a ticket that is good here.
func (s *Server) hasTicket(word []byte) bool {
	visit, err := statement.OpenVisit(word)
	if err == nil {
		_, err = s.house.PageOf(visit.Ticket)
	}
	return err == nil
}

// blame notes an error that a correct tab does not cause.
func (s *Server) blame(who netip.Prefix, err error) error {
	if _, network := err.(interface{ Timeout() bool }); !network && !websocket.IsCloseError(err,
		websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseAbnormalClosure,
		websocket.CloseNoStatusReceived) {
		s.tabs.offended(who, time.Now())
	}
	return err
}
