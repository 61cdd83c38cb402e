package control

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The calls, as paths below /v1.
const (
	statusCall  = "GET /v1/status"
	peersCall   = "GET /v1/peers"
	runsCall    = "GET /v1/runs"
	submitCall  = "POST /v1/runs"
	givenCall   = "GET /v1/constants/{run}"
	giveCall    = "POST /v1/constants/{run}"
	addCall     = "POST /v1/modules"
	modulesCall = "GET /v1/modules"
	moduleCall  = "GET /v1/modules/{run}"
	publishCall = "POST /v1/publish"
	depositCall = "POST /v1/deposits"
	fetchCall   = "GET /v1/deposits/{run}"
	shareCall   = "POST /v1/share"
	waitCall    = "GET /v1/runs/{run}/wait"
	cancelCall  = "POST /v1/runs/{run}/cancel"
	suspendCall = "POST /v1/runs/{run}/suspend"
	goOnCall    = "POST /v1/runs/resume"
	revokeCall  = "POST /v1/revoke"
	refuseCall  = "POST /v1/refuse"
	inviteCall  = "POST /v1/invite"
	joinCall    = "POST /v1/join"
	leaveCall   = "POST /v1/leave"
	pauseCall   = "POST /v1/pause"
	finishCall  = "POST /v1/finish"
	resumeCall  = "POST /v1/resume"
	doctorCall  = "GET /v1/doctor"
	runWildcard = "run"
)

// Bodies of calls with one parameter.
type (
	joinBody struct {
		Address string `json:"address"`
	}
	revokeBody struct {
		Peer string `json:"peer"`
	}
	pauseBody struct {
		For float64 `json:"for_seconds"` // 0: until it is resumed
	}
	empty struct{}
)

// Bounds of parameters.
const (
	maxPause   = 30 * 24 * time.Hour
	maxAddress = 4 << 10 // bytes of an address or invitation
	maxRunID   = 64
	maxPath    = 4 << 10 // bytes of a directory's name
	maxPeerID  = 128
	maxArgs    = 256
	maxValid   = 30 * 24 * time.Hour
	minValid   = time.Minute
	maxUses    = 1000
)

// newHandler makes the calls of d.
func newHandler(d Daemon) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(statusCall, ask(quickCall, status(d)))
	mux.HandleFunc(peersCall, ask(quickCall, list(d.Peers)))
	mux.HandleFunc(runsCall, ask(quickCall, runs(d)))
	mux.HandleFunc(doctorCall, ask(slowCall, list(d.Doctor)))
	mux.HandleFunc(leaveCall, ask(slowCall, noReply(d.Leave)))
	mux.HandleFunc(finishCall, ask(quickCall, noReply(d.Finish)))
	mux.HandleFunc(resumeCall, ask(quickCall, noReply(d.Resume)))
	mux.HandleFunc(submitCall, tell(slowCall, MaxBody, d.Submit))
	constants(mux, d)
	mux.HandleFunc(addCall, tell(slowCall, MaxBody, d.AddModule))
	mux.HandleFunc(publishCall, tell(slowCall, MaxBody, d.Publish))
	mux.HandleFunc(shareCall, tell(quickCall, maxSmallBody, d.Share))
	mux.HandleFunc(modulesCall, ask(quickCall, list(d.Modules)))
	mux.HandleFunc(moduleCall, named(d.Module))
	mux.HandleFunc(depositCall, tell(slowCall, MaxBody, d.Deposit))
	mux.HandleFunc(fetchCall, named(d.Deposited))
	mux.HandleFunc(inviteCall, tell(quickCall, maxSmallBody, d.Invite))
	mux.HandleFunc(joinCall, tell(slowCall, maxSmallBody, func(ctx context.Context, b joinBody) (PeerInfo, error) {
		if b.Address == "" || len(b.Address) > maxAddress {
			return PeerInfo{}, Errorf(ErrBadInput, "an address or invitation has 1 to %d bytes, not %d", maxAddress,
				len(b.Address))
		}
		return d.Join(ctx, b.Address)
	}))
	mux.HandleFunc(pauseCall, tell(quickCall, maxSmallBody, func(ctx context.Context, b pauseBody) (empty, error) {
		if !(b.For >= 0 && b.For <= maxPause.Seconds()) { // nor NaN
			return empty{}, Errorf(ErrBadInput, "a pause is from 0 seconds to %v long", maxPause)
		}
		return empty{}, d.Pause(ctx, time.Duration(b.For*float64(time.Second)))
	}))
	mux.HandleFunc(revokeCall, tell(quickCall, maxSmallBody, func(ctx context.Context, b revokeBody) (empty, error) {
		if b.Peer == "" || len(b.Peer) > maxPeerID {
			return empty{}, Errorf(ErrBadInput, "a peer ID has 1 to %d bytes, not %d", maxPeerID, len(b.Peer))
		}
		return empty{}, d.Revoke(ctx, b.Peer)
	}))
	mux.HandleFunc(refuseCall, tell(quickCall, maxSmallBody, func(ctx context.Context, r Refused) (empty, error) {
		if (r.Run == "") == (r.Owner == "") || len(r.Run) > maxRunID || len(r.Owner) > maxPeerID {
			return empty{}, Errorf(ErrBadInput, "what is refused is a run or an owner, by its name")
		}
		return empty{}, d.Refuse(ctx, r)
	}))
	mux.HandleFunc(goOnCall, tell(slowCall, maxSmallBody, d.ResumeRun))
	mux.HandleFunc(cancelCall, ofRun(d.Cancel))
	mux.HandleFunc(suspendCall, ofRun(d.Suspend))
	mux.HandleFunc(waitCall, func(w http.ResponseWriter, r *http.Request) { wait(d, w, r) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		reply(r.Context(), w, nil, Errorf(ErrBadInput,
			"this daemon has no %s %s: it and the command are of different versions; restart the daemon", r.Method,
			r.URL.Path))
	})
	return mux
}

// named makes a handler of a call with a name in its path.
func named[R any](call func(ctx context.Context, name string) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), slowCall)
		defer cancel()
		f, err := call(ctx, r.PathValue(runWildcard))
		reply(ctx, w, f, err)
	}
}

// constants takes both calls about one: to give it is to ask whether it is there, with its bytes.
func constants(mux *http.ServeMux, d Daemon) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		size, err := strconv.ParseInt(query.Get("size"), 10, 64)
		if err != nil {
			reply(r.Context(), w, nil, Errorf(ErrBadInput, "a constant needs its size in bytes"))
			return
		}
		c := Constant{Digest: r.PathValue(runWildcard), Name: query.Get("name"), Size: size}
		var from io.Reader
		if r.Method == http.MethodPost {
			from = &steady{http.MaxBytesReader(w, r.Body, size+1), http.NewResponseController(w)}
		}
		info, err := d.AddConstant(r.Context(), c, from)
		reply(r.Context(), w, info, err)
	}
	mux.HandleFunc(givenCall, handle)
	mux.HandleFunc(giveCall, handle)
}

// steady is a body of any size that has to go on coming.
type steady struct {
	io.Reader
	connection *http.ResponseController
}

func (s *steady) Read(b []byte) (int, error) {
	_ = s.connection.SetReadDeadline(time.Now().Add(readWithin))
	return s.Reader.Read(b)
}

// ask makes a handler of a call without parameters.
func ask[R any](within time.Duration, call func(context.Context) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		v, err := call(ctx)
		reply(ctx, w, v, err)
	}
}

// ofRun makes a handler of a call about one run.
func ofRun(call func(ctx context.Context, run string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		run, err := runOf(r)
		ctx, cancel := context.WithTimeout(r.Context(), slowCall)
		defer cancel()
		if err == nil {
			err = call(ctx, run)
		}
		reply(ctx, w, empty{}, err)
	}
}

// tell makes a handler of a call with a body of at most limit bytes, which is checked if it has a check.
func tell[B, R any](within time.Duration, limit int64, call func(context.Context, B) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body B
		err := receive(w, r, limit, &body)
		if b, checks := any(body).(interface{ check() error }); checks && err == nil {
			err = b.check()
		}
		if err != nil {
			reply(r.Context(), w, nil, err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		v, err := call(ctx, body)
		reply(ctx, w, v, err)
	}
}

// list makes an empty list of none at all, which JSON would call null.
func list[E any](call func(context.Context) ([]E, error)) func(context.Context) ([]E, error) {
	return func(ctx context.Context) ([]E, error) {
		l, err := call(ctx)
		return listed(l), err
	}
}

func listed[E any](l []E) []E {
	if l == nil {
		return []E{}
	}
	return l
}

func status(d Daemon) func(context.Context) (Status, error) {
	return func(ctx context.Context) (Status, error) {
		s, err := d.Status(ctx)
		s.Addresses, s.Clusters, s.Runs = listed(s.Addresses), listed(s.Clusters), withArgs(s.Runs)
		return s, err
	}
}

func runs(d Daemon) func(context.Context) ([]RunInfo, error) {
	return func(ctx context.Context) ([]RunInfo, error) {
		l, err := d.Runs(ctx)
		return withArgs(l), err
	}
}

// withArgs makes a list of runs whose arguments are lists, too. It leaves the given one as it is: it may be
// the daemon's own.
func withArgs(l []RunInfo) []RunInfo {
	l = append([]RunInfo{}, l...)
	for i := range l {
		l[i].Args = listed(l[i].Args)
	}
	return l
}

func noReply(call func(context.Context) error) func(context.Context) (empty, error) {
	return func(ctx context.Context) (empty, error) { return empty{}, call(ctx) }
}

func runOf(r *http.Request) (string, error) {
	run := r.PathValue(runWildcard)
	return run, checkRun(run)
}

func checkRun(run string) error {
	if len(run) == 0 || len(run) > maxRunID || strings.Trim(run, "0123456789abcdef") != "" {
		return Errorf(ErrBadInput, "a run is named by up to %d hexadecimal digits", maxRunID)
	}
	return nil
}

func (r Resumption) check() error {
	switch {
	case (r.Run == "") == (r.Directory == ""):
		return Errorf(ErrBadInput, "what is to be resumed is named by a run or by a directory, not by both or neither")
	case r.Run != "":
		return checkRun(r.Run)
	case !filepath.IsAbs(r.Directory) || len(r.Directory) > maxPath:
		return Errorf(ErrBadInput, "a directory is an absolute path of at most %d bytes", maxPath)
	}
	return nil
}

func (s Submission) check() error {
	switch {
	case s.App == "" || s.Function == "":
		return Errorf(ErrBadInput, "a submission names an application and its function")
	case len(s.Args) > maxArgs:
		return Errorf(ErrBadInput, "a submission has at most %d arguments, not %d", maxArgs, len(s.Args))
	}
	return nil
}

func (i Invitation) check() error {
	switch {
	case i.Peer != "" && (i.Uses != 0 || i.Valid != 0 || i.MayInvite):
		return Errorf(ErrBadInput,
			"a peer that is let in by name needs no number of uses and no time, and cannot be given the right to invite")
	case i.Valid != 0 && !(i.Valid >= minValid.Seconds() && i.Valid <= maxValid.Seconds()): // nor NaN
		return Errorf(ErrBadInput, "an invitation is valid for %v to %v", minValid, maxValid)
	case i.Uses < 0 || i.Uses > maxUses:
		return Errorf(ErrBadInput, "an invitation is for 1 to %d peers", maxUses)
	}
	return nil
}

// A news is one line of the reply to Wait: exactly one field is set, and only the last line has another than
// Progress.
type news struct {
	Progress *Progress `json:"progress,omitempty"`
	Outcome  *Outcome  `json:"outcome,omitempty"`
	Fault    *fault    `json:"fault,omitempty"`
}

// wait streams a run's progress, and its outcome at the end.
func wait(d Daemon, w http.ResponseWriter, r *http.Request) {
	run, err := runOf(r)
	if err != nil {
		reply(r.Context(), w, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	connection := http.NewResponseController(w)
	// the request has been read; what it waits for takes as long as it takes
	_ = connection.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(inPieces{w})
	send := func(n news) {
		if lines.Encode(n) != nil || connection.Flush() != nil {
			cancel() // the client has gone, or reads too slowly
		}
	}
	outcome, err := d.Wait(ctx, run, func(p Progress) { send(news{Progress: &p}) })
	if err != nil {
		send(news{Fault: newFault(explain(ctx, err))})
		return
	}
	send(news{Outcome: &outcome})
}
