package stream

import (
	"context"
	"time"

	"github.com/satin-peer/satin/steal"
)

// A receiver hands the messages of one stream to the handler: at once, or, if there is a Delay, when their
// time has come.
type receiver struct {
	p    *partner
	lane *lane // nil: at once
}

func (p *partner) receiver() receiver {
	if p.t.cfg.Delay == nil {
		return receiver{p: p}
	}
	return receiver{p, newLane(p.t.ctx, p.t.cfg.Delay, p.name)}
}

func (r receiver) deliver(bytes int, then func()) error {
	if r.lane == nil {
		then()
		return nil
	}
	_, err := r.lane.hold(bytes, then)
	return err
}

func (r receiver) close() {
	if r.lane != nil {
		r.lane.close()
	}
}

// A lane holds back the frames of one stream, in order: a later one never overtakes an earlier one, even if
// the link has become faster in between. It holds a bounded number; then whoever reads the stream waits.
type lane struct {
	ctx   context.Context
	delay Delay
	from  steal.PeerID
	held  chan held
	done  chan struct{}
}

type held struct {
	until time.Time
	then  func()
}

const laneHolds = 1024 // frames

func newLane(ctx context.Context, d Delay, from steal.PeerID) *lane {
	l := &lane{ctx, d, from, make(chan held, laneHolds), make(chan struct{})}
	go l.run()
	return l
}

// hold calls then when a frame of so many bytes that has just come would have come over the slow network.
// False if that network has lost it.
func (l *lane) hold(bytes int, then func()) (kept bool, err error) {
	d := l.delay.Arrive(l.from, bytes)
	if d < 0 {
		return false, nil
	}
	select {
	case l.held <- held{time.Now().Add(d), then}:
		return true, nil
	case <-l.ctx.Done():
		return false, l.ctx.Err()
	}
}

func (l *lane) run() {
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for h := range l.held {
		if d := time.Until(h.until); d > 0 {
			timer.Reset(d)
			select {
			case <-timer.C:
			case <-l.ctx.Done():
			}
		}
		if l.ctx.Err() == nil {
			h.then()
		}
	}
}

// close waits until everything that is held has been delivered, or until the transport is closed.
func (l *lane) close() {
	close(l.held)
	<-l.done
}
