package gateway

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/peer/statement"
)

// A page sends nobody to a door that is another one for its visitors than for whoever told of it, nor from TLS to none.
func TestWhereAPageMayGoOn(t *testing.T) {
	for page, want := range map[statement.Origin]string{
		"http://127.0.0.1:1":  "http://127.0.0.1:9 http://127.0.0.2:1 http://192.168.1.2:1 http://100.64.0.1 http://8.8.8.8 https://8.8.8.8 https://a.example",
		"http://192.168.1.5":  "http://192.168.1.2:1 http://100.64.0.1 http://8.8.8.8 https://8.8.8.8 https://a.example",
		"https://192.168.1.5": "https://8.8.8.8 https://a.example",
		"https://b.example":   "https://8.8.8.8 https://a.example",
		"https://a.example":   "https://8.8.8.8",
		"http://8.8.4.4":      "http://8.8.8.8 https://8.8.8.8 https://a.example",
	} {
		for _, other := range []statement.Origin{"http://127.0.0.1:9", "http://127.0.0.2:1", "http://192.168.1.2:1",
			"http://100.64.0.1", "http://8.8.8.8", "https://8.8.8.8", "https://a.example",
			// and never
			"", "http://a.example", "http://localhost:9", "https://localhost", "http://0.0.0.0:1", "http://169.254.1.1",
			"http://224.0.0.1", "http://255.255.255.255", "http://[::1]:1", "http://[2001:db8::1]", "ftp://8.8.8.8",
			"https://a.example:443", "https://A.example", "https://a.example/x", "https://a.example; script-src *",
			"https://a.example https://*", "https://*.example", "https://u@a.example", "http://0x7f.1", "http://2130706433",
			"http://127.1", "https://a..example", "http://8.8.8.8:0", "http://8.8.8.8:99999", "*", "http:", "data:,x",
			statement.Origin("https://" + strings.Repeat("a", 200)),
		} {
			got := choose(page, []Another{{"m", "h", other}}, nil)
			if wanted := slices.Contains(strings.Fields(want), string(other)); (len(got) == 1) != wanted {
				t.Errorf("from %s to %s: %v", page, other, got)
			}
		}
	}
}

// Of many members few are taken, each hand first once, and whoever has many members cannot tell which.
func TestFewGatewaysAreChosen(t *testing.T) {
	var told []Another
	for i := range 1000 {
		told = append(told, Another{fmt.Sprint("evil", i), "evil",
			statement.Origin(fmt.Sprintf("https://e%d.example", i%500))})
	}
	for i := range MaxOthers - 1 {
		told = append(told, Another{fmt.Sprint("good", i), fmt.Sprint(i),
			statement.Origin(fmt.Sprintf("https://g%d.example", i))})
	}
	seen := map[statement.Origin]bool{}
	for salt := range 20 {
		list := choose("https://page.example", told, []byte{byte(salt)})
		rand.Shuffle(len(told), func(i, j int) { told[i], told[j] = told[j], told[i] })
		if again := choose("https://page.example", told, []byte{byte(salt)}); !slices.Equal(list, again) {
			t.Fatalf("%v became %v", list, again)
		}
		evil := slices.DeleteFunc(slices.Clone(list), func(o statement.Origin) bool { return o[8] == 'g' })
		if len(list) != MaxOthers || len(evil) != 1 {
			t.Fatalf("chosen are %v", list)
		}
		seen[evil[0]] = true
	}
	if len(seen) < 10 {
		t.Errorf("of 500 the same come: %v", seen)
	}
	alone := choose("https://page.example", told[:2], nil)
	told = []Another{{"a", "x", "https://one.example"}, {"b", "y", "https://one.example"}, {"c", "x", "https://two.example"}}
	if list := choose("https://page.example", told, nil); len(list) != 2 || len(alone) > 2 {
		t.Errorf("chosen are %v, %v", list, alone)
	}
}

// A page of another gateway comes in by a ticket that was made for it, and by nothing else; and it gets modules.
func TestPagesOfOtherGateways(t *testing.T) {
	s, _ := keep(t, Config{})
	for name, c := range map[string]struct {
		origin, ticket string
		more           []string
		well           bool
	}{
		"with its ticket":     {"https://other.example", "ticket", nil, true},
		"with another ticket": {"https://evil.example", "ticket", nil, false},
		"with a bad one":      {"https://other.example", "bad", nil, false},
		"without one":         {"https://other.example", "", nil, false},
		"of no origin":        {"", "pageless", nil, false},
		"of a hidden origin":  {"null", "pageless", nil, false},
		"that asks for more":  {"https://other.example", "ticket", []string{"x"}, false},
	} {
		head := http.Header{"Origin": {c.origin}}
		if c.origin == "" {
			head = http.Header{}
		}
		dialer := websocket.Dialer{Subprotocols: append([]string{tab.Subprotocol, encodeTicket([]byte(c.ticket))},
			c.more...)}
		conn, r, err := dialer.DialContext(t.Context(), "ws://"+s.base.URL().Host+"/peer", head)
		if (err == nil) != c.well || r == nil || r.Body.Close() != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if conn.Subprotocol() != tab.Subprotocol || conn.Close() != nil {
				t.Errorf("%s: the subprotocol is %q", name, conn.Subprotocol())
			}
		}
		q, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, string(s.base)+"/module", strings.NewReader(
			fmt.Sprintf(`{"ticket": %q, "module": "01%062d"}`, encodeTicket([]byte(c.ticket)), 0)))
		q.Header = head
		r, err = http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		got := r.StatusCode == http.StatusOK && len(b) > 0 && r.Header.Get("Access-Control-Allow-Origin") == c.origin
		if c.more == nil && got != c.well {
			t.Errorf("%s a module: %d", name, r.StatusCode)
		}
	}
}

// The page and its workers may speak to the gateways that were chosen, and to nobody else; what else is served may not.
func TestPolicy(t *testing.T) {
	s, _ := keep(t, Config{})
	for path, want := range map[string]string{"/": "connect-src 'self' https://next.example:8 wss://next.example:8",
		"/worker.js": "connect-src 'self' https://next.example:8 wss://next.example:8", "/main.js": "connect-src 'self'"} {
		r, err := http.Get(string(s.base) + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if csp := r.Header.Get("Content-Security-Policy"); !strings.HasSuffix(csp, want) {
			t.Errorf("%s: %s", path, csp)
		}
	}
}

// A crowd is a House that counts how often it is asked for others.
type crowd struct {
	inn
	asked *int
}

func (c crowd) Others() []Another {
	*c.asked++
	return c.inn.Others()
}

// However many ask, all members are looked at once a second.
func TestOthersAreChosenSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked int
		s := &Server{house: crowd{asked: &asked}, base: "https://own.example"}
		for want := range 3 {
			for range 100 {
				if len(s.others()) != 1 || asked != want+1 {
					t.Fatalf("asked %d times, for %v", asked, s.others())
				}
			}
			time.Sleep(chosenFor)
		}
	})
}
