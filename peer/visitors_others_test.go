package peer_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/internal/tab/visitor"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/statement"
)

// gatewayMain is a process with a daemon that has a gateway: it joins a swarm at an address, prints a link for the run
// that it takes part in, and goes on until its input ends.
func gatewayMain(dir, at string) error {
	cfg := peer.Config{Workers: 1, Cluster: "here", Every: 50 * time.Millisecond, FullPriority: true,
		Host: host.Config{StateDir: dir, Swarm: "test", Trust: host.TrustOpen,
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Bootstrap: []string{at}}}
	browsers(&cfg)
	p, err := peer.Open(context.Background(), cfg, []peer.Application{{Name: "peertest"}})
	if err != nil {
		return err
	}
	defer p.Close()
	for {
		list, err := p.Runs(context.Background())
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.State == control.RunRunning {
				s, err := p.Share(context.Background(), control.Sharing{Run: r.Run})
				if err == nil {
					fmt.Println(s.Link)
					_, _ = bufio.NewReader(os.Stdin).ReadByte()
				}
				return err
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// gatewayProcess starts one, and gives its link.
func gatewayProcess(t *testing.T, at string) (link string, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "gateway", t.TempDir(), at)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	over := sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(over)
	t.Cleanup(func() { _ = in.Close() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the gateway has no link: ", err)
	}
	return strings.TrimSpace(line), over
}

// A websocketLine is a websocket as a visitor's line.
type websocketLine struct {
	*websocket.Conn
	writing sync.Mutex
}

func (w *websocketLine) Send(b []byte) {
	w.writing.Lock()
	defer w.writing.Unlock()
	_ = w.WriteMessage(websocket.BinaryMessage, b)
}

func (w *websocketLine) Close() { _ = w.Conn.Close() }

func (w *websocketLine) Serve(received func([]byte) error) error {
	for {
		_, b, err := w.ReadMessage()
		if err == nil {
			err = received(b)
		}
		if err != nil {
			return err
		}
	}
}

// An arrival is where a visitor comes in, and how many jobs it has taken before.
type arrival struct {
	gateway string
	taken   uint64
}

// stay helps by a link as the page does, in this process: from the page of that gateway, wherever it goes on. At is
// told of each arrival.
func stay(t *testing.T, link string, others []string, at *atomic.Value) *visitor.Stay {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	own := u.Scheme + "://" + u.Host
	ticket, err := base64.RawURLEncoding.DecodeString(u.Fragment)
	if err != nil {
		t.Fatal(err)
	}
	var s *visitor.Stay
	s = visitor.NewStay(visitor.StayConfig{
		Config: visitor.Config{Ticket: ticket, Apps: []statement.App{{Name: "peertest"}}},
		Own:    own, Others: others,
		Dial: func(gateway string) (visitor.Line, error) {
			d := websocket.Dialer{Subprotocols: []string{tab.Subprotocol, u.Fragment}}
			conn, reply, err := d.Dial("ws"+strings.TrimPrefix(gateway, "http")+"/peer", http.Header{"Origin": {own}})
			if err != nil {
				return nil, err
			}
			_ = reply.Body.Close()
			before, _ := s.Status()
			at.Store(arrival{gateway, before.Taken})
			return &websocketLine{Conn: conn}, nil
		},
	})
	var run sync.WaitGroup
	run.Go(func() {
		if err := s.Run(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.Leave()
		run.Wait()
	})
	return s
}

// about is what a page learns of its link.
func about(t *testing.T, link string) (others []string) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	own := u.Scheme + "://" + u.Host
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, own+"/about", strings.NewReader(u.Fragment))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Origin", own)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var a struct{ Others []string }
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a.Others
}

// Two daemons are gateways for one link: when the one that has made it is killed, its visitor goes on at the other one
// with the same ticket, and the answer is right.
func TestKilledGatewayIsReplaced(t *testing.T) {
	t.Parallel()
	a := open(t)
	work := last(t)
	run := submit(t, a, "count", work.arg)
	first, kill := gatewayProcess(t, address(t, a))
	second, _ := gatewayProcess(t, address(t, a))
	var others []string
	until(t, "the page is told of the other gateway", func() bool {
		others = about(t, first)
		return len(others) == 1 && strings.HasPrefix(second, others[0]+"/#")
	})
	var at atomic.Value
	v := stay(t, first, others, &at)
	until(t, "the visitor has stolen", func() bool {
		s, _ := v.Status()
		return s.Taken > 0
	})
	kill()
	until(t, "it has stolen at the other one", func() bool {
		s, _ := v.Status()
		came := at.Load().(arrival)
		return came.gateway == others[0] && s.Taken > came.taken
	})
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}
