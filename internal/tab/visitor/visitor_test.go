package visitor

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
)

// Whoever is told to rest before it has been greeted says so after its visit, which is the first that a member reads.
func TestRestsFromTheBeginning(t *testing.T) {
	var said []*tab.Frame
	v, err := New(Config{Send: func(b []byte) {
		f, err := tab.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, f)
	}})
	if err != nil {
		t.Fatal(err)
	}
	v.Rest(true)
	greeting, err := (&tab.Frame{Greeting: &tab.Greeting{Member: "a"}}).Encode(tab.MaxToTab)
	if err == nil {
		err = v.Received(greeting)
	}
	if err != nil || len(said) != 2 || said[0].Visit == nil || said[1].Rest == nil || !said[1].Rest.Resting {
		t.Errorf("it has said %+v, %v", said, err)
	}
	v.Rest(false)
	if len(said) != 3 || said[2].Rest == nil || said[2].Rest.Resting {
		t.Errorf("then it has said %+v", said[2:])
	}
}

// Who rests or leaves in the middle of a run says goodbye in it first, and nothing of it afterwards.
func TestSaysGoodbye(t *testing.T) {
	rest := func(v *Visitor) { v.Rest(true) }
	for name, end := range map[string]func(*Visitor){"rests": rest, "leaves": (*Visitor).Leave} {
		var mu sync.Mutex // its session speaks, too
		var said []*tab.Frame
		asks := make(chan bool, 1)
		v, err := New(Config{Send: func(b []byte) {
			f, err := tab.Decode(b)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			said = append(said, f)
			select {
			case asks <- f.Steal != nil: // the first is its visit
			default:
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*tab.Frame{greeting(), {Work: &tab.Work{Run: job.RunID{1}, Self: 1, App: "x"}}} {
			b, err := f.Encode(tab.MaxToTab)
			if err == nil {
				err = v.Received(b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for !<-asks { // before nobody counts on it
		}
		end(v)
		mu.Lock()
		if name == "rests" && len(said) > 0 {
			if r := said[len(said)-1].Rest; r == nil || !r.Resting {
				t.Errorf("it does not say that it rests, but %+v", said[len(said)-1])
			}
			said = said[:len(said)-1]
		}
		if len(said) == 0 || said[len(said)-1].Steal == nil || said[len(said)-1].Steal.Goodbye == nil {
			t.Errorf("who %s says %+v last", name, said)
		}
		mu.Unlock()
	}
}

// Guards that a tab which cannot run a module says so in a frame that can be read, whatever the reason: a module may
// have names in it of any letters, and what cannot be read is an offence, for which its visitor is put out.
func TestCannotInAnyLetters(t *testing.T) {
	said := make(chan []byte, 2)
	v, err := New(Config{Send: func(b []byte) { said <- b },
		Module: func(module.Hash) ([]byte, error) { return nil, errors.New(strings.Repeat("ü€\xff", tab.MaxText)) }})
	if err != nil {
		t.Fatal(err)
	}
	work := &tab.Work{Run: job.RunID{1}, Self: 1, App: "x", Module: make([]byte, 32)}
	for _, f := range []*tab.Frame{greeting(), {Work: work}} {
		b, err := f.Encode(tab.MaxToTab)
		if err == nil {
			err = v.Received(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	<-said // its visit
	if f, err := tab.Decode(<-said); err != nil || f.Ready == nil || f.Ready.Cannot == "" {
		t.Errorf("it says %+v, %v", f, err)
	}
}
