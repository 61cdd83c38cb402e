package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/peer/control"
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

// A time is sent with its two first digits, however short it is, and one that is none as 0.
func TestRough(t *testing.T) {
	for from, want := range map[float64]float64{0: 0, -1: 0, 0.0012345: 0.0012, 0.0999: 0.1, 12.34: 12, 5e-9: 5e-9} {
		if got := rough(from); got < want*0.999999 || got > want*1.000001 {
			t.Errorf("rough(%v) = %v, want %v", from, got, want)
		}
	}
}

// The page is shown all that it has room for of what a daemon says: no field is forgotten where one is made of the
// other.
func TestPageIsShownAll(t *testing.T) {
	m := &fakeMember{peers: make([]control.PeerInfo, 1), runs: make([]control.RunInfo, 1)}
	for _, v := range []any{&m.status, &m.peers[0], &m.runs[0]} {
		fill(reflect.ValueOf(v).Elem())
	}
	s := shown{m}
	status, err := s.Status(t.Context())
	peers, err2 := s.Peers(t.Context())
	runs, err3 := s.Runs(t.Context())
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{status, peers[0], runs[0]} {
		for v, i := reflect.ValueOf(v), 0; i < v.NumField(); i++ {
			if v.Field(i).IsZero() {
				t.Errorf("%T lacks %s", v.Interface(), v.Type().Field(i).Name)
			}
		}
	}
}

// fill makes all that is in a value other than zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.Set(reflect.ValueOf(1).Convert(v.Type()))
	}
}
