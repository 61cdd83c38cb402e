// Browser is the program in a visitor's tab: a peer in a Web Worker, made of package visitor, the browser's websocket
// and its one thread. The worker's script says where to connect and by which ticket in the global object satin, before
// it starts this program; what the page wants, and what it is told, are messages of the worker:
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
	"sync"
	"syscall/js"
	"time"

	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/internal/module"
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
	s := &socket{ws: js.Global().Get("WebSocket").New(config.Get("url"))}
	s.bell = make(chan struct{}, 1)
	x := &shelf{came: make(chan js.Value, 1)}
	v, err := visitor.New(visitor.Config{Ticket: ticket, Apps: applications(), Module: x.fetch, Send: s.send,
		Breathe: newBreath().take, Log: slog.New(slog.NewTextHandler(os.Stdout, nil))})
	if err != nil {
		tell("gone", map[string]any{"why": err.Error(), "refused": false})
		return
	}
	s.listen()
	orders := make(chan js.Value, 16)
	js.Global().Call("addEventListener", "message", js.FuncOf(func(_ js.Value, args []js.Value) any {
		select {
		case orders <- args[0].Get("data"):
		default: // nobody presses that fast
		}
		return nil
	}))
	go obey(v, s, x, orders)
	go report(v)
	err = s.serve(v)
	tell("gone", map[string]any{"why": err.Error(), "refused": errors.Is(err, visitor.ErrRefused)})
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
func obey(v *visitor.Visitor, s *socket, x *shelf, orders <-chan js.Value) {
	for o := range orders {
		switch o.Get("do").String() {
		case "rest":
			v.Rest(o.Get("on").Bool())
		case "leave":
			v.Leave()
			s.close()
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
func (x *shelf) fetch(h module.Hash) ([]byte, error) {
	tell("module", map[string]any{"module": hex.EncodeToString(h[:])})
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

func report(v *visitor.Visitor) {
	for {
		s := v.Status()
		run := ""
		if s.App != "" {
			run = s.Run.String()
		}
		tell("status", map[string]any{
			"run": run, "app": s.App, "title": s.Title, "owner": s.Owner, "resting": s.Resting, "busy": s.Busy,
			"executed": float64(s.Executed), "taken": float64(s.Taken), "given": float64(s.Given),
			"worked": s.Worked.Seconds(),
		})
		tellSegments(v.Segments())
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
	queue [][]byte
	ended bool
	bell  chan struct{}
}

func (s *socket) listen() {
	s.ws.Set("binaryType", "arraybuffer")
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
	})
}

// on has f done with each event of a kind.
func (s *socket) on(event string, f func(js.Value)) {
	s.ws.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
		f(args[0])
		select {
		case s.bell <- struct{}{}:
		default:
		}
		return nil
	}))
}

func (s *socket) send(b []byte) {
	if s.ws.Get("readyState").Int() != s.ws.Get("OPEN").Int() {
		return
	}
	a := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(a, b)
	s.ws.Call("send", a)
}

func (s *socket) close() { s.ws.Call("close", 1000) }

var errEnded = errors.New("the connection has ended")

// serve gives the visitor what comes in, until the connection ends, and says why it has.
func (s *socket) serve(v *visitor.Visitor) error {
	for {
		<-s.bell
		s.mu.Lock()
		list, ended := s.queue, s.ended
		s.queue = nil
		s.mu.Unlock()
		for _, b := range list {
			if err := v.Received(b); err != nil {
				s.close()
				return err
			}
		}
		if ended {
			return errEnded
		}
	}
}
