package compute_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
)

func init() {
	satin.Register("handed.read", readHanded)
	satin.Register("handed.length", lengthOf)
}

// Handed is an argument with values beside it.
type Handed struct {
	One, Same satin.Constant[[]byte]
	Other     satin.Constant[string]
	None      satin.Constant[int]
	Plain     int
}

func readHanded(f *satin.Frame, h Handed) int {
	same := satin.Spawn(f, lengthOf, h.Same)
	return len(h.One.Read(f)) + len(h.Other.Read(f)) + h.Plain + same.Get()
}

func lengthOf(f *satin.Frame, c satin.Constant[[]byte]) int { return len(c.Read(f)) }

// What an argument names goes beside it, each value once, and as often as it is handed over; the argument itself stays
// small. In this process it is read where it is.
func TestHandOver(t *testing.T) {
	one := satin.NewConstant(make([]byte, wire.MaxValue+1))
	h := Handed{One: one, Same: one, Other: satin.NewConstant("other"), Plain: 7}
	want := 2*(wire.MaxValue+1) + len("other") + 7
	var first []byte
	for range 2 {
		arg, loans, err := compute.HandOver(h)
		if err != nil || len(loans) != 2 || len(arg) > 200 {
			t.Fatalf("%d bytes and %d values, %v", len(arg), len(loans), err)
		}
		for _, l := range loans {
			if d := l.Recipe.Digest(); !bytes.Contains(arg, d[:]) || l.Recipe.State != l.State.Blob {
				t.Errorf("the argument does not name %v", d)
			}
		}
		if _, err := compute.ArgumentOf("handed.read", arg); err != nil {
			t.Error(err)
		}
		if first == nil {
			first = arg
		} else if !bytes.Equal(first, arg) {
			t.Error("the same has another name")
		}
	}
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, p := range []*satin.Pool{nil, pool} {
		if got, err := satin.Run(context.Background(), p, readHanded, h); err != nil || got != want {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
	if _, _, err := compute.HandOver(make([]byte, wire.MaxValue+1)); !errors.Is(err, wire.ErrEncoding) {
		t.Errorf("a large argument without constants: %v", err)
	}
	if err := compute.Fits("handed.read", h); err != nil {
		t.Error(err)
	}
	if err := compute.Fits("handed.read", 7); err == nil ||
		err.Error() != "handed.read takes an argument of type compute_test.Handed, not int" {
		t.Errorf("an argument of another type: %v", err)
	}
	if _, err := wire.Value().Encode(Handed{One: satin.NewConstant([]byte("lost"))}); err == nil {
		t.Error("a constant that was handed to nobody leaves")
	}
}
