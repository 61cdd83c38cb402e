package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"

	"github.com/satin-peer/satin/dashboard"
)

// pageLink is what a run that is watched prints first.
var pageLink = regexp.MustCompile(`the run in the browser: (http://127\.0\.0\.1:\d+)(/\S+) `)

// A run in this process is seen, paused, resumed and cancelled in the browser; then its page is gone.
func TestRunInTheBrowser(t *testing.T) {
	f := newFake()
	code := make(chan int)
	go func() { code <- f.run("run", "spin", "--workers", "2", "--dashboard") }()
	<-begun
	link := pageLink.FindStringSubmatch(f.err.String()) // printed before the job began
	if link == nil {
		t.Fatalf("no link in %q", f.err.String())
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(path string, to any) {
		t.Helper()
		r, err := browser.Get(link[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if to != nil {
			if err := json.NewDecoder(r.Body).Decode(to); err != nil {
				t.Fatalf("%s: %d, %v", path, r.StatusCode, err)
			}
		}
	}
	post := func(path, body string) {
		t.Helper()
		r, err := browser.Post(link[1]+path, "application/json", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, r.Status)
		}
	}
	enter(t, browser, link[1]+link[2])
	var s dashboard.Status
	if get("/api/v1/status", &s); s.Workers != 2 || s.State != "working" || s.Swarm != "none" {
		t.Errorf("status %+v", s)
	}
	post("/api/v1/pause", `{"for_seconds":3600}`)
	if get("/api/v1/status", &s); s.State != "paused" || s.PausedUntil == nil {
		t.Errorf("after a pause: status %+v", s)
	}
	post("/api/v1/resume", `{}`)
	s = dashboard.Status{}
	if get("/api/v1/status", &s); s.State != "working" || s.PausedUntil != nil {
		t.Errorf("after the pause: status %+v", s)
	}
	var runs []dashboard.Run
	if get("/api/v1/runs", &runs); len(runs) != 1 || runs[0].App != "spin" || !runs[0].Mine {
		t.Fatalf("runs %+v", runs)
	}
	post("/api/v1/runs/"+runs[0].Run+"/cancel", `{}`)
	if got := <-code; got != 1 || !strings.Contains(f.err.String(), "cancelled in the browser") {
		t.Errorf("exit code %d, %s", got, f.err.String())
	}
	if r, err := browser.Get(link[1]); err == nil {
		r.Body.Close()
		t.Error("the page outlives the run")
	}
}
