package tab

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// samples are one frame of each kind.
func samples() []*Frame {
	from, to := steal.Address{Peer: "a", Inc: 1}, steal.Address{Peer: "b", Inc: 2}
	return []*Frame{
		{Greeting: &Greeting{Member: "a", Challenge: [32]byte{1}}}, {Visit: []byte("visit")},
		{Work: &Work{Run: job.RunID{1}, Self: 3, App: "nqueens", Title: "18 queens", Owner: "somebody"}},
		{Over: &Over{Run: job.RunID{1}, Why: "it has ended"}}, {Rest: &Rest{Resting: true}},
		{Steal: &steal.Message{Run: job.RunID{1}, From: from, To: to, Request: &steal.StealRequest{ID: 1, Max: 1}}},
		{Steal: &steal.Message{Run: job.RunID{1}, From: from, To: to, Result: &steal.Result{Handle: 1,
			Outcome: bytes.Repeat([]byte("outcome"), 100_000)}}},
		{Work: &Work{Run: job.RunID{1}, Self: 3, App: "golomb.wasm", Module: make([]byte, moduleHash)}},
		{Ready: &Ready{Run: job.RunID{1}, Cannot: "it is too deep"}}, {Still: &Still{}},
		{Ask: &Ask{Run: job.RunID{1}, Tree: [32]byte{2}}}, {Show: &Show{Tree: [32]byte{2}, Node: []byte("node")}},
	}
}

// What is sent comes as it was, also an outcome that no other message could hold.
func TestFramesSurvive(t *testing.T) {
	for _, f := range samples() {
		b, err := f.Encode(MaxFromTab)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%+v became %+v, %v", f, got, err)
		}
	}
}

// What is too long is not sent, and leaves the message as it was for whoever wants to say it otherwise.
func TestTooLongFrame(t *testing.T) {
	m := &steal.Message{From: steal.Address{Peer: "a", Inc: 1}, To: steal.Address{Peer: "b", Inc: 2},
		Result: &steal.Result{Handle: 1, Outcome: make([]byte, MaxFromTab)}}
	if _, err := (&Frame{Steal: m}).Encode(MaxFromTab); !errors.Is(err, ErrFrame) {
		t.Errorf("%v", err)
	}
	if len(m.Result.Outcome) != MaxFromTab {
		t.Error("the message was changed")
	}
	m.Result = nil
	m.HandOver = &steal.HandOver{ID: 1, Parts: []steal.Partial{{Outcome: make([]byte, wire.MaxControlFrame)}}}
	if _, err := (&Frame{Steal: m}).Encode(MaxToTab); !errors.Is(err, ErrFrame) {
		t.Errorf("%v", err)
	}
}

// What no correct program sends is refused, whatever is wrong with it.
func TestBadFrames(t *testing.T) {
	good, err := samples()[5].Encode(MaxFromTab)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*Frame{
		"nothing": {}, "two things": {Visit: []byte("x"), Rest: &Rest{}},
		"work in no life": {Work: &Work{App: "x"}}, "a long text": {Over: &Over{Why: string(make([]byte, MaxText+1))}},
		"a short hash":                {Work: &Work{Self: 1, Module: []byte{1}}},
		"a long excuse":               {Ready: &Ready{Cannot: string(make([]byte, MaxText+1))}},
		"a message that says nothing": {Steal: &steal.Message{From: steal.Address{Peer: "a", Inc: 1}}},
	} {
		b, err := f.Encode(MaxFromTab)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"empty": {}, "no head": {0, 0, 0, 9}, "a length of 4 GB": {255, 255, 255, 255, 0},
		"garbage":      append([]byte{0, 0, 0, 3}, "xyz"...),
		"bytes behind": append(bytes.Clone(good), 1),
	} {
		if _, err := Decode(b); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is accepted is well formed, and is the same when it is sent on.
func FuzzFrame(f *testing.F) {
	for _, s := range samples() {
		b, err := s.Encode(MaxFromTab)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 1<<10)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Decode(bytes.Clone(b))
		if err != nil {
			return
		}
		again, err := got.Encode(MaxFromTab)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Decode(again); err != nil || !reflect.DeepEqual(back, got) {
			t.Errorf("%+v became %+v, %v", got, back, err)
		}
	})
}
