package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/satin-peer/satin/dashboard"
)

// TestDashboard opens the page of a daemon by the link that the command prints, as a browser does.
func TestDashboard(t *testing.T) {
	m := newFakeMember()
	f := starter(t, m)
	code := make(chan int)
	go func() { code <- f.run("start") }()
	f.connected(t).Close()
	user := newFake()
	user.dirs = f.dirs
	for user.run("dashboard") != 0 { // the control socket is there first
		if !strings.Contains(user.err.String(), "no dashboard is running") {
			t.Fatal(user.err.String())
		}
		user.err.Reset()
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	base := enter(t, browser, strings.TrimSpace(user.out.String()))
	reply, err := browser.Get(base + "/api/v1/status")
	var s dashboard.Status
	if err != nil || json.NewDecoder(reply.Body).Decode(&s) != nil || s.Peer != m.status.Peer ||
		s.Workers != m.status.Workers {
		t.Errorf("status %+v, %v", s, err)
	}
	reply.Body.Close()
	r, err := http.NewRequest(http.MethodPost, base+"/api/v1/runs/"+runGoing+"/cancel", bytes.NewReader([]byte("{}")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if reply, err = browser.Do(r); err != nil || reply.StatusCode != 200 {
		t.Errorf("cancel: %v %v", reply, err)
	}
	reply.Body.Close()
	browser.CloseIdleConnections()
	f.caught <- syscall.SIGTERM
	if got := <-code; got != 0 || strings.Contains(f.err.String(), "login=") {
		t.Errorf("exit code %d, error %q", got, &f.err)
	}
	if !slices.Contains(m.asked, "cancel "+runGoing) {
		t.Errorf("the daemon was asked %q", m.asked)
	}
	left, err := filepath.Glob(filepath.Join(f.dirs.State, "control", "dashboard.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	user.err.Reset()
	if got := user.run("dashboard"); got != exitFailed ||
		!strings.Contains(user.err.String(), "no dashboard is running") {
		t.Errorf("afterwards: exit code %d, error %q", got, &user.err)
	}
}

// enter does with a link what the page does, and says where the page is.
func enter(t *testing.T, browser *http.Client, link string) (base string) {
	t.Helper()
	base, secret, ok := strings.Cut(link, "/#login=")
	if !ok {
		t.Fatalf("the link is %q", link)
	}
	reply, err := browser.Post(base+"/api/v1/login", "application/json", strings.NewReader(`{"token":"`+secret+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var s dashboard.Session
	if err := json.NewDecoder(reply.Body).Decode(&s); err != nil || s.Session == "" {
		t.Fatal(reply.Status, s, err)
	}
	browser.Transport = holding{s.Session}
	return base
}

// holding sends what the page holds.
type holding struct{ session string }

func (h holding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Satin-Session", h.session)
	return http.DefaultTransport.RoundTrip(r)
}

// TestNoDashboard starts a daemon that is to have none.
func TestNoDashboard(t *testing.T) {
	f := starter(t, newFakeMember())
	code := make(chan int)
	go func() { code <- f.run("start", "--dashboard", "off") }()
	f.connected(t).Close()
	f.caught <- os.Interrupt
	if got := <-code; got != 0 || strings.Contains(f.err.String(), "dashboard") {
		t.Errorf("exit code %d, error %q", got, &f.err)
	}
}

func TestRough(t *testing.T) {
	for from, want := range map[float64]float64{0: 0, -1: 0, 0.0012345: 0.0012, 0.0999: 0.1, 12.34: 12, 5e-9: 5e-9} {
		if got := rough(from); got < want*0.999999 || got > want*1.000001 {
			t.Errorf("rough(%v) = %v, want %v", from, got, want)
		}
	}
}
