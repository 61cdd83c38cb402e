// Browser is the program in a visitor's tab: a peer in a Web Worker, made of package visitor, the browser's websocket
// and its one thread. The worker's script says where to connect and by which ticket in the global object satin, before
// it starts this program:
//
//	{gateway, others, ticket}   origins, the page's own and those where it may go on; base64url
//
// What the page wants, and what it is told, are messages of the worker:
//
//	{do: "rest", on: true}   compute nothing, or again
//	{do: "leave"}            say goodbye, and end
//	{do: "module", bytes, why}  a module that was asked for, or why there is none
//
// See web/worker.js of package gateway for what comes back.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/internal/tab/visitor"
	"github.com/satin-peer/satin/peer/statement"
)

func main() {
	config := js.Global().Get("satin")
	ticket, err := base64.RawURLEncoding.DecodeString(config.Get("ticket").String())
	if err != nil {
		tell("gone", map[string]any{"why": "the link is damaged: it has to be copied whole", "refused": true})
		return
	}
	x := &shelf{came: make(chan js.Value, 1)}
	stay := visitor.NewStay(visitor.StayConfig{
		Config: visitor.Config{Ticket: ticket, Apps: applications(), Breathe: newBreath().take,
			Log: slog.New(slog.NewTextHandler(os.Stdout, nil))},
		Own: config.Get("gateway").String(), Others: texts(config.Get("others")),
		Dial:   func(gateway string) (visitor.Line, error) { return dial(gateway, config.Get("ticket").String()) },
		Module: x.fetch,
	})
	orders := make(chan js.Value, 16)
	js.Global().Call("addEventListener", "message", js.FuncOf(func(_ js.Value, args []js.Value) any {
		select {
		case orders <- args[0].Get("data"):
		default: // nobody presses that fast
		}
		return nil
	}))
	go obey(stay, x, orders)
	go report(stay)
	why := "it has left"
	if err = stay.Run(); err != nil {
		why = err.Error()
	}
	tell("gone", map[string]any{"why": why, "refused": true})
}

// texts are those of a script's list.
func texts(list js.Value) (out []string) {
	for i := range list.Length() {
		out = append(out, list.Index(i).String())
	}
	return out
}

// applications are those that are registered here, in the versions that members know them by.
func applications() (list []statement.App) {
	for _, a := range all.Apps() {
		list = append(list, statement.App{Name: a.Name, Version: statement.VersionOfSources(a.Version, a.Name)})
	}
	return list
}

// tell tells the page something.
func tell(what string, fields map[string]any) {
	fields["what"] = what
	js.Global().Call("postMessage", fields)
}

// obey does what the page wants.
func obey(stay *visitor.Stay, x *shelf, orders <-chan js.Value) {
	for o := range orders {
		switch o.Get("do").String() {
		case "rest":
			stay.Rest(o.Get("on").Bool())
		case "leave":
			stay.Leave()
		case "module":
			select {
			case x.came <- o:
			default: // nobody asked
			}
		}
	}
}

// A shelf is where modules are from: the page fetches each once for all its workers.
type shelf struct{ came chan js.Value }

// fetch asks the page for one. It is for one goroutine at a time.
func (x *shelf) fetch(gateway string, h module.Hash) ([]byte, error) {
	tell("module", map[string]any{"module": hex.EncodeToString(h[:]), "gateway": gateway})
	o := <-x.came
	if why := o.Get("why").String(); why != "" {
		return nil, errors.New(why)
	}
	b := make([]byte, o.Get("bytes").Length())
	js.CopyBytesToGo(b, o.Get("bytes"))
	return b, nil
}

// reportEvery is how often the page is told what was done.
const reportEvery = 500 * time.Millisecond

func report(stay *visitor.Stay) {
	for {
		s, why := stay.Status()
		run := ""
		if s.App != "" {
			run = s.Run.String()
		}
		tell("status", map[string]any{
			"run": run, "app": s.App, "title": s.Title, "owner": s.Owner, "resting": s.Resting, "busy": s.Busy,
			"executed": float64(s.Executed), "taken": float64(s.Taken), "given": float64(s.Given),
			"worked": s.Worked.Seconds(), "why": why,
		})
		tellSegments(stay.Segments())
		time.Sleep(reportEvery)
	}
}

// maxJob bounds the path of a job that the page is told, in characters: of a longer one it is told the end.
const maxJob = 512

// tellSegments tells what became of segments, in words of the dashboard's page, but for times, which are by the clock.
func tellSegments(s visitor.Segments) {
	if s.Part == 0 {
		return
	}
	list := make([]any, len(s.List))
	for i, x := range s.List {
		path := x.Path.String()
		if len(path) > maxJob {
			path = "…" + path[len(path)-maxJob:]
		}
		one := map[string]any{"n": float64(x.Serial), "job": path, "s": seconds(x.Start),
			"sp": float64(x.Spawned), "x": float64(x.Executed), "st": x.State.String(), "re": x.Again}
		if x.State.Ended() {
			one["e"] = seconds(x.End)
		}
		list[i] = one
	}
	tell("segments", map[string]any{"part": float64(s.Part), "list": list, "more": s.More})
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// A breath lets the browser have its thread: what has come in from the network meanwhile is there afterwards. A timer
// would be held back for 4 ms and more, a message to oneself is not.
type breath struct {
	port js.Value
	over chan struct{}
}

func newBreath() *breath {
	c := js.Global().Get("MessageChannel").New()
	b := &breath{port: c.Get("port2"), over: make(chan struct{}, 1<<10)} // a worker takes one before it asks again
	c.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		b.over <- struct{}{}
		return nil
	}))
	return b
}

func (b *breath) take() {
	b.port.Call("postMessage", js.Null())
	<-b.over
}

// A socket is the browser's websocket. Its events may not wait, so what comes in is queued: the member sends no more
// than its core has to say.
type socket struct {
	ws js.Value

	mu    sync.Mutex
	hears map[string]js.Func // by event; nil when it is closed
	queue [][]byte
	ended bool
	bell  chan struct{}
}

// dialWithin is how long a gateway may take to answer: a browser would wait for minutes.
const dialWithin = 10 * time.Second

// dial connects to a gateway, and shows the ticket besides: where the page is another gateway's it is asked for.
func dial(gateway, ticket string) (*socket, error) {
	url := "ws" + strings.TrimPrefix(gateway, "http") + "/peer"
	s := &socket{bell: make(chan struct{}, 1), hears: map[string]js.Func{}}
	s.ws = js.Global().Get("WebSocket").New(url, []any{tab.Subprotocol, ticket})
	s.ws.Set("binaryType", "arraybuffer")
	opened := make(chan struct{}, 1)
	s.on("open", func(js.Value) { opened <- struct{}{} })
	s.on("message", func(e js.Value) {
		from := js.Global().Get("Uint8Array").New(e.Get("data"))
		b := make([]byte, from.Length())
		js.CopyBytesToGo(b, from)
		s.mu.Lock()
		s.queue = append(s.queue, b)
		s.mu.Unlock()
	})
	s.on("close", func(js.Value) {
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
		select {
		case opened <- struct{}{}:
		default:
		}
	})
	select {
	case <-opened:
		return s, nil
	case <-time.After(dialWithin):
		s.Close()
		return nil, errors.New("the gateway does not answer")
	}
}

// on has f done with each event of a kind.
func (s *socket) on(event string, f func(js.Value)) {
	hears := js.FuncOf(func(_ js.Value, args []js.Value) any {
		f(args[0])
		select {
		case s.bell <- struct{}{}:
		default:
		}
		return nil
	})
	s.hears[event] = hears
	s.ws.Set("on"+event, hears)
}

// Send is part of visitor.Line.
func (s *socket) Send(b []byte) {
	if s.ws.Get("readyState").Int() != s.ws.Get("OPEN").Int() {
		return
	}
	a := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(a, b)
	s.ws.Call("send", a)
}

// Close is part of visitor.Line. What a browser has not heard of for long it closes only after a while: Serve does not
// wait for that.
func (s *socket) Close() {
	s.mu.Lock()
	for event, hears := range s.hears {
		s.ws.Set("on"+event, js.Null())
		hears.Release()
	}
	s.hears, s.ended = nil, true
	s.mu.Unlock()
	s.ws.Call("close", 1000)
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// Serve is part of visitor.Line.
func (s *socket) Serve(received func([]byte) error) error {
	for {
		<-s.bell
		s.mu.Lock()
		list, ended := s.queue, s.ended
		s.queue = nil
		s.mu.Unlock()
		for _, b := range list {
			if err := received(b); err != nil {
				return err
			}
		}
		if ended {
			return errors.New("the connection has ended")
		}
	}
}
