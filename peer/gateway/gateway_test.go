package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"crypto/x509"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/peer/statement"
)

var dist = fstest.MapFS{WasmFile: {Data: []byte("wasm")}, ExecFile: {Data: []byte("exec")},
	AppsFile: {Data: []byte(`{"a":"00"}`)}}

// inn is a House in which a visit is the word "good", and a frame of Rest an offence. Whoever comes in is told what it
// puts.
type inn struct {
	in, out chan struct{}
	puts    chan *tab.Over
}

func (inn) Member() string { return "12D3" }
func (inn) About(ticket []byte) (About, error) {
	if string(ticket) != "ticket" {
		return About{}, errors.New("it is another one's")
	}
	return About{Member: "inn", Title: "18 queens"}, nil
}

func (inn) PageOf(ticket []byte) (statement.Origin, error) {
	switch string(ticket) {
	case "ticket":
		return "https://other.example", nil
	case "pageless":
		return "", nil
	}
	return "", errors.New("it is another one's")
}

// Others are one that is good and one that is not.
func (inn) Others() []Another {
	return []Another{{"a", "a", "https://next.example:8"}, {"b", "b", "https://x.example; script-src *"}}
}

func (inn) Module(ticket []byte, hash [32]byte) ([]byte, error) {
	if string(ticket) != "ticket" || hash[0] != 1 {
		return nil, errors.New("there is no such module")
	}
	return bytes.Repeat([]byte("module"), 1000), nil
}

func (h inn) Enter(_ [32]byte, word []byte, send func(*tab.Frame) bool) (Visitor, error) {
	if string(word) != "good" {
		return nil, errors.New("not good")
	}
	for len(h.puts) > 0 {
		send(&tab.Frame{Over: <-h.puts})
	}
	h.in <- struct{}{}
	return h, nil
}

func (h inn) Received(f *tab.Frame) error {
	if f.Rest != nil {
		return errors.New("an offence")
	}
	return nil
}
func (h inn) Left() { h.out <- struct{}{} }

// keep opens an inn.
func keep(t *testing.T, cfg Config) (*Server, inn) {
	t.Helper()
	h := inn{make(chan struct{}, 100), make(chan struct{}, 100), make(chan *tab.Over, 3)}
	cfg.House, cfg.Dist = h, dist
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
	return s, h
}

// knock opens a websocket; status is that of the answer if it is refused.
func knock(t *testing.T, s *Server, head http.Header) (c *websocket.Conn, status int) {
	t.Helper()
	c, r, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+s.listener.Addr().String()+"/peer", head)
	if r == nil {
		return nil, 0 // the connection was not taken
	}
	_ = r.Body.Close()
	if err != nil {
		return nil, r.StatusCode
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, r.StatusCode
}

func (s *Server) own() http.Header { return http.Header{"Origin": {string(s.base)}} }

func say(t *testing.T, c *websocket.Conn, f *tab.Frame) {
	t.Helper()
	b, err := f.Encode(tab.MaxFromTab)
	if err == nil {
		err = c.WriteMessage(websocket.BinaryMessage, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// hear reads until the connection ends, and says why it did.
func hear(c *websocket.Conn) (why string) {
	for {
		_, b, err := c.ReadMessage()
		if err != nil {
			return why
		}
		if f, err := tab.Decode(b); err == nil && f.Over != nil {
			why = f.Over.Why
		}
	}
}

// A page of another site, or one that was made to believe that this is its own address, opens no websocket, and neither
// does what is no browser.
func TestOnlyTheOwnPage(t *testing.T) {
	s, _ := keep(t, Config{})
	for name, head := range map[string]http.Header{
		"no origin": {}, "another site": {"Origin": {"https://evil.example"}}, "of no scheme": {"Origin": {"null"}},
		"another port":     {"Origin": {"http://127.0.0.1:1"}},
		"another scheme":   {"Origin": {"https://" + s.base.URL().Host}},
		"another's name":   {"Host": {"evil.example"}, "Origin": {"http://evil.example"}},
		"its own and more": {"Origin": {string(s.base) + ".evil.example"}},
	} {
		c, status := knock(t, s, head)
		if c != nil || status != http.StatusForbidden && status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", name, status)
		}
	}
	if c, _ := knock(t, s, s.own()); c == nil {
		t.Error("its own page is refused")
	}
}

// Whoever has no good ticket, or sends what no tab sends, is told why and cut off; after some of that its address is
// refused.
func TestOffendersAreRefused(t *testing.T) {
	s, h := keep(t, Config{})
	c, _ := knock(t, s, s.own())
	say(t, c, &tab.Frame{Visit: []byte("bad")})
	if why := hear(c); why != "not good" {
		t.Errorf("it was told %q", why)
	}
	c, _ = knock(t, s, s.own())
	say(t, c, &tab.Frame{Visit: []byte("good")})
	<-h.in
	if err := c.WriteMessage(websocket.BinaryMessage, []byte("garbage")); err != nil {
		t.Fatal(err)
	}
	hear(c)
	<-h.out
	c, _ = knock(t, s, s.own())
	say(t, c, &tab.Frame{Visit: []byte("good")})
	say(t, c, &tab.Frame{Rest: &tab.Rest{}})
	hear(c)
	<-h.out
	if c, status := knock(t, s, s.own()); c != nil || status != http.StatusTooManyRequests {
		t.Errorf("after three offences: %d", status)
	}
}

// A tab may send little before it has shown a ticket, and bounded frames afterwards.
func TestLongFramesEndTheConnection(t *testing.T) {
	s, h := keep(t, Config{})
	c, _ := knock(t, s, s.own())
	_ = c.WriteMessage(websocket.BinaryMessage, make([]byte, 64<<10))
	hear(c)
	c, _ = knock(t, s, s.own())
	say(t, c, &tab.Frame{Visit: []byte("good")})
	_ = c.WriteMessage(websocket.BinaryMessage, make([]byte, tab.MaxFromTab+1))
	hear(c)
	<-h.in
	<-h.out
}

// One address has so many tabs and no more; whoever has left makes room.
func TestTabsAreBounded(t *testing.T) {
	s, h := keep(t, Config{TabsEach: 2})
	var last *websocket.Conn
	for range 2 {
		last, _ = knock(t, s, s.own())
		say(t, last, &tab.Frame{Visit: []byte("good")})
		<-h.in
	}
	if c, status := knock(t, s, s.own()); c != nil || status != http.StatusTooManyRequests {
		t.Errorf("a third tab: %d", status)
	}
	_ = last.Close()
	<-h.out
	for c, _ := knock(t, s, s.own()); c == nil; c, _ = knock(t, s, s.own()) {
		time.Sleep(time.Millisecond) // until the handler has returned
	}
}

// Guards that visitors who come through a proxy on this machine are told apart by what it says last, whatever they say
// themselves, and that its own address is nobody's: one of them had all others refused. Without a proxy nobody says.
func TestBehindAProxy(t *testing.T) {
	for _, proxy := range []string{"", "https://help.example.org"} {
		s, _ := keep(t, Config{URL: proxy, TabsEach: 1})
		for i, c := range []struct {
			from []string
			in   bool
		}{{[]string{"192.0.2.1"}, true}, {[]string{"192.0.2.2, 192.0.2.1"}, false},
			{[]string{"192.0.2.1", "192.0.2.2"}, proxy != ""}, {nil, proxy != ""}, {nil, proxy != ""}} {
			head := s.own()
			head["X-Forwarded-For"] = c.from
			if _, status := knock(t, s, head); (status == http.StatusSwitchingProtocols) != c.in {
				t.Errorf("tab %d by the proxy %q: %d", i, proxy, status)
			}
		}
	}
}

// Addresses are counted apart, households as one, and offences are forgotten.
func TestTurnstile(t *testing.T) {
	now := time.Unix(1000, 0)
	x := newTurnstile(1, 2)
	one, two := network("[2001:db8::1]:5"), network("[2001:db8::2]:6")
	four, other := network("192.0.2.1:1"), network("192.0.2.2:1")
	if one != two || four == other || network("[::ffff:192.0.2.1]:1") != four {
		t.Error("addresses are confused")
	}
	if !x.enter(one, now) || x.enter(two, now) || !x.enter(four, now) || x.enter(other, now) {
		t.Error("one of each, and two in all")
	}
	x.leave(one)
	for range maxOffences {
		x.offended(one, now)
	}
	if x.enter(one, now) || !x.enter(one, now.Add(offenceLife)) {
		t.Error("who offends is refused for a minute")
	}
	x.leave(four)
	for range maxOffences {
		x.offended(netip.Prefix{}, now)
	}
	if !x.enter(network("nowhere"), now) || x.enter(network(""), now) {
		t.Error("what has no address counts only in all")
	}
	for i := range maxRemembered + 10 {
		x.offended(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32), now)
	}
	if len(x.offences) > maxRemembered {
		t.Errorf("%d offenders are remembered", len(x.offences))
	}
}

// Every reply forbids what the page does not need, and the program is compressed and kept.
func TestFiles(t *testing.T) {
	s, _ := keep(t, Config{})
	tag := ""
	for _, path := range []string{"/", "/main.js", "/worker.js", "/style.css", "/wasm_exec.js", "/nothing", "/tab.wasm"} {
		r, err := http.Get(string(s.base) + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		csp := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) || strings.Contains(csp, "'unsafe") {
				t.Errorf("%s: Content-Security-Policy %q", path, csp)
			}
		}
		if (r.StatusCode == http.StatusOK) != (path != "/nothing") || r.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
		tag = r.Header.Get("Etag")
	}
	q, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, string(s.base)+"/tab.wasm", nil)
	q.Header.Set("Accept-Encoding", "gzip")
	r, err := http.DefaultClient.Do(q)
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" || r.Body.Close() != nil {
		t.Errorf("%v, %v", r, err)
	}
	q.Header.Set("If-None-Match", tag)
	r, err = http.DefaultClient.Do(q)
	if err != nil || r.StatusCode != http.StatusNotModified || r.Body.Close() != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// The page learns what a ticket is for; nobody else's does.
func TestAbout(t *testing.T) {
	s, _ := keep(t, Config{})
	for ticket, want := range map[string]string{"ticket": "18 queens", "": "damaged", "other": "another one's",
		strings.Repeat("x", 10_000): "too large"} {
		ask := func(origin string) (int, string) {
			q, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, string(s.base)+"/about",
				strings.NewReader(encodeTicket([]byte(ticket))))
			q.Header.Set("Origin", origin)
			r, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(r.Body)
			_ = r.Body.Close()
			return r.StatusCode, string(b)
		}
		if _, text := ask(string(s.base)); !strings.Contains(text, want) {
			t.Errorf("%.20s: %s", ticket, text)
		}
		if status, _ := ask("https://evil.example"); status != http.StatusForbidden {
			t.Errorf("from elsewhere: %d", status)
		}
	}
}

// GivenCertificate makes one for this machine, and gives the paths of its files.
func GivenCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	made, err := ownCertificate(netip.MustParseAddr("127.0.0.1"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: made.Certificate[0]},
		key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A certificate that was given, or made, is used, and the link says so.
func TestTLS(t *testing.T) {
	cert, key := GivenCertificate(t)
	s, _ := keep(t, Config{CertFile: cert, KeyFile: key})
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	link := s.Link([]byte("t"))
	r, err := client.Get(link)
	if err != nil || !strings.HasPrefix(link, "https://127.0.0.1:") || r.Body.Close() != nil {
		t.Errorf("%s: %v", link, err)
	}
}

// What cannot be is said in one line.
func TestBadConfig(t *testing.T) {
	for name, c := range map[string]Config{
		"built without the one for browsers": {Dist: fstest.MapFS{}},
		"no address to listen on":            {Listen: "nowhere"},
		"which one is to be in the link":     {Listen: "0.0.0.0:0"},
		"is not where a page can be":         {URL: "ftp://x"},
		"the certificate":                    {CertFile: "/nothing"},
	} {
		if c.Dist == nil {
			c.Dist = dist
		}
		_, err := Open(c)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A module is for whoever has a ticket for work of it, on the gateway's own page; it is compressed for whoever can read
// that.
func TestModules(t *testing.T) {
	s, _ := keep(t, Config{})
	own, hash := string(s.base), "01"+strings.Repeat("00", 31)
	for _, c := range []struct {
		origin, ticket, hash string
		status               int
	}{
		{own, "ticket", hash, http.StatusOK}, {"https://evil.example", "ticket", hash, http.StatusForbidden},
		{own, "other", hash, http.StatusNotFound}, {own, "ticket", strings.Repeat("00", 32), http.StatusNotFound},
		{own, "ticket", "01", http.StatusBadRequest}, {own, strings.Repeat("x", 10_000), hash, http.StatusBadRequest},
	} {
		q, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, own+"/module", strings.NewReader(
			fmt.Sprintf(`{"ticket": %q, "module": %q}`, encodeTicket([]byte(c.ticket)), c.hash)))
		q.Header.Set("Origin", c.origin)
		r, err := http.DefaultClient.Do(q) // which asks for compressed bytes, and unpacks them
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		well := string(b) == strings.Repeat("module", 1000) && r.Uncompressed
		if err != nil || r.StatusCode != c.status || well != (c.status == http.StatusOK) {
			t.Errorf("%.60v: %d, %.40q, %v", c, r.StatusCode, b, err)
		}
	}
}
