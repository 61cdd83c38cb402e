package child

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/wire"
)

// A process that answers for a module, and has left its sandbox, answers no more than its reader has memory for.
func TestAskedForMuch(t *testing.T) {
	in, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	questions, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { // until nobody asks
		for err := error(nil); err == nil; {
			_, err = wire.ReadFrame(questions, nil, wire.MaxLocalFrame)
		}
	}()
	a := &Asked{in: in, out: out, patience: time.Hour}
	long := strings.Repeat("x", module.MaxShown+1)
	for name, r := range map[string]*reply{
		"text":   {Text: long},
		"fields": {Fields: []byte(`"` + strings.Repeat(long, fieldGrows) + `"`)},
		"files":  {Root: module.Root{Call: module.Call{Files: make([]module.File, wire.MaxElements+1)}}},
	} {
		b, err := wire.Local().Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = wire.WriteFrame(answers, b, wire.MaxLocalFrame) }()
		_, _, err = a.Render(module.Call{}, nil)
		if bad := (*module.Error)(nil); !errors.As(err, &bad) && !errors.Is(err, wire.ErrEncoding) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _ = in.Close(), out.Close()
}
