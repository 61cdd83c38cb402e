package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/gorilla/websocket"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/peer/gateway"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// A visitor says what a tab says, and computes nothing.
type visitor struct {
	conn     *websocket.Conn
	member   steal.Address
	self     steal.Address
	work     *tab.Work
	asked    steal.RequestID
	beats    uint64
	seen     uint64
	held     []steal.Handle
	restarts bool // it was given a job that was given away before
}

// tabDist is where package gateway has the program for browsers, seen from here.
const tabDist = "../../peer/gateway/dist"

// visitorApps are the applications that browsers have, as the gateway of this tree serves them.
func visitorApps() (list []statement.App, err error) {
	names, err := gateway.Apps(os.DirFS(tabDist))
	for name, text := range names {
		version, bad := hex.DecodeString(text)
		if bad != nil || len(version) != len(statement.Version{}) {
			return nil, fmt.Errorf("%s has the version %q", name, text)
		}
		list = append(list, statement.App{Name: name, Version: statement.Version(version)})
	}
	return list, err
}

// comeIn opens a link as a page does, from one of this machine's own addresses, and waits for work.
func comeIn(ctx context.Context, link string, apps []statement.App, from byte) (*visitor, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, err
	}
	ticket, err := base64.RawURLEncoding.DecodeString(u.Fragment)
	if err != nil {
		return nil, err
	}
	at := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
	conn, reply, err := (&websocket.Dialer{NetDialContext: at.DialContext}).DialContext(ctx, "ws://"+u.Host+"/peer",
		http.Header{"Origin": {"http://" + u.Host}})
	if err != nil {
		return nil, err
	}
	_ = reply.Body.Close()
	v := &visitor{conn: conn}
	if err := v.enter(ticket, apps); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return v, nil
}

func (v *visitor) enter(ticket []byte, apps []statement.App) error {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return err
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return err
	}
	f, err := v.hear()
	if err != nil || f.Greeting == nil {
		return fmt.Errorf("it is not greeted: %w", err)
	}
	visit := statement.Visit{Member: f.Greeting.Member, Challenge: f.Greeting.Challenge, Ticket: ticket, Apps: apps}
	b, err := visit.Sign(key)
	if err == nil {
		err = v.say(&tab.Frame{Visit: b})
	}
	for err == nil && v.work == nil {
		if f, err = v.hear(); err == nil && f.Over != nil {
			err = fmt.Errorf("the gateway says: %s", f.Over.Why)
		}
		if err == nil {
			v.work = f.Work
		}
	}
	if err == nil {
		v.member.Peer = steal.PeerID(visit.Member)
		v.self = steal.Address{Peer: steal.PeerID(id.String()), Inc: v.work.Self}
	}
	return err
}

func (v *visitor) say(f *tab.Frame) error {
	b, err := f.Encode(tab.MaxFromTab)
	if err == nil {
		err = v.conn.WriteMessage(websocket.BinaryMessage, b)
	}
	return err
}

// hear gives the next frame, and notes what it says of the member and of jobs.
func (v *visitor) hear() (*tab.Frame, error) {
	_, b, err := v.conn.ReadMessage()
	if err != nil {
		return nil, err
	}
	f, err := tab.Decode(b)
	if err != nil || f.Steal == nil {
		return f, err
	}
	m := f.Steal
	v.member.Inc = m.From.Inc
	switch {
	case m.Heartbeat != nil:
		v.seen = m.Heartbeat.Seq
	case m.Abort != nil:
		v.held = slices.DeleteFunc(v.held, func(h steal.Handle) bool { return slices.Contains(m.Abort.Handles, h) })
	case m.Reply != nil:
		for i := range m.Reply.Jobs {
			v.held = append(v.held, m.Reply.Jobs[i].Handle)
			v.restarts = v.restarts || m.Reply.Jobs[i].Job.Restarted
		}
	}
	return f, nil
}

func (v *visitor) tell(m steal.Message) error {
	m.Run, m.From, m.To = v.work.Run, v.self, v.member
	return v.say(&tab.Frame{Steal: &m})
}

// beat is a sign of life, with what it holds.
func (v *visitor) beat() error {
	v.beats++
	return v.tell(steal.Message{Heartbeat: &steal.Heartbeat{Seq: v.beats, Held: slices.Clone(v.held), Seen: v.seen,
		Every: time.Second}})
}

// ask asks for so many jobs, and gives the number of the question.
func (v *visitor) ask(jobs int) (steal.RequestID, error) {
	v.asked++
	return v.asked, v.tell(steal.Message{Request: &steal.StealRequest{ID: v.asked, Max: jobs}})
}

// steal asks for so many jobs and waits for the answer: how long, and how many it got.
func (v *visitor) steal(jobs int) (took time.Duration, got int, err error) {
	begun := time.Now()
	id, err := v.ask(jobs)
	for err == nil {
		var f *tab.Frame
		if f, err = v.hear(); err == nil && f.Steal != nil && f.Steal.Reply != nil && f.Steal.Reply.ID == id {
			return time.Since(begun), len(f.Steal.Reply.Jobs), nil
		}
	}
	return 0, 0, err
}

// live goes on as a tab that finds little: a sign of life each second, and a steal whose job it gives back.
func (v *visitor) live(ctx context.Context) error {
	gone := make(chan error, 1)
	back := make(chan []steal.Handle, 16)
	go func() {
		for {
			f, err := v.hear()
			if err != nil {
				gone <- err
				return
			}
			if f.Steal == nil || f.Steal.Reply == nil || len(f.Steal.Reply.Jobs) == 0 {
				continue
			}
			select {
			case back <- slices.Clone(v.held):
				v.held = nil
			default: // the next one has them, too
			}
		}
	}()
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case err = <-gone:
		case list := <-back:
			err = v.tell(steal.Message{Return: &steal.Return{Handles: list}})
		case <-every.C:
			v.beats++
			err = v.tell(steal.Message{Heartbeat: &steal.Heartbeat{Seq: v.beats, Every: time.Second}})
			if err == nil {
				_, err = v.ask(1)
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}
