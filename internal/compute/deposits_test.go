package compute

import (
	"errors"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/port"
)

func init() {
	satin.Register("compute.keeps", keeps)
	satin.Register("compute.readsKept", readsKept)
	satin.Register("compute.keepsNothing", keepsNothing)
}

func keeps(f *satin.Frame, text string) satin.Kept {
	k, ok := satin.Keep(f, []byte(text))
	if !ok {
		panic("nothing is kept")
	}
	return k
}

func readsKept(f *satin.Frame, k satin.Kept) (text string) {
	b, err := k.Read(f)
	if errors.Is(err, satin.ErrNotKept) {
		return "lost"
	}
	return string(b)
}

// Guards that what a job leaves is told of before its result, under the name that the result has; that a job which
// reads it waits, and has it or an error; and that it does not stay in the engine.
func TestKeptBytes(t *testing.T) {
	a, b := newPlace(t), newPlace(t)
	name := submit(t, a.pool, "compute.keeps", "piece").(satin.Kept)
	made := a.await(port.Made).Shared
	if made.Recipe.Name != port.Deposit || string(made.State.Bytes()) != "piece" ||
		satin.Kept(made.Recipe.Digest()) != name {
		t.Fatalf("%x is told of as %+v", name, made)
	}
	arg := append([]byte{0x58, 32}, name[:]...) // CBOR
	for _, there := range []bool{true, false, true} {
		b.run("compute.readsKept", arg)
		wanted := b.await(port.Wanted).Shared // each time
		if wanted.Name != port.Deposit || satin.Kept(wanted.Digest) != name {
			t.Fatalf("%+v is wanted", wanted)
		}
		o := &port.Order{Kind: port.Here, Shared: &port.Shared{Digest: wanted.Digest, Name: port.Deposit,
			Data: []byte("piece")}}
		if !there {
			o.Kind, o.Shared.Text = port.Failed, "nobody has it"
		}
		b.Do(o)
		want := map[bool]string{true: "piece", false: "lost"}[there]
		if got, err := b.result("compute.readsKept"); got != want || err != nil {
			t.Errorf("it reads %v, %v", got, err)
		}
	}
	if kept, err := satin.Run(t.Context(), nil, keepsNothing, 0); kept || err != nil {
		t.Errorf("without a swarm something is kept: %v, %v", kept, err)
	}
}

func keepsNothing(f *satin.Frame, _ int) bool {
	_, ok := satin.Keep(f, []byte("x"))
	return ok
}
