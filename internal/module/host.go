package module

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/satin-peer/satin/internal/wasm"
	"github.com/satin-peer/satin/sharedobj"
)

// Config says how a [Host] works. The zero value of a field means its default.
type Config struct {
	Limits wasm.Limits // default: wasm.DefaultLimits()
	Fuel   int32       // instructions, about, between two looks at what others want: default some 100 us
	// Strict jobs see nothing that another machine, or another time, would show them: see strict.go. Fuel is then that
	// of all who compare their results.
	Strict bool
	// Budget is how much fuel the calls may use that describe and prepare a run: default 20,000,000,000, some
	// 10 s. Jobs may run for ever: whoever waits for them aborts them.
	Budget int64
	Cache  string // folder for compiled code; default: none is kept
	Log    func(line string)
}

// A Host compiles modules and runs their jobs. Its methods may be called from any goroutine.
type Host struct {
	cfg     Config
	machine machine
}

// NewHost makes a host. An error says that modules cannot be run here; where the cache's folder cannot be used none is
// kept: a home may be nobody's, or only read.
func NewHost(cfg Config) (*Host, error) {
	if cfg.Limits == (wasm.Limits{}) {
		cfg.Limits = wasm.DefaultLimits()
	}
	if cfg.Fuel == 0 {
		if cfg.Fuel = defaultFuel; cfg.Strict {
			cfg.Fuel = strictFuel
		}
	}
	if cfg.Budget == 0 {
		cfg.Budget = 20_000_000_000
	}
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	x, err := newMachine(&cfg)
	if err != nil && cfg.Cache != "" {
		cfg.Cache = ""
		x, err = newMachine(&cfg)
	}
	if err != nil {
		return nil, err
	}
	return &Host{cfg, x}, nil
}

// Close gives up all that was compiled. No job may run any more.
func (h *Host) Close() error { return h.machine.close() }

// A Hash names a module: the digest of its bytes as a constant of package sharedobj, so that any peer can verify
// each piece of it as it comes.
type Hash [sha256.Size]byte

// String gives the first 16 of the hash's 64 hexadecimal digits: enough for people.
func (h Hash) String() string { return fmt.Sprintf("%x", h[:8]) }

// MaxSize is the size of the largest module, in bytes.
const MaxSize = 16 << 20

// constantName is what modules are called among the constants of package sharedobj.
const constantName = "satin1 module"

// AsConstant names a module's bytes, which nobody may change afterwards.
func AsConstant(bin []byte) (*sharedobj.Recipe, *sharedobj.Body) {
	body := sharedobj.Build(bin)
	return &sharedobj.Recipe{Kind: sharedobj.Constant, Name: constantName, State: body.Blob}, body
}

// IsModule says whether a recipe may be that of a module.
func IsModule(r *sharedobj.Recipe) bool {
	return r.Kind == sharedobj.Constant && r.Name == constantName && r.First() && r.State.Size <= MaxSize
}

// HashOf gives a module's name.
func HashOf(bin []byte) Hash {
	r, _ := AsConstant(bin)
	return Hash(r.Digest())
}

// An Error is what a module did wrong, in one line; jobs cannot catch it: it ends the run.
type Error struct {
	Module Hash
	Why    string
}

func (e *Error) Error() string { return fmt.Sprintf("module %s: %s", e.Module, e.Why) }

// oneLine is the first line of what a machine says, without what only its authors can use.
func oneLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "wasm error: "), " (recovered by wazero)")
	const most = 200
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// printable makes text of a module fit for a terminal: one line, without control characters.
func printable(s string, most int) string {
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}
