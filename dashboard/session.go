package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Level is what a session or token is good for.
type Level string

// The levels. A session that may control may look too.
const (
	View    Level = "view"    // look
	Control Level = "control" // and pause, resume and cancel
)

func (l Level) allows(need Level) bool { return l == need || l == Control && need == View }

// Bounds of sessions.
const (
	maxLinks    = 32             // not used yet; a further one makes the oldest void
	maxSessions = 64             // a further one ends the oldest
	linkValid   = 24 * time.Hour // for a link that is in the log of a daemon that was started in the evening
)

// Sessions knows the tokens, the links that were not used yet, and the sessions they became. They end with
// the server.
type sessions struct {
	cookie string // its name; has the port, as cookies are for a host
	tokens map[Level]string

	mu    sync.Mutex
	links []grant
	live  []grant
}

// A grant is a secret that is good for something.
type grant struct {
	secret string
	level  Level
	made   time.Time
}

func newSessions(port uint16) *sessions {
	return &sessions{
		cookie: fmt.Sprintf("satin_%d", port),
		tokens: map[Level]string{View: rand.Text(), Control: rand.Text()},
	}
}

// link makes the secret of a link.
func (s *sessions) link(l Level, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := grant{rand.Text(), l, now}
	s.links = append(s.links[max(0, len(s.links)+1-maxLinks):len(s.links):len(s.links)], g)
	return g.secret
}

// enter turns the secret of a link into those of a session: one for a cookie, which is good for looking only, because
// browsers send it to whatever else listens on this machine, and one for the page to hold and to send in a header.
func (s *sessions) enter(secret string, now time.Time) (cookie, held string, l Level, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := find(s.links, secret)
	if !ok {
		return "", "", "", false
	}
	g := s.links[i]
	s.links = append(s.links[:i:i], s.links[i+1:]...)
	if now.Sub(g.made) > linkValid {
		return "", "", "", false
	}
	look, act := grant{rand.Text(), View, now}, grant{rand.Text(), g.level, now}
	s.live = append(s.live[max(0, len(s.live)+2-2*maxSessions):len(s.live):len(s.live)], look, act)
	return look.secret, act.secret, g.level, true
}

// levelOf gives what a request is good for, by its token, by what its page holds, or by its cookie; empty for nothing.
func (s *sessions) levelOf(r *http.Request) (l Level, byToken bool) {
	if header := r.Header.Get("Authorization"); header != "" {
		token, ok := strings.CutPrefix(header, "Bearer ")
		for level, want := range s.tokens {
			if ok && same(token, want) {
				return level, true
			}
		}
		return "", true
	}
	if held := r.Header.Get(heldHeader); held != "" {
		return s.of(held), false
	}
	for _, c := range r.CookiesNamed(s.cookie) {
		if s.of(c.Value) != "" {
			return View, false
		}
	}
	return "", false
}

// heldHeader is where the page puts the secret that it holds.
const heldHeader = "Satin-Session"

// of is what a session's secret is good for; empty for nothing.
func (s *sessions) of(secret string) Level {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := find(s.live, secret); ok {
		return s.live[i].level
	}
	return ""
}

func find(list []grant, secret string) (at int, ok bool) {
	for i, g := range list {
		if same(secret, g.secret) {
			at, ok = i, true
		}
	}
	return at, ok
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
