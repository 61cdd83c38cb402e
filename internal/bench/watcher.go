package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/swarm"
)

// A watcher stands for an open page that shows a run's steal tree and timeline: it asks what the page asks,
// when the page does, and counts the bytes that come.
type watcher struct {
	base   string
	client *http.Client
	conn   *websocket.Conn
	bytes  atomic.Int64
	trees  chan map[string]json.RawMessage // the newest digests
	done   sync.WaitGroup
	copies map[string]*watchedRun
}

// A watchedRun is how far the copy of a run has got.
type watchedRun struct {
	growth   dashboard.Growth
	timeline dashboard.Timeline
}

// watch opens the page of a process's daemon.
func watch(ctx context.Context, p *swarm.Process) (*watcher, error) {
	link, err := p.Command(ctx, "dashboard", "--view")
	if err != nil {
		return nil, err
	}
	return watchLink(ctx, strings.TrimSpace(link))
}

// watchLink opens the page of a link.
func watchLink(ctx context.Context, link string) (*watcher, error) {
	at, err := url.Parse(link)
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	w := &watcher{
		base: "http://" + at.Host, client: &http.Client{Jar: jar}, trees: make(chan map[string]json.RawMessage, 1),
		copies: map[string]*watchedRun{},
	}
	if err := w.login(ctx, strings.TrimPrefix(at.Fragment, "login=")); err != nil {
		return nil, err
	}
	dialer := websocket.Dialer{Jar: jar}
	if w.conn, _, err = dialer.DialContext(ctx, "ws://"+at.Host+"/api/v1/live",
		http.Header{"Origin": {w.base}}); err != nil {
		return nil, err
	}
	wants := map[string][]string{"topics": {"status", "clusters", "peers", "runs", "trees", "flows", "notices",
		"trouble"}}
	if err := w.conn.WriteJSON(wants); err != nil {
		return nil, errors.Join(err, w.conn.Close())
	}
	w.done.Go(w.hear)
	w.done.Go(w.follow)
	return w, nil
}

// login turns the secret of a link into a session, of which the cookie is enough for looking.
func (w *watcher) login(ctx context.Context, token string) error {
	body := strings.NewReader(fmt.Sprintf("{%q: %q}", "token", token))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.base+"/api/v1/login", body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", w.base)
	reply, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("the login of a page: %s", reply.Status)
	}
	return nil
}

// close shuts the page.
func (w *watcher) close() error {
	err := w.conn.Close()
	w.done.Wait()
	return err
}

// hear reads the websocket. Digests that were not looked at yet are replaced by newer ones.
func (w *watcher) hear() {
	defer close(w.trees)
	for {
		_, text, err := w.conn.ReadMessage()
		if err != nil {
			return // closed
		}
		w.bytes.Add(int64(len(text)))
		var change struct {
			Set map[string]map[string]json.RawMessage
		}
		if json.Unmarshal(text, &change) != nil || len(change.Set["trees"]) == 0 {
			continue
		}
		select {
		case <-w.trees:
		default:
		}
		w.trees <- change.Set["trees"]
	}
}

// follow keeps the copies of trees and timelines true.
func (w *watcher) follow() {
	for digests := range w.trees {
		for run := range digests {
			c := w.copies[run]
			if c == nil {
				c = &watchedRun{}
				w.copies[run] = c
			}
			for more := true; more; more = c.growth.More {
				last := c.growth
				c.growth = dashboard.Growth{}
				if w.read(fmt.Sprintf("/runs/%s/segments?epoch=%s&from=%d&to=%d", run, last.Epoch, last.From,
					last.To), &c.growth) != nil {
					c.growth = dashboard.Growth{Epoch: last.Epoch, From: last.From, To: last.To}
				}
			}
			last := c.timeline
			c.timeline = dashboard.Timeline{}
			if w.read(fmt.Sprintf("/runs/%s/timeline?epoch=%s&thin=%d&to=%d", run, last.Epoch, last.Thin, last.To),
				&c.timeline) != nil {
				c.timeline = last
			}
		}
	}
}

func (w *watcher) read(path string, to any) error {
	r, err := w.client.Get(w.base + "/api/v1" + path)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	w.bytes.Add(int64(len(body)))
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, r.Status)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(body, to)
}
