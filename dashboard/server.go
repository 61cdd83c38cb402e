package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/satin-peer/satin/internal/report"
)

// Limits of the server.
const (
	maxConnections = 128 // further ones wait until one of them ends
	maxWatchers    = 32  // websockets
	maxHeader      = 16 << 10
	maxBody        = 4 << 10

	readWithin  = 20 * time.Second // a whole request
	writeWithin = 20 * time.Second // a reply, or one message of a websocket
	idleFor     = 60 * time.Second
)

// Config says what to show, and where.
type Config struct {
	// Source is the peer that is shown.
	Source Source
	// Listen is a literal loopback address with a port, 0 for any free one; or AutoListen; empty means DefaultListen.
	Listen string
	// Dir is where the address and the tokens are written, each in a file that only the user can read, for
	// scripts and for Ask. It must exist.
	Dir string
	// StateDir is where how the user likes the page is kept, in a file that only the user can read; empty
	// means until the end.
	StateDir string
	// Preferences is what the owner of the machine says; nil if there is nothing to say.
	Preferences Preferences
	// Desk deals with runs; nil if the page only shows them.
	Desk Desk
	// Every is how often the Source is asked while somebody watches; 10 ms to a minute, 0 means a second.
	Every time.Duration
	// Log is told what was refused; nil means nothing is.
	Log *slog.Logger
}

// DefaultListen is any free port on this machine.
const DefaultListen = "127.0.0.1:0"

// AutoListen is the same port of this machine each time, so that an open page finds a daemon that was started again;
// or if another program has it, the next one that is free.
const AutoListen = "auto"

const (
	autoPort  = 7746
	autoPorts = 16 // that are tried before any free one is taken
)

// listenAt opens the port. What of AutoListen is free it finds out by taking it.
func listenAt(listen string) (net.Listener, error) {
	if listen != AutoListen {
		return net.Listen("tcp", listen)
	}
	for port := range autoPorts {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", autoPort+port)); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", DefaultListen)
}

// CheckListen says why a server cannot listen on an address, by its form.
func CheckListen(listen string) error {
	if listen == AutoListen {
		return nil
	}
	at, err := netip.ParseAddrPort(listen)
	if err != nil {
		return fmt.Errorf("%w: %q is no address for a dashboard: want an IP address and a port, such as %s",
			report.ErrBadInput, listen, DefaultListen)
	}
	if !at.Addr().IsLoopback() || at.Addr().Is4In6() || at.Addr().Zone() != "" {
		return fmt.Errorf(
			"%w: the dashboard listens on this machine only, not on %s, as it has neither TLS nor passwords: "+
				"use %s and forward the port, as ssh -L does", report.ErrBadInput, at.Addr(), DefaultListen)
	}
	return nil
}

// A Server shows one peer. Make one with Open, then call Serve once.
type Server struct {
	at       netip.AddrPort
	listener net.Listener
	http     *http.Server
	door     *door
	sessions *sessions
	source   Source
	hub      *hub
	files    *files
	metrics  http.Handler
	prefs    *prefs

	preferences Preferences // nil: none
	desk        Desk        // nil: none

	ending context.Context // ends with the server
	stop   context.CancelFunc
	active sync.WaitGroup // the hub and the websockets
}

// Open listens, and writes the files; clients that come before Serve wait. The error is report.ErrBadInput if the
// configuration cannot be.
func Open(cfg Config) (*Server, error) {
	cfg.Listen = cmp.Or(cfg.Listen, DefaultListen)
	if cfg.Every == 0 {
		cfg.Every = time.Second
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Every < 10*time.Millisecond || cfg.Every > time.Minute {
		return nil, fmt.Errorf("%w: a dashboard asks every 10ms to 1m, not %v", report.ErrBadInput, cfg.Every)
	}
	if err := CheckListen(cfg.Listen); err != nil {
		return nil, err
	}
	l, err := listenAt(cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("the dashboard cannot listen on %s: %w", cfg.Listen, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{listener: l, source: cfg.Source, hub: newHub(cfg.Source, cfg.Every), ending: ctx,
		stop: stop}
	s.at = l.Addr().(*net.TCPAddr).AddrPort()
	s.sessions = newSessions(s.at.Port())
	s.prefs, s.preferences, s.desk = readPrefs(cfg.StateDir), cfg.Preferences, cfg.Desk
	s.metrics = newMetrics(cfg.Source, cfg.Log)
	s.http = &http.Server{
		Handler:           s.guard(s.handler()),
		ReadHeaderTimeout: readWithin,
		ReadTimeout:       readWithin,
		WriteTimeout:      writeWithin,
		IdleTimeout:       idleFor,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	s.door = newDoor()
	s.door.attach(s.http)
	if s.files, err = writeFiles(cfg.Dir, s.base(), s.sessions.tokens); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.active.Go(func() { s.hub.run(s.ending) }) // here and not in Serve, so that Close cannot wait before it
	s.active.Go(func() { s.hub.history.keep(s.ending, cfg.Source, cfg.Every) })
	return s, nil
}

// base is where the page is.
func (s *Server) base() string { return "http://" + s.at.String() }

// Link makes a link that opens the page, once, within a day. Whoever has it first may look, or act.
func (s *Server) Link(l Level) string {
	return s.base() + loginMark + s.sessions.link(l, time.Now())
}

// Serve answers until Close. It blocks.
func (s *Server) Serve() error {
	err := s.http.Serve(netutil.LimitListener(s.listener, maxConnections))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends the websockets, gives the requests in progress until ctx ends, and removes the files.
func (s *Server) Close(ctx context.Context) error {
	s.stop()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.active.Wait()
	return errors.Join(err, s.files.remove())
}
