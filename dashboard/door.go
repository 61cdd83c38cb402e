package dashboard

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// maxWaiting is how many connections may be open without a request in progress of somebody who may look. It is well
// below maxConnections, so that these alone never keep anybody out.
const maxWaiting = maxConnections / 2

// A door lets in whoever comes, and puts out whoever has waited longest without such a request when too many do: any
// program of this machine can open connections and say nothing, or half of a request, or read nothing.
type door struct {
	mu      sync.Mutex
	waiting *list.List // of net.Conn, the longest first
	places  map[net.Conn]*list.Element
}

func newDoor() *door { return &door{waiting: list.New(), places: map[net.Conn]*list.Element{}} }

type connection struct{} // the key of a request's connection in its context

// attach has a server's connections come through the door.
func (d *door) attach(s *http.Server) {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connection{}, c)
	}
	s.ConnState = func(c net.Conn, to http.ConnState) {
		switch to {
		case http.StateNew, http.StateIdle:
			d.waits(c)
		case http.StateClosed, http.StateHijacked:
			d.goesOn(c)
		}
	}
}

// passes lets a request take its time.
func (d *door) passes(r *http.Request) {
	if c, ok := r.Context().Value(connection{}).(net.Conn); ok {
		d.goesOn(c)
	}
}

func (d *door) waits(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.places[c]; e != nil {
		d.waiting.MoveToBack(e)
	} else {
		d.places[c] = d.waiting.PushBack(c)
	}
	for d.waiting.Len() > maxWaiting {
		longest := d.waiting.Remove(d.waiting.Front()).(net.Conn)
		delete(d.places, longest)
		_ = longest.Close() // its server notices
	}
}

func (d *door) goesOn(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.places[c]; e != nil {
		d.waiting.Remove(e)
		delete(d.places, c)
	}
}
