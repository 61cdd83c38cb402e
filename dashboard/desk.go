package dashboard

import (
	"context"
	"fmt"
	"net/http"

	"github.com/satin-peer/satin/internal/report"
)

// A Desk deals with the runs that this peer owns. Methods may be called from any goroutine; their errors wrap those of
// package report where one fits, and are one line for the user.
type Desk interface {
	// Apps lists what can be started: applications, and modules of the swarm.
	Apps(ctx context.Context) ([]App, error)
	// Start begins a run of an application with arguments as they are typed, and names it.
	Start(ctx context.Context, app, arguments string) (run string, err error)
	// Suspend ends a run so that ResumeRun can go on with it.
	Suspend(ctx context.Context, run string) error
	ResumeRun(ctx context.Context, run string) error
	// Answer is the checked answer of a run that is done, as text.
	Answer(ctx context.Context, run string) (string, error)
}

// An App is an application that can be started.
type App struct {
	Name    string `json:"name"`
	Args    string `json:"args"`    // what it is called with, such as "N"
	Summary string `json:"summary"` // of a module, one line of who has published it
}

type (
	startBody struct {
		App       string `json:"app"`
		Arguments string `json:"arguments"`
	}
	// A Started names a run that was begun.
	Started struct {
		Run string `json:"run"`
	}
	// An AnswerText is what came of a run.
	AnswerText struct {
		Text string `json:"text"`
	}
)

const (
	maxArguments = 4 << 10  // bytes that are typed
	maxApp       = 128      // bytes of a name: a module's may be behind its publisher's
	maxAnswer    = 64 << 10 // bytes that are shown
)

var errNoDesk = fmt.Errorf("%w: this page shows a run, and deals with none", report.ErrRefused)

// deskRoutes are the calls about own runs.
func (s *Server) deskRoutes() []route {
	return []route{
		{http.MethodGet, "/apps", "What can be started", View, nil, []App{}, func(r *http.Request) (any, error) {
			if s.desk == nil {
				return []App{}, nil
			}
			list, err := s.desk.Apps(r.Context())
			return listed(list), err
		}, nil},
		{http.MethodPost, "/runs", "Begin a run that this peer owns", Control, startBody{}, Started{}, s.start, nil},
		s.ofRun("suspend", "End a run so that it can be resumed", Desk.Suspend),
		s.ofRun("resume", "Go on with a run that was suspended", Desk.ResumeRun),
		{http.MethodGet, "/runs/{run}/answer", "The answer of a run of this peer's own", Control, nil, AnswerText{},
			s.answerOf, nil},
	}
}

func (s *Server) start(r *http.Request) (any, error) {
	var b startBody
	if err := receive(r, &b); err != nil {
		return nil, err
	}
	if s.desk == nil {
		return nil, errNoDesk
	}
	if len(b.Arguments) > maxArguments || len(b.App) > maxApp {
		return nil, fmt.Errorf("%w: arguments have at most %d bytes, names %d", report.ErrBadInput, maxArguments,
			maxApp)
	}
	run, err := s.desk.Start(r.Context(), b.App, b.Arguments)
	return Started{run}, err
}

// ofRun is a call that does something with a run.
func (s *Server) ofRun(verb, summary string, do func(d Desk, ctx context.Context, run string) error) route {
	return post("/runs/{run}/"+verb, summary, empty{}, func(r *http.Request) error {
		run, err := runOf(r)
		switch {
		case err != nil:
			return err
		case s.desk == nil:
			return errNoDesk
		}
		return do(s.desk, r.Context(), run)
	})
}

// runOf gives the run that a request with an empty body is about.
func runOf(r *http.Request) (string, error) {
	if err := receive(r, &empty{}); err != nil {
		return "", err
	}
	return namedRun(r)
}

func namedRun(r *http.Request) (string, error) {
	run := r.PathValue("run")
	if len(run) > maxRunID {
		return "", fmt.Errorf("%w: a run's name has at most %d bytes", report.ErrBadInput, maxRunID)
	}
	return run, nil
}

func (s *Server) answerOf(r *http.Request) (any, error) {
	run, err := namedRun(r)
	if err != nil {
		return nil, err
	}
	if s.desk == nil {
		return nil, errNoDesk
	}
	text, err := s.desk.Answer(r.Context(), run)
	if len(text) > maxAnswer {
		text = text[:maxAnswer] + "\n… satin-peer wait prints the rest"
	}
	return AnswerText{text}, err
}
