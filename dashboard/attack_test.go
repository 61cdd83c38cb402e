package dashboard_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/dashboard"
)

// A page of another site whose name leads to this machine is not answered, whatever cookies the browser has.
func TestRebinding(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.Control)
	port := s.base[strings.LastIndex(s.base, ":")+1:]
	hosts := []string{"evil.example:" + port, "localhost:" + port, "127.0.0.1.evil.example:" + port, "127.0.0.1",
		"127.0.0.1:1", "0.0.0.0:" + port, "192.168.0.1:" + port,
		"[::ffff:127.0.0.1]:" + port, "127.1:" + port, "2130706433:" + port, "0x7f000001:" + port,
		"127.0.0.1:0" + port, "127.0.0.1@evil.example:" + port}
	for _, host := range hosts {
		for _, path := range []string{"/", "/main.js", "/api/v1/status", "/metrics"} {
			code, text := s.do(t, client, request{path: path, header: map[string]string{"Host": host}})
			if code != 421 && code != 400 || strings.Contains(text, "v1\"") {
				t.Errorf("%s at Host %s: %d %s", path, host, code, text)
			}
		}
	}
	for _, host := range []string{"127.0.0.1:" + port, "[::1]:" + port, "127.0.0.2:" + port} {
		if code, text := s.do(t, client, request{path: "/", header: map[string]string{"Host": host}}); code != 200 {
			t.Errorf("/ at Host %s: %d %s", host, code, text)
		}
	}
}

// otherOrigins are those of pages that are not ours.
func otherOrigins(base string) []string {
	port := base[strings.LastIndex(base, ":")+1:]
	return []string{"http://evil.example", "null", "https://127.0.0.1:" + port, "http://127.0.0.1:1",
		"http://127.0.0.1", "http://localhost:" + port, "http://[::1]:" + port,
		base + ".evil.example", base + "/", strings.ToUpper(base), "http://127.0.0.2:" + port, "file://"}
}

// What a page of another site has the browser ask for is refused although the browser sends the session along, and the
// peer does nothing.
func TestCrossSitePost(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.Control)
	post := request{method: "POST", path: "/api/v1/pause", body: `{"for_seconds":0}`}
	for _, origin := range otherOrigins(s.base) {
		if origin == strings.ToUpper(s.base) || origin == s.base+"/" ||
			strings.HasPrefix(origin, "https://127.0.0.1:") {
			continue // no browser sends these without Sec-Fetch-Site, which is below
		}
		post.header = map[string]string{"Origin": origin, "Sec-Fetch-Site": ""}
		if code, text := s.do(t, client, post); code != 403 {
			t.Errorf("from %s: %d %s", origin, code, text)
		}
	}
	for _, from := range []string{"cross-site", "same-site"} { // same-site: another port of this machine
		for _, q := range []request{post, {path: "/api/v1/status"}, {path: "/metrics"},
			{path: "/api/v1/openapi.json"}} {
			q.header = map[string]string{"Sec-Fetch-Site": from, "Origin": ""}
			if code, text := s.do(t, client, q); code != 403 {
				t.Errorf("%s %s: %s: %d %s", q.method, q.path, from, code, text)
			}
		}
	}
	if len(s.source.actions) > 0 {
		t.Errorf("the peer did %q", s.source.actions)
	}
}

// A page of another site gets no websocket, whether it has the session's cookie or a token; the page itself does, and
// so does a script with a token.
func TestCrossSiteWebsocket(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.Control)
	dial := func(header http.Header, jar http.CookieJar) (int, error) {
		conn, reply, err := (&websocket.Dialer{Jar: jar}).Dial("ws"+strings.TrimPrefix(s.base, "http")+
			"/api/v1/live", header)
		if err == nil {
			conn.Close()
		}
		if reply == nil {
			return 0, err
		}
		return reply.StatusCode, err
	}
	for _, origin := range otherOrigins(s.base) {
		if code, err := dial(http.Header{"Origin": {origin}}, client.Jar); code != 403 {
			t.Errorf("from %s: %d %v", origin, code, err)
		}
	}
	if code, err := dial(http.Header{"Origin": {s.base, "http://evil.example"}}, client.Jar); code != 403 {
		t.Errorf("from two: %d %v", code, err)
	}
	if code, err := dial(nil, client.Jar); code != 403 {
		t.Errorf("by cookie from nowhere: %d %v", code, err)
	}
	if code, err := dial(http.Header{"Origin": {s.base}}, nil); code != 401 {
		t.Errorf("without session: %d %v", code, err)
	}
	token := "Bearer " + line(t, s.dir, dashboard.ViewFile)
	if code, err := dial(http.Header{"Origin": {"http://evil.example"}, "Authorization": {token}}, nil); code != 403 {
		t.Errorf("by token from elsewhere: %d %v", code, err)
	}
	if code, err := dial(http.Header{"Authorization": {token}}, nil); err != nil {
		t.Errorf("a script: %d %v", code, err)
	}
	if code, err := dial(http.Header{"Origin": {s.base}}, client.Jar); err != nil {
		t.Errorf("the page: %d %v", code, err)
	}
}

// Without a session there is the page, which holds nothing, and nothing else; with one that may look nothing
// can be done.
func TestSessions(t *testing.T) {
	s := open(t, newFake())
	nobody := &http.Client{}
	link := s.Link(dashboard.View)
	for range 2 { // whoever only looks what is there, as previews do, does not use it up
		if reply, err := nobody.Get(link); err != nil || reply.StatusCode != 200 || len(reply.Cookies()) > 0 {
			t.Fatalf("the link: %v %v", reply, err)
		}
	}
	used := login(t, link)
	if code, text := s.do(t, nobody, used); code != 200 {
		t.Fatalf("the link: %d %s", code, text)
	}
	for name, q := range map[string]request{
		"nobody":           {path: "/api/v1/status"},
		"nobody's metrics": {path: "/metrics"},
		"nobody acts":      {method: "POST", path: "/api/v1/resume", body: "{}"},
		"a used link":      used,
		"no token":         login(t, "/#login="),
		"a made up link":   login(t, "/#login=AAAAAAAAAAAAAAAAAAAAAAAAAA"),
		"a made up session": {path: "/api/v1/status",
			header: map[string]string{"Satin-Session": "AAAAAAAAAAAAAAAAAAAAAAAAAA"}},
		"a made up token": {path: "/api/v1/status",
			header: map[string]string{"Authorization": "Bearer AAAAAAAAAAAAAAAAAAAAAAAAAA"}},
		"an empty token": {path: "/api/v1/status", header: map[string]string{"Authorization": "Bearer "}},
		"a token as Basic": {path: "/api/v1/status",
			header: map[string]string{"Authorization": "Basic " + line(t, s.dir, dashboard.ControlFile)}},
		"an old cookie": {path: "/api/v1/status",
			header: map[string]string{"Cookie": "satin_" + s.base[strings.LastIndex(s.base, ":")+1:] +
				"=AAAAAAAAAAAAAAAAAAAAAAAAAA"}},
		"a token as cookie": {path: "/api/v1/status",
			header: map[string]string{"Cookie": "satin_" + s.base[strings.LastIndex(s.base, ":")+1:] + "=" +
				line(t, s.dir, dashboard.ControlFile)}},
		"a token in the URL": {path: "/api/v1/status?token=" + line(t, s.dir, dashboard.ControlFile)},
	} {
		if code, text := s.do(t, nobody, q); code != 401 {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	act := request{method: "POST", path: "/api/v1/resume", body: "{}"}
	if code, text := s.do(t, s.enter(t, dashboard.View), act); code != 403 {
		t.Errorf("who may look acts: %d %s", code, text)
	}
	act.header = map[string]string{"Authorization": "Bearer " + line(t, s.dir, dashboard.ViewFile)}
	if code, text := s.do(t, nobody, act); code != 403 {
		t.Errorf("the token to look acts: %d %s", code, text)
	}
	if len(s.source.actions) > 0 {
		t.Errorf("the peer did %q", s.source.actions)
	}
	act.header = map[string]string{"Authorization": "Bearer " + line(t, s.dir, dashboard.ControlFile), "Origin": "",
		"Sec-Fetch-Site": ""}
	if code, text := s.do(t, nobody, act); code != 200 {
		t.Errorf("a script: %d %s", code, text)
	}
}

// What browsers send to every port of this machine lets nobody act.
func TestCookie(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.Control)
	here, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	c := client.Jar.Cookies(here)
	if len(c) != 1 || strings.Contains(c[0].Value, line(t, s.dir, dashboard.ControlFile)) ||
		c[0].Value == client.Transport.(holding).session {
		t.Errorf("cookies %v", c)
	}
	act := request{method: "POST", path: "/api/v1/resume", body: "{}"}
	if code, text := s.do(t, client, act); code != 200 {
		t.Errorf("the page: %d %s", code, text)
	}
	client.Transport = nil
	if code, text := s.do(t, client, request{path: "/api/v1/status"}); code != 200 {
		t.Errorf("looking by cookie: %d %s", code, text)
	}
	if code, text := s.do(t, client, act); code != 403 {
		t.Errorf("acting by cookie: %d %s", code, text)
	}
	act.header = map[string]string{"Satin-Session": c[0].Value}
	if code, text := s.do(t, client, act); code != 403 {
		t.Errorf("acting by the cookie's value: %d %s", code, text)
	}
}

// Links and sessions are bounded: new ones end the oldest.
func TestManyLinks(t *testing.T) {
	s := open(t, newFake())
	first, last := s.Link(dashboard.View), ""
	for range 32 {
		last = s.Link(dashboard.View)
	}
	if code, _ := s.do(t, &http.Client{}, login(t, first)); code != 401 {
		t.Errorf("the oldest of 33 links: %d", code)
	}
	if code, _ := s.do(t, &http.Client{}, login(t, last)); code != 200 {
		t.Errorf("the newest: %d", code)
	}
	client := s.enter(t, dashboard.View)
	for range 64 {
		s.enter(t, dashboard.View)
	}
	if code, _ := s.do(t, client, request{path: "/api/v1/status"}); code != 401 {
		t.Errorf("the oldest of 65 sessions: %d", code)
	}
}

// No path leads out of the page's files, or to those of them that are not for browsers.
func TestTraversal(t *testing.T) {
	s := open(t, newFake())
	for _, path := range []string{"/../go.mod", "/..%2fsource.go", "/%2e%2e/source.go", "/web/index.html",
		"/.gitignore", "/package.json", "/node_modules/x", "//etc/passwd",
		"/%00", "/index.html/", "/main.js%00.css", "/..\\source.go", "/test/x.mjs"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path,
			strings.TrimPrefix(s.base, "http://"))
		text, err := io.ReadAll(conn)
		conn.Close()
		code := strings.SplitN(string(text), " ", 3)
		if err != nil || len(code) < 3 || code[1] != "404" && code[1] != "400" && code[1] != "307" && code[1] != "301" {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
}

// Headers of 64 KiB are not read to their end: the request is refused, or the connection closed.
func TestGiantHeaders(t *testing.T) {
	s := open(t, newFake())
	r, err := http.NewRequest(http.MethodGet, s.base+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Giant", strings.Repeat("x", 64<<10))
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return // the server has gone before it was all sent
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("64 KiB of a header: %s", reply.Status)
	}
}

// Every reply says that it is to be framed, guessed at, kept or read by nobody else.
func TestHeaders(t *testing.T) {
	s := open(t, newFake())
	client := s.enter(t, dashboard.View)
	for _, path := range []string{"/", "/main.js", "/style.css", "/api/v1/status", "/metrics", "/nothing", "/api/v1/login"} {
		reply, err := client.Get(s.base + path)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		csp := reply.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'",
			"require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: Content-Security-Policy %q lacks %s", path, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", path, csp)
		}
		if reply.Header.Get("X-Content-Type-Options") != "nosniff" ||
			reply.Header.Get("Access-Control-Allow-Origin") != "" ||
			reply.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, reply.Header)
		}
	}
}
