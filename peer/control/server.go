package control

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"github.com/satin-peer/satin/internal/report"
)

// Limits of the server.
const (
	// maxConnections is twice as many as the own runs that there may be, for each of which a command may wait; further
	// ones wait until one of them ends.
	maxConnections = 512
	maxHeader      = 16 << 10
	maxSmallBody   = 256 << 10

	readWithin  = 20 * time.Second // a whole request
	writeWithin = 10 * time.Second // a piece of a reply
	writePiece  = 64 << 10
	idleFor     = 30 * time.Second
)

// How long a Daemon may take for a call.
const (
	quickCall = 5 * time.Second
	slowCall  = 30 * time.Second // what asks other peers
)

// A Server is the daemon's end. Make one with Open, then call Serve once.
type Server struct {
	socket *socket
	log    *slog.Logger
	http   *http.Server
	base   context.Context // ends with the server
	stop   context.CancelCauseFunc
}

// errEnding is why calls in progress end when the server does.
var errEnding = Errorf(ErrUnavailable, "the daemon is ending")

// Open takes the control directory, making it if it is not there, and opens the socket; clients that come
// before Serve wait. A *RunningError if a live daemon has the directory, an error of ErrBadInput if the
// directory cannot be one of control.
func Open(dir string, log *slog.Logger) (*Server, error) {
	s, err := listen(dir)
	if err != nil {
		return nil, err
	}
	base, stop := context.WithCancelCause(context.Background())
	return &Server{socket: s, log: log, base: base, stop: stop, http: &http.Server{
		ReadHeaderTimeout: readWithin,
		ReadTimeout:       readWithin,
		IdleTimeout:       idleFor,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}, nil
}

// Serve answers with what d says, until Close. It blocks.
func (s *Server) Serve(d Daemon) error {
	s.http.Handler = s.guard(newHandler(d))
	err := s.http.Serve(netutil.LimitListener(s.socket, maxConnections))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends the calls in progress, gives them until ctx ends to say so to their clients, and lets go of the
// directory.
func (s *Server) Close(ctx context.Context) error {
	s.stop(errEnding)
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	return errors.Join(err, s.socket.Close())
}

// guard lets in requests that have the token, and makes the calls end with the server.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.socket.token)) != 1 {
			s.log.Warn("refused a request on the control socket: its token is not the current one", "path", r.URL.Path)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(s.base, func() { cancel(context.Cause(s.base)) })()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// A fault is an error as it passes the socket.
type fault struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

func newFault(err error) *fault { return &fault{report.KindOf(err).Name, err.Error()} }

// err is the error that a client gives.
func (f *fault) err() error { return &Error{report.KindNamed(f.Kind).Err, f.Text} }

// explain says why a call was cut short, for errors that only say that it was.
func explain(ctx context.Context, err error) error {
	var plain *Error
	switch {
	case err == nil || errors.As(err, &plain):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(ErrUnavailable, "it could not be done in time: %v", err)
	case errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &plain):
		return plain
	}
	return err
}

// reply sends v, or err if there is one.
func reply(ctx context.Context, w http.ResponseWriter, v any, err error) {
	status := http.StatusOK
	if err = explain(ctx, err); err != nil {
		v, status = newFault(err), report.KindOf(err).Status
	}
	text, err := json.Marshal(v)
	if err != nil { // a number that is none
		status = http.StatusInternalServerError
		text, _ = json.Marshal(newFault(fmt.Errorf("the daemon's reply cannot be written: %w", err)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = inPieces{w}.Write(append(text, '\n')) // a client that has gone needs no reply
}

// inPieces writes what is large to a client that goes on reading, however long all of it takes on a busy machine.
type inPieces struct{ http.ResponseWriter }

func (w inPieces) Write(b []byte) (n int, err error) {
	for piece := range slices.Chunk(b, writePiece) {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeWithin))
		m, err := w.ResponseWriter.Write(piece)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// receive reads the body of r, at most limit bytes, as one JSON value with no unknown fields.
func receive(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil && d.More() {
		err = errors.New("there is more than one value")
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return Errorf(ErrBadInput, "the request is larger than %d bytes", limit)
	}
	if err != nil {
		return Errorf(ErrBadInput, "the request cannot be read: %v", report.Unread(err, v))
	}
	return nil
}
