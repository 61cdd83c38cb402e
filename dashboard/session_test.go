package dashboard

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard/web"
)

// A link is good for a day.
func TestOldLink(t *testing.T) {
	s := newSessions(80)
	now := time.Now()
	for after, want := range map[time.Duration]bool{0: true, linkValid: true, linkValid + 1: false} {
		if _, _, _, ok := s.enter(s.link(View, now), now.Add(after)); ok != want {
			t.Errorf("after %v: %v, want %v", after, ok, want)
		}
	}
}

// Every file of the page has its type, and all of it is small.
func TestPage(t *testing.T) {
	files, err := web.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	const most = 200 << 10
	size := 0
	for _, f := range files {
		text, err := web.Files.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		size += len(text)
		if contentType(f.Name()[strings.LastIndex(f.Name(), "."):]) == "application/octet-stream" {
			t.Errorf("%s has no type", f.Name())
		}
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
			"new Function", "https://"} {
			// which says in a comment where it is from
			if strings.Contains(string(text), word) && (word != "https://" || f.Name() != "uPlot.js") {
				t.Errorf("%s has %s: text goes in by textContent, and everything is here", f.Name(), word)
			}
		}
	}
	if size > most {
		t.Errorf("the page has %d bytes, at most %d", size, most)
	}
}

// Whatever a Host is, one that is answered is a loopback address and the port, and nothing else.
func FuzzHost(f *testing.F) {
	s := &Server{at: netip.MustParseAddrPort("127.0.0.1:8080")}
	for _, host := range []string{"127.0.0.1:8080", "[::1]:8080", "localhost:8080", "[::ffff:127.0.0.1]:8080",
		"[::1%lo]:8080", "127.0.0.1:08080", "evil.example:8080"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !s.isHost(host) {
			return
		}
		address, ok := strings.CutSuffix(host, ":8080")
		at, err := netip.ParseAddr(strings.Trim(address, "[]"))
		if !ok || err != nil || !at.IsLoopback() || at.Is4() != (address[0] != '[') ||
			strings.ContainsAny(host, "%@/\\ ") {
			t.Errorf("%q is answered", host)
		}
		r := &http.Request{Host: host, Header: http.Header{"Origin": {"http://" + host}}}
		if !isOrigin(r) {
			t.Errorf("the page at %q is not", host)
		}
	})
}

// Whatever a client says, what is taken for a subscription is one.
func FuzzSubscription(f *testing.F) {
	for _, text := range []string{`{"topics":["runs"],"epoch":"x","after":3}`, `{"topics":[]}`, `{}`, `null`, `[]`,
		`{"topics":["x"]}`, `{"topics":[]}{}`, `{"after":-1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s Subscription
		if strictly(text, &s) != nil || s.check() != nil {
			return
		}
		store := newStore()
		if c := store.since(s.After, s.Epoch != "", s.Topics); len(s.Topics) > len(topics) ||
			len(s.Epoch) > maxEpoch || c.Number != 0 {
			t.Errorf("%q is taken for %+v", text, s)
		}
	})
}
