package session

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// ordered is an engine that writes down what it is told.
type ordered struct {
	port.Live
	did []port.Order
}

func (o *ordered) Do(order *port.Order) { o.did = append(o.did, *order) }

// Guards that what is to outlive a run goes to whoever keeps it, and nothing else does; that a few at a time are
// fetched for jobs; that the engine hears of each, also of one that cannot be had; and that without anybody who keeps
// such things all of it goes where it went.
func TestWhatOutlivesTheRun(t *testing.T) {
	body := sharedobj.Build([]byte("piece"))
	made := func(name string) port.Event {
		return port.Event{Kind: port.Made, Shared: &port.Shared{State: body,
			Recipe: &sharedobj.Recipe{Kind: sharedobj.Constant, Name: name, State: body.Blob}}}
	}
	events := []port.Event{{Kind: port.LoadChanged, Load: steal.Load{Idle: 1}}, made(port.Deposit), made("constant"),
		{Kind: port.Wanted, Shared: &port.Shared{Digest: sharedobj.Digest{7}}}}
	const wanted = maxBringing + 3
	for i := range wanted {
		events = append(events, port.Event{Kind: port.Wanted,
			Shared: &port.Shared{Digest: sharedobj.Digest{byte(i)}, Name: port.Deposit}})
	}
	engine := &ordered{}
	var kept [][]byte
	var asked []sharedobj.Digest
	var done []func([]byte)
	var told []func(time.Duration)
	cfg := &Config{Engine: engine}
	l := &lasting{cfg: cfg, tell: func(f func(time.Duration)) { told = append(told, f) }}
	if n := len(l.take(events)); n != len(events) {
		t.Errorf("%d of %d events are left where nobody keeps anything", n, len(events))
	}
	cfg.Deposit = func(b []byte) { kept = append(kept, b) }
	cfg.Bring = func(d sharedobj.Digest, f func([]byte)) { asked, done = append(asked, d), append(done, f) }
	rest := l.take(events)
	if len(rest) != 3 || rest[1].Shared.Recipe.Name != "constant" || rest[2].Shared.Digest != (sharedobj.Digest{7}) {
		t.Errorf("what is left is %+v", rest)
	}
	if len(kept) != 1 || !bytes.Equal(kept[0], body.Bytes()) {
		t.Errorf("%q are kept", kept)
	}
	if len(asked) != maxBringing {
		t.Errorf("%d are fetched at once", len(asked))
	}
	for i := 0; i < len(done); i++ {
		done[i]([][]byte{[]byte("x"), nil}[i%2])
		told[i](0)
	}
	if len(asked) != wanted || len(engine.did) != wanted {
		t.Fatalf("%d are fetched, and the engine hears of %d", len(asked), len(engine.did))
	}
	for i, o := range engine.did {
		want := [...]port.OrderKind{port.Here, port.Failed}[i%2]
		if o.Kind != want || o.Shared.Digest != asked[i] || (o.Kind == port.Failed) != (o.Shared.Text != "") {
			t.Errorf("of %v it is told %+v", asked[i], o)
		}
	}
}

// An engine that asks without end for what outlives a run has so many questions waiting, and no more.
func TestWantsAreBounded(t *testing.T) {
	engine := &ordered{}
	l := &lasting{cfg: &Config{Engine: engine, Deposit: func([]byte) {},
		Bring: func(sharedobj.Digest, func([]byte)) {}}}
	events := make([]port.Event, 1024)
	for i := range events {
		events[i] = port.Event{Kind: port.Wanted, Shared: &port.Shared{Name: port.Deposit}}
	}
	const rounds = 2 * maxWants / 1024
	for range rounds {
		l.take(events)
	}
	if want := rounds*len(events) - maxWants - maxBringing; len(l.wants) > maxWants || len(engine.did) != want ||
		engine.did[0].Kind != port.Failed {
		t.Errorf("%d wait, and the engine hears of %d, want %d", len(l.wants), len(engine.did), want)
	}
}

// Whatever an engine has trouble with is one thing to the log, which leaves out what is said too often, and it is no
// long line.
func TestTroubleIsShort(t *testing.T) {
	var said bytes.Buffer
	s := &Session{cfg: Config{Log: slog.New(slog.NewTextHandler(&said, nil))}}
	s.note(&port.Event{Kind: port.Troubled, Text: strings.Repeat("trouble ", maxTrouble)})
	const begins = `msg="a job has trouble" text="trouble `
	if got := said.String(); len(got) > maxTrouble+100 || !strings.Contains(got, begins) {
		t.Errorf("%d bytes are logged: %.200s", len(got), got)
	}
}
