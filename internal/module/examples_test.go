package module

import (
	"context"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
)

// The examples, each with an answer from elsewhere: OEIS A000170 and A003022, pi; and the bits of the sum, which the
// same program has on every machine and however its jobs were spread.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		path, want  string
		args, flags []string
	}{
		{"examples/queens-c/queens.wasm", "10 queens: 724 solutions", []string{"10"}, []string{"3"}},
		{"examples/golomb-c/golomb.wasm", "length 34: 0 2 12 19 25 30 33 34", []string{"8"}, nil},
		{"examples/integrate-c/integrate.wasm", "3.14159265358979, bits 400921fb54442d18", []string{"12"}, nil},
	} {
		m := load(t, Config{Fuel: 2_000}, c.path)
		provide(t, m)
		r, err := m.Setup(c.args, c.flags)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*engine.Pool{nil, pools(t, engine.Config{Workers: 1}),
			pools(t, engine.Config{Workers: 4})} {
			out, err := p.Run(context.Background(), Func, Call{m.Hash, r.Fn, r.Arg})
			if err != nil {
				t.Fatal(c.path, err)
			}
			text, _, err := m.Render(r.Arg, out.([]byte))
			if text != c.want || err != nil {
				t.Errorf("%s: %q, %v; want %q", c.path, text, err, c.want)
			}
			if err := m.Check(r.Arg, out.([]byte)); err != nil {
				t.Errorf("%s: %v", c.path, err)
			}
		}
		if err := m.Check(r.Arg, make([]byte, 16)); err == nil {
			t.Errorf("%s finds zeros right", c.path)
		}
	}
}
