package hostile

import (
	"encoding/binary"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
)

// TestMain is the process that a peer's jobs run in, if it is told so.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "compute" {
		os.Exit(child.Main(os.Stdin, os.Stdout))
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait, mostly
		panic(err)
	}
	os.Exit(m.Run())
}

// A member that lies about a job of a module is caught like any other: the job is run again to the bit, and the answer
// is right.
func TestModuleOfStrangers(t *testing.T) {
	t.Parallel()
	bin, err := os.ReadFile("../../examples/queens-c/queens.wasm")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"quorum=2", "doubt=1e-4", "spot=0.01"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := impatientWith(t, func(c *peer.Config) {
				c.Compute, c.Memory = []string{self, "compute"}, 8<<30 // the race detector's addresses are some of that
			})
			info, err := v.AddModule(patience(t), control.ModuleFile{Bytes: bin})
			if err != nil {
				t.Fatal(err)
			}
			root := rootOf(t, bin, "14")
			arg, err := wire.Value().Encode(root.Call)
			if err != nil {
				t.Fatal(err)
			}
			r := invited(t, v)
			r.volunteersFor(t, statement.App{Name: module.Consent, Version: statement.Version{module.ABI, 1}},
				statement.App{Name: "satin1.module", Version: statement.Version(root.Call.Module)})
			of, err := v.Submit(patience(t), control.Submission{App: "queens.wasm", Module: info.Module,
				Function: module.Func, Argument: arg, Verify: mode})
			if err != nil {
				t.Fatal(err)
			}
			run, _ := job.ParseRunID(of.Run)
			value, err := wire.Value().Encode([]byte{7, 0, 0, 0, 0, 0, 0, 0})
			if err != nil {
				t.Fatal(err)
			}
			lie, err := wire.Value().Encode(&compute.Outcome{Value: value})
			if err != nil {
				t.Fatal(err)
			}
			x := r.steals(t, run)
			g, from := x.take(t)
			x.send(from, x.result(t, &g, lie, x.key))
			out, err := v.Wait(patience(t), of.Run, nil)
			var count []byte
			if err == nil {
				err = wire.Value().Decode(out.Result, &count)
			}
			if err != nil || len(count) != 8 || binary.LittleEndian.Uint64(count) != 365596 || out.Trust == nil ||
				!slices.Equal(out.Trust.Caught, []string{r.ID().String()}) {
				t.Errorf("%v rests on %+v, %v", count, out.Trust, err)
			}
		})
	}
}

// rootOf is the job by which a module computes something.
func rootOf(t *testing.T, bin []byte, args ...string) module.Root {
	t.Helper()
	h, err := module.NewHost(module.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	m, err := h.Load(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	flags := make([]string, len(m.Flags))
	for i, f := range m.Flags {
		flags[i] = f.Default
	}
	root, err := m.Setup(args, flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	return root
}
