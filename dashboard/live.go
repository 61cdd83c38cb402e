package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/internal/report"
)

const (
	pingEvery   = 20 * time.Second
	aliveFor    = 60 * time.Second // without a sign of life of the client
	maxEpoch    = 64               // bytes
	closeWithin = time.Second
)

// A Subscription is all that a client may say: what it wants from now on, none for nothing, and what it has
// of it already.
type Subscription struct {
	Topics []topic `json:"topics"`
	Epoch  string  `json:"epoch,omitempty"` // of the last change it was sent
	After  uint64  `json:"after,omitempty"` // the number of that
}

func (s *Subscription) check() error {
	if len(s.Topics) > len(topics) || len(s.Epoch) > maxEpoch {
		return fmt.Errorf("%w: a subscription is for at most %d topics", report.ErrBadInput, len(topics))
	}
	for _, t := range s.Topics {
		if !slices.Contains(topics[:], t) {
			return fmt.Errorf("%w: %q is no topic", report.ErrBadInput, t)
		}
	}
	return nil
}

// live serves a websocket.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	_, byToken := s.sessions.levelOf(r)
	if !isOrigin(r) && (!byToken || len(r.Header.Values("Origin")) > 0) {
		refuse(w, http.StatusForbidden, "refused", "another site sent this request")
		return
	}
	watcher := s.hub.add()
	if watcher == nil {
		refuse(w, http.StatusServiceUnavailable, "unavailable", fmt.Sprintf("%d pages are open already", maxWatchers))
		return
	}
	defer s.hub.remove(watcher)
	s.active.Add(1)
	defer s.active.Done()
	// it was checked
	upgrader := websocket.Upgrader{ReadBufferSize: 1 << 10, WriteBufferSize: 4 << 10,
		CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	// One that reads slowly, or not at all, does not hold up the end.
	defer context.AfterFunc(s.ending, func() { time.AfterFunc(closeWithin, func() { conn.Close() }) })()
	ctx, cancel := context.WithCancel(s.ending)
	c := &client{hub: s.hub, watcher: watcher, conn: conn, subscribed: make(chan Subscription, 1)}
	s.active.Go(func() {
		defer cancel()
		c.read()
	})
	c.write(ctx)
	cancel()
	conn.Close()
}

// A client is one websocket. Its reader tells its writer the latest subscription; the writer alone knows how
// far it has read.
type client struct {
	hub        *hub
	watcher    *watcher
	conn       *websocket.Conn
	subscribed chan Subscription

	wanted []topic
	number uint64
	all    bool // it has nothing of what is wanted
	asked  bool // it waits for a first answer
}

// read takes subscriptions until the client goes, or says anything else.
func (c *client) read() {
	c.conn.SetReadLimit(maxBody)
	alive := func(string) error { return c.conn.SetReadDeadline(time.Now().Add(aliveFor)) }
	c.conn.SetPongHandler(alive)
	for alive("") == nil {
		kind, text, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		var s Subscription
		if err = strictly(text, &s); err == nil {
			err = s.check()
		}
		if err != nil || kind != websocket.TextMessage {
			c.bye(websocket.ClosePolicyViolation, "this takes subscriptions only")
			return
		}
		select {
		case <-c.subscribed: // an earlier one that was not seen
		default:
		}
		c.subscribed <- s
	}
}

// write sends what is new whenever it can, until ctx ends or the client takes nothing any more.
func (c *client) write(ctx context.Context) {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			c.bye(websocket.CloseGoingAway, "the daemon is ending")
			return
		case s := <-c.subscribed:
			c.wanted, c.number, c.asked = s.Topics, s.After, true
			c.all = s.Epoch != c.hub.epoch
			c.hub.subscribe(c.watcher, len(s.Topics) > 0)
			err = c.send()
		case <-c.watcher.wake:
			err = c.send()
		case <-ping.C:
			err = c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWithin))
		}
		if err != nil {
			return
		}
	}
}

// send sends what is newer than the client has, or tells one that has just asked that nothing is.
func (c *client) send() error {
	if len(c.wanted) == 0 || !c.hub.isFresh() {
		return nil
	}
	change := c.hub.store.since(c.number, c.all, c.wanted)
	if change.empty() && !c.asked {
		return nil
	}
	change.Epoch = c.hub.epoch
	c.number, c.all, c.asked = change.Number, false, false
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return c.conn.WriteJSON(change)
}

// bye closes the websocket with a reason.
func (c *client) bye(code int, why string) {
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why),
		time.Now().Add(closeWithin))
}
