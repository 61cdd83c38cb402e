package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/peer/statement"
)

// A House is the member that visitors come to. Its methods may be called from any goroutine.
type House interface {
	// Member is its peer ID.
	Member() string
	// About says what a ticket is for, or why it is good for nothing.
	About(ticket []byte) (About, error)
	// Module gives the bytes of a module that a ticket gives work of, not to be changed.
	Module(ticket []byte, hash [32]byte) ([]byte, error)
	// PageOf is where the page is that a ticket was made for; "": that is not said.
	PageOf(ticket []byte) (statement.Origin, error)
	// Others are the gateways that members tell of.
	Others() []Another
	// Enter lets a tab in that has answered the greeting with this challenge by this word (a statement.Visit). send may
	// be called at once and until Left, does not block, and is false if the frame will not arrive. The error is told
	// the visitor.
	Enter(challenge [32]byte, word []byte, send func(*tab.Frame) bool) (Visitor, error)
}

// About is what somebody sees before he helps.
type About struct {
	Member  string    `json:"member"`          // what it is called
	Title   string    `json:"title,omitempty"` // of the run; "": any that the member takes part in
	Owner   string    `json:"owner,omitempty"` // of the run: what it is called
	Expires time.Time `json:"expires,omitzero"`
}

// A Visitor is one tab in the House.
type Visitor interface {
	// Received takes a frame in. It may block, which holds up this tab. An error ends the connection.
	Received(f *tab.Frame) error
	// Left is called once, when the connection has ended.
	Left()
}

// Limits of the server.
const (
	maxHeader = 16 << 10
	// pagesWithin is how long a request for a file may take.
	pagesWithin = 2 * time.Minute
	idleFor     = 30 * time.Second
	chosenFor   = time.Second
	// DefaultTabs are the tabs of all, DefaultTabsEach those of one network address.
	DefaultTabs     = 256
	DefaultTabsEach = 32
	// a page loads some files at once
	connectionsEach = 16
)

// Config says where visitors come in.
type Config struct {
	House House
	// Listen is an IP address with a port, 0 for any free one; empty means DefaultListen.
	Listen string
	// URL is where browsers find the gateway, if not at the address that it listens on: https://name:port.
	URL string
	// CertFile and KeyFile are a certificate and its key in PEM. Without them a loopback address is served in plain,
	// which browsers hold for safe, and any other one with a certificate that is made for it, of which they warn.
	CertFile, KeyFile string
	// Dist has what was built of the tab's program: see Missing.
	Dist fs.FS
	// Tabs bounds the tabs, TabsEach those of one network address; 0 are the defaults.
	Tabs, TabsEach int
	Log            *slog.Logger
}

// DefaultListen is any free port of this machine.
const DefaultListen = "127.0.0.1:0"

// A Server lets visitors in. Make one with Open, then call Serve once.
type Server struct {
	house    House
	log      *slog.Logger
	listener net.Listener
	http     *http.Server
	base     statement.Origin // where browsers find it
	salt     []byte           // of the choice of others
	tabs     *turnstile
	files    map[string]*file
	tls      bool
	proxied  bool // browsers come through a proxy on this machine
	packer   packer

	choosing sync.Mutex
	chosen   []statement.Origin // of others
	chose    time.Time

	mu     sync.Mutex
	lines  map[*line]bool // nil: closed
	active sync.WaitGroup
}

// ErrConfig is what errors of Open about the Config wrap.
var ErrConfig = errors.New("this gateway cannot be")

// Open listens; visitors that come before Serve wait.
func Open(cfg Config) (*Server, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Listen == "" {
		cfg.Listen = DefaultListen
	}
	cfg.Tabs = cmp.Or(cfg.Tabs, DefaultTabs)
	if cfg.TabsEach == 0 {
		cfg.TabsEach = DefaultTabsEach
	}
	at, err := netip.ParseAddrPort(cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is no address to listen on: want an IP address and a port, such as 127.0.0.1:7747",
			ErrConfig, cfg.Listen)
	}
	files, err := readFiles(cfg.Dist)
	if err != nil {
		return nil, err
	}
	certificate, err := certificateFor(&cfg, at.Addr())
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("the gateway cannot listen on %s: %w", cfg.Listen, err)
	}
	s := &Server{house: cfg.House, log: cfg.Log, files: files, tabs: newTurnstile(cfg.TabsEach, cfg.Tabs),
		lines: map[*line]bool{}, tls: certificate != nil, packer: packer{turn: make(chan struct{}, 1)},
		salt: make([]byte, 16)}
	_, _ = rand.Read(s.salt) // documented never to fail
	if s.base, err = baseURL(cfg.URL, l.Addr().(*net.TCPAddr).AddrPort(), s.tls); err != nil {
		_ = l.Close()
		return nil, err
	}
	s.proxied = at.Addr().IsLoopback() && !s.base.Address().IsLoopback()
	each, all := cfg.TabsEach+connectionsEach, 2*cfg.Tabs+connectionsEach
	if s.proxied {
		each = all
	}
	s.listener = turned{l, newTurnstile(each, all)}
	if s.tls {
		s.listener = tls.NewListener(s.listener, &tls.Config{GetCertificate: certificate, MinVersion: tls.VersionTLS12})
	}
	s.http = &http.Server{Handler: s.guard(s.handler()), ReadHeaderTimeout: helloWithin, ReadTimeout: helloWithin,
		WriteTimeout: pagesWithin, IdleTimeout: idleFor, MaxHeaderBytes: maxHeader,
		// websockets are of HTTP/1.1
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog:     slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)}
	return s, nil
}

// baseURL is where browsers find a gateway.
func baseURL(given string, at netip.AddrPort, secure bool) (statement.Origin, error) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	if given == "" {
		if at.Addr().IsUnspecified() {
			return "", fmt.Errorf("%w: it listens on every address of this machine: say which one is to be in the link, "+
				"such as %s://192.0.2.7:%d", ErrConfig, scheme, at.Port())
		}
		given = scheme + "://" + at.String()
	}
	o, err := statement.OriginOf(given)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return o, err
}

// Origin is where browsers find it.
func (s *Server) Origin() statement.Origin { return s.base }

// Link is the page for whoever has a ticket. What follows the # stays in the browser: it is in no log of a server.
func (s *Server) Link(ticket []byte) string {
	return string(s.base) + "/#" + encodeTicket(ticket)
}

// Serve lets visitors in until Close. It blocks.
func (s *Server) Serve() error {
	err := s.http.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends the tabs' connections, gives requests in progress, and tabs that a frame is on its way to, until ctx ends,
// and lets go of the port.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	lines := s.lines
	s.lines = nil
	for l := range lines {
		l.end()
	}
	s.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		for l := range lines {
			_ = l.conn.Close()
		}
	})()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.active.Wait()
	return err
}

// hosts are the names under which it may be spoken to.
func (s *Server) hosts() []string {
	list := []string{s.base.URL().Host, s.listener.Addr().String()}
	if at, err := netip.ParseAddrPort(list[1]); err == nil && at.Addr().IsLoopback() {
		list = append(list, fmt.Sprintf("localhost:%d", at.Port()))
	}
	return list
}

// sameOrigin says whether a request comes from the gateway's own page. A proxy may have put another Host.
func (s *Server) sameOrigin(r *http.Request) bool {
	from := r.Header.Get("Origin")
	return (from == string(s.base) || from == s.base.URL().Scheme+"://"+r.Host) && slices.Contains(s.hosts(), r.Host)
}

// visitor is the address that a request counts for: of those that come through a proxy the one that it has put last.
func (s *Server) visitor(r *http.Request) netip.Prefix {
	if !s.proxied {
		return network(r.RemoteAddr)
	}
	list := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	return network(strings.TrimSpace(list[strings.LastIndexByte(list, ',')+1:]))
}

// permitted says whether a request comes from the gateway's own page, or from the one that a member's ticket was made
// for. So no site but a member's gateway gets even a greeting from here, whoever looks at it.
func (s *Server) permitted(r *http.Request, ticket []byte) bool {
	if s.sameOrigin(r) {
		return true
	}
	from := r.Header.Get("Origin")
	if from == "" || len(ticket) == 0 || !slices.Contains(s.hosts(), r.Host) {
		return false
	}
	page, err := s.house.PageOf(ticket)
	return err == nil && string(page) == from
}

// others are where a page of this gateway may go on. Anybody may ask, and to choose is to look at all members.
func (s *Server) others() []statement.Origin {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	if now := time.Now(); now.Sub(s.chose) >= chosenFor {
		s.chosen, s.chose = choose(s.base, s.house.Others(), s.salt), now
	}
	return s.chosen
}
