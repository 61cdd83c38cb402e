package port_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
)

// What a job names is read as it was written, unless no correct peer would have.
func TestNames(t *testing.T) {
	one := sharedobj.Need{Digest: sharedobj.Digest{1}}
	two := sharedobj.Need{Digest: sharedobj.Digest{2}, Floor: []byte{7}}
	many := make([]sharedobj.Need, port.MaxNeeds+1)
	for i := range many {
		many[i].Digest[0] = byte(i)
	}
	for what, c := range map[string]struct {
		names port.Names
		bad   bool
	}{
		"all": {port.Names{Needs: []sharedobj.Need{one, two}, Holders: []sharedobj.PeerID{"a"}, Argument: one.Digest,
			Guarded: true}, false},
		"twice":       {port.Names{Needs: []sharedobj.Need{one, one}}, true},
		"many":        {port.Names{Needs: many}, true},
		"holders":     {port.Names{Needs: many[:1], Holders: []sharedobj.PeerID{"a", "b", "c", "d"}}, true},
		"floor":       {port.Names{Needs: []sharedobj.Need{{Floor: make([]byte, port.MaxFloors+1)}}}, true},
		"no argument": {port.Names{Needs: []sharedobj.Need{one}, Argument: two.Digest}, true},
	} {
		b, err := c.names.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := port.DecodeNames(b)
		if c.bad != errors.Is(err, port.ErrNames) || !c.bad && !reflect.DeepEqual(got, &c.names) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// What the engine of this peer says that a job names takes little memory, but for the values of lattices.
func TestNamesTaken(t *testing.T) {
	for n, good := range map[int]bool{wire.MaxElements: true, wire.MaxElements + 1: false} {
		b := binary.BigEndian.AppendUint32([]byte{0xa1, 1, 0x9a}, uint32(n))
		if _, err := port.NamesTaken(append(b, bytes.Repeat([]byte{0xa0}, n)...)); (err == nil) != good {
			t.Errorf("%d empty needs: %v", n, err)
		}
	}
}
