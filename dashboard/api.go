package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

const (
	apiPath   = "/api/v1"
	loginPath = apiPath + "/login"
	// loginMark begins the part of a link that browsers keep to themselves: whoever only fetches the link, to show what
	// is behind it or to be faster, does not use it up, and it is in nobody's log.
	loginMark = "/#login="
	livePath  = apiPath + "/live"
	jsonType  = "application/json"

	maxPause = 30 * 24 * time.Hour
	maxRunID = 64
)

// Bodies of requests and replies that are not a Source's own.
type (
	// A Fault says why a request was not done.
	Fault struct {
		Kind string `json:"kind"` // "bad_input", "not_found", "refused", "unavailable", "unauthorized" or "failed"
		Text string `json:"text"` // one line
	}
	// A Link opens the page once.
	Link struct {
		Link string `json:"link"`
	}
	// A Session says what the request's session or token is good for.
	Session struct {
		Level Level `json:"level"`
		// Session is what a page that has just logged in holds from then on, and sends in the header Satin-Session.
		Session string `json:"session,omitempty"`
	}
	loginBody struct {
		Token string `json:"token"`
	}
	linkBody struct {
		Level Level `json:"level"`
	}
	pauseBody struct {
		For float64 `json:"for_seconds"` // 0: until it is resumed
	}
	empty struct{}
)

// A route is one call of the API: its name, the level that it takes, and what goes in and out.
type route struct {
	method, path, summary string
	level                 Level
	body, reply           any // zero values; nil body: none
	serve                 func(r *http.Request) (any, error)
	query                 []param // all may be missing
}

// post is a call that does something.
func post(path, summary string, body any, do func(r *http.Request) error) route {
	return route{http.MethodPost, path, summary, Control, body, empty{},
		func(r *http.Request) (any, error) { return empty{}, do(r) }, nil}
}

// routes are all calls that take and give JSON.
func (s *Server) routes() []route {
	get := func(path, summary string, reply any, serve func(r *http.Request) (any, error), query ...param) route {
		return route{http.MethodGet, path, summary, View, nil, reply, serve, query}
	}
	return append(s.deskRoutes(), []route{
		get("/session", "What this session or token is good for", Session{}, func(r *http.Request) (any, error) {
			l, _ := s.sessions.levelOf(r)
			return Session{Level: l}, nil
		}),
		get("/status", "The peer at one glance", Status{},
			func(r *http.Request) (any, error) { return s.source.Status(r.Context()) }),
		get("/clusters", "The groups of near peers", []report.Cluster{}, func(r *http.Request) (any, error) {
			status, err := s.source.Status(r.Context())
			return listed(status.Clusters), err
		}),
		get("/peers", "The other members", []Peer{}, func(r *http.Request) (any, error) {
			peers, err := s.source.Peers(r.Context())
			return listed(peers), err
		}),
		get("/runs", "The runs in progress and the last ones that ended", []Run{}, func(r *http.Request) (any, error) {
			runs, err := s.source.Runs(r.Context())
			return listed(runs), err
		}),
		get("/trees", "The runs' steal trees at one glance, as far as they were watched", []TreeDigest{},
			func(*http.Request) (any, error) { return s.hub.stories.digests(), nil }),
		get("/runs/{run}/tree",
			"A run's steal tree through a viewport; each segment is as wide as its part of the jobs", Panel{},
			s.tree, viewParams...),
		get("/runs/{run}/segments", "What is new of a run's steal tree, for a copy of it", Growth{}, s.segments,
			growthParams...),
		get("/runs/{run}/timeline", "What is new of what the workers of a run did", Timeline{}, s.timeline,
			timelineParams...),
		get("/flows", "Steals and round trips between clusters", []Flow{},
			func(*http.Request) (any, error) { return s.hub.stories.flows(), nil }),
		get("/notices", "What happened while somebody watched", []Notice{},
			func(*http.Request) (any, error) { return listed(s.hub.stories.noticed()), nil }),
		get("/history", "How fast the peer was in the last hour", []Moment{},
			func(*http.Request) (any, error) { return s.hub.history.past(), nil }),
		get("/members", "Which members came and went, as far as it is remembered", []report.RosterEntry{},
			func(*http.Request) (any, error) { return s.hub.history.members(), nil }),
		get("/prefs", "How the user likes the page", Prefs{}, s.getPrefs),
		post("/prefs", "Keep how the user likes the page", Prefs{}, s.setPrefs),
		get("/preferences", "What the owner of the machine allows", []Preference{}, s.getPreferences),
		post("/preferences", "Say what the owner of the machine allows", preferBody{}, s.setPreference),
		post("/pause", "Stop computing for a while", pauseBody{}, s.pause),
		s.bare("/finish", "Stop computing when the jobs at hand are done", Source.Finish),
		s.bare("/resume", "End a pause, or take finish back", Source.Resume),
		post("/runs/{run}/cancel", "End a run of this peer's own", empty{}, s.cancel),
		{http.MethodPost, "/links", "Make a link that opens the page once", Control, linkBody{}, Link{}, s.makeLink,
			nil},
	}...)
}

// bare is a call with nothing to say.
func (s *Server) bare(path, summary string, do func(Source, context.Context) error) route {
	return post(path, summary, empty{}, func(r *http.Request) error {
		if err := receive(r, &empty{}); err != nil {
			return err
		}
		return do(s.source, r.Context())
	})
}

func (s *Server) pause(r *http.Request) error {
	var b pauseBody
	if err := receive(r, &b); err != nil {
		return err
	}
	if !(b.For >= 0 && b.For <= maxPause.Seconds()) { // nor NaN
		return fmt.Errorf("%w: a pause is from 0 seconds to %v long", report.ErrBadInput, maxPause)
	}
	return s.source.Pause(r.Context(), time.Duration(b.For*float64(time.Second)))
}

func (s *Server) cancel(r *http.Request) error {
	run, err := runOf(r)
	if err != nil {
		return err
	}
	return s.source.Cancel(r.Context(), run)
}

func (s *Server) makeLink(r *http.Request) (any, error) {
	var b linkBody
	if err := receive(r, &b); err != nil {
		return nil, err
	}
	if b.Level != View && b.Level != Control {
		return nil, fmt.Errorf("%w: the level of a link is %q or %q", report.ErrBadInput, View, Control)
	}
	return Link{s.Link(b.Level)}, nil
}

// handler makes the whole site, inside the guard.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		mux.HandleFunc(r.method+" "+apiPath+r.path, s.need(r.level, answer(r.serve)))
	}
	description := describe(s.routes())
	mux.HandleFunc("GET "+apiPath+"/openapi.json",
		s.need(View, func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, description) }))
	mux.HandleFunc("GET "+livePath, s.need(View, s.live))
	mux.HandleFunc("GET /metrics", s.need(View, s.metrics.ServeHTTP))
	mux.HandleFunc("POST "+loginPath, s.login)
	mux.HandleFunc("/", serveAsset)
	return mux
}

// login turns the token of a link into a session: a cookie to look by, and, in the reply, what the page holds.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var b loginBody
	if err := receive(r, &b); err != nil {
		decline(w, err)
		return
	}
	cookie, held, level, ok := s.sessions.enter(b.Token, time.Now())
	if !ok {
		refuse(w, http.StatusUnauthorized, "unauthorized", "This link was used already, is older than a day, or is of an "+
			"earlier start of the daemon: satin-peer dashboard prints a new one.") // a sentence, as people see it
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.sessions.cookie, Value: cookie, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	write(w, http.StatusOK, Session{level, held})
}

// answer makes a handler that writes what serve gives.
func answer(serve func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), askWithin)
		defer cancel()
		v, err := serve(r.WithContext(ctx))
		if err != nil {
			decline(w, err)
			return
		}
		write(w, http.StatusOK, v)
	}
}

// decline tells of an error: its kind, and its text without it.
func decline(w http.ResponseWriter, err error) {
	k, text := report.KindOf(err), err.Error()
	if k.Err == nil && errors.Is(err, context.DeadlineExceeded) {
		k = report.KindOf(report.ErrUnavailable)
		k.Err = context.DeadlineExceeded
	}
	if k.Err != nil {
		text = strings.TrimPrefix(text, k.Err.Error()+": ")
	}
	refuse(w, k.Status, k.Name, text)
}

func refuse(w http.ResponseWriter, status int, kind, text string) {
	write(w, status, Fault{kind, text})
}

func write(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // a number that is none
		status, text = http.StatusInternalServerError,
			[]byte(`{"kind":"failed","text":"the reply cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that has gone needs no reply
}

// receive reads a body: one small JSON object with known fields only.
func receive(r *http.Request, v any) error {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != jsonType {
		return fmt.Errorf("%w: the request's Content-Type is not %s", report.ErrBadInput, jsonType)
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return fmt.Errorf("%w: the request cannot be read: %w", report.ErrBadInput, err)
	}
	if len(text) > maxBody {
		return fmt.Errorf("%w: the request is larger than %d bytes", report.ErrBadInput, maxBody)
	}
	return strictly(text, v)
}

// listed makes an empty list of none, as JSON tells them apart.
func listed[T any](list []T) []T { return append([]T{}, list...) }
