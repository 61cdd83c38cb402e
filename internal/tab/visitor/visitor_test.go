package visitor

import (
	"testing"

	"github.com/satin-peer/satin/internal/tab"
)

// Who is told to rest before it has been greeted says so after its visit, which is the first that a member reads.
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
