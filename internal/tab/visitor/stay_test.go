package visitor

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// A mute is a line to a gateway that says what it was told to, and then nothing.
type mute struct {
	says   []*tab.Frame
	every  time.Duration // the last again and again; 0: once
	mu     sync.Mutex
	heard  []*tab.Frame
	ready  chan struct{} // is told that it is; nil: nobody wants to know
	closed chan struct{}
	once   sync.Once
}

func (w *mute) Send(b []byte) {
	f, err := tab.Decode(b)
	if err != nil {
		panic(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, f)
	if w.ready != nil && f.Ready != nil && f.Ready.Cannot == "" {
		w.ready <- struct{}{}
	}
}

func (w *mute) Close() { w.once.Do(func() { close(w.closed) }) }

func (w *mute) Serve(received func([]byte) error) error {
	say := func(f *tab.Frame) error {
		b, err := f.Encode(tab.MaxToTab)
		if err != nil {
			panic(err)
		}
		return received(b)
	}
	for _, f := range w.says {
		if err := say(f); err != nil {
			return err
		}
	}
	for w.every > 0 {
		select {
		case <-w.closed:
			return nil
		case <-time.After(w.every):
			if err := say(w.says[len(w.says)-1]); err != nil {
				return err
			}
		}
	}
	<-w.closed
	return nil
}

func greeting() *tab.Frame { return &tab.Frame{Greeting: &tab.Greeting{Member: "a"}} }

// A gateway that falls silent without a word is left after a minute or so, one that says that it is there is not, and
// every visit is somebody new.
func TestSilentGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := &mute{says: []*tab.Frame{greeting()}, closed: make(chan struct{})}
		good := &mute{says: []*tab.Frame{greeting(), {Still: &tab.Still{}}}, every: tab.StillEvery,
			closed: make(chan struct{})}
		lines := map[string]*mute{"silent": silent, "good": good}
		came := map[string]time.Time{}
		s := NewStay(StayConfig{Own: "silent", Others: []string{"good"}, Dial: func(at string) (Line, error) {
			came[at] = time.Now()
			return lines[at], nil
		}})
		s.Rest(true)
		ended := make(chan error)
		go func() { ended <- s.Run() }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if after := came["good"].Sub(came["silent"]); after < tab.GoneAfter || after > 2*tab.GoneAfter {
			t.Errorf("the silent gateway was left after %v", after)
		}
		if time.Since(came["good"]) < 50*time.Minute {
			t.Error("who says that it is there is left")
		}
		for name, w := range lines {
			if len(w.heard) != 2 || w.heard[0].Visit == nil || w.heard[1].Rest == nil {
				t.Errorf("%s has heard %+v", name, w.heard)
			}
		}
		if string(silent.heard[0].Visit) == string(good.heard[0].Visit) {
			t.Error("it is the same visitor")
		}
		s.Leave()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A gateway that refuses, that is not there, or that gives work which the ticket is not for is left for the next one;
// when nobody lets it in the stay is over, and says why.
func TestBadGateways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var visits []string
		s := NewStay(StayConfig{Own: "refuses", Others: []string{"is away"}, Dial: func(at string) (Line, error) {
			visits = append(visits, at)
			if at == "is away" && len(visits) < 4 {
				return nil, errors.New("nobody is there")
			}
			return &mute{says: []*tab.Frame{greeting(), {Over: &tab.Over{Why: "the link has expired"}}},
				closed: make(chan struct{})}, nil
		}})
		err := s.Run()
		if err == nil || !strings.Contains(err.Error(), "has expired") ||
			strings.Join(visits, ",") != "refuses,is away,is away,is away" {
			t.Errorf("after %v: %v", visits, err)
		}
		if _, why := s.Status(); !strings.Contains(why, "has expired") {
			t.Errorf("it is shown %q", why)
		}
	})
	v, err := New(Config{Send: func([]byte) {}})
	if err != nil {
		t.Fatal(err)
	}
	v.only, v.member = job.RunID{1}, "a"
	if err := v.begin(&tab.Work{Run: job.RunID{2}, Self: steal.Incarnation(1), App: "x"}); err == nil {
		t.Error("it works for a run that its ticket is not for")
	}
}

// Guards against a tab that fetches its run's module anew at each visit, and keeps all of them: a network that comes
// and goes would fill its memory.
func TestModuleStays(t *testing.T) {
	bin, err := os.ReadFile("../../../examples/queens-c/queens.wasm")
	if err != nil {
		t.Fatal(err)
	}
	h := module.HashOf(bin)
	work := &tab.Work{Run: job.RunID{1}, Self: 1, App: "x", Module: h[:]}
	fetched := 0
	s := NewStay(StayConfig{Dial: func(string) (Line, error) {
		w := &mute{says: []*tab.Frame{greeting(), {Work: work}}, ready: make(chan struct{}),
			closed: make(chan struct{})}
		go func() {
			<-w.ready
			w.Close()
		}()
		return w, nil
	}, Module: func(string, module.Hash) ([]byte, error) {
		fetched++
		return bin, nil
	}})
	for range 2 {
		if _, err := s.visit("own"); err != errEnded {
			t.Error(err)
		}
	}
	if fetched != 1 {
		t.Errorf("it was fetched %d times", fetched)
	}
}
