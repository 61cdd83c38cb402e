package module

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/satin-peer/satin/internal/wasm"
	"github.com/satin-peer/satin/sharedobj"
)

// Config says how a [Host] works. The zero value of a field means its default.
type Config struct {
	Limits wasm.Limits // default: wasm.DefaultLimits()
	Fuel   int32       // instructions, about, between two looks at what others want: default 200,000, some 100 us
	// Budget is how much fuel the calls may use that describe and prepare a run: default 20,000,000,000, some
	// 10 s. Jobs may run for ever: who waits for them aborts them.
	Budget int64
	Cache  string // folder for compiled code; default: none is kept
	Log    func(line string)
}

// A Host compiles modules and runs their jobs. Its methods may be called from any goroutine.
type Host struct {
	cfg     Config
	runtime wazero.Runtime
	cache   wazero.CompilationCache
}

// NewHost makes a host. An error says that the cache's folder cannot be used.
func NewHost(cfg Config) (*Host, error) {
	if cfg.Limits == (wasm.Limits{}) {
		cfg.Limits = wasm.DefaultLimits()
	}
	if cfg.Fuel == 0 {
		cfg.Fuel = 200_000
	}
	if cfg.Budget == 0 {
		cfg.Budget = 20_000_000_000
	}
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	h := &Host{cfg: cfg, cache: wazero.NewCompilationCache()}
	if cfg.Cache != "" {
		var err error
		if h.cache, err = wazero.NewCompilationCacheWithDir(cfg.Cache); err != nil {
			return nil, fmt.Errorf("the cache of compiled modules: %w", err)
		}
	}
	ctx := context.Background()
	h.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(h.cache).
		WithMemoryLimitPages(cfg.Limits.Pages).WithDebugInfoEnabled(false).
		WithCoreFeatures(api.CoreFeaturesV2&^api.CoreFeatureSIMD))
	for _, m := range hostModules {
		b := h.runtime.NewHostModuleBuilder(m.name)
		for name, f := range m.functions {
			b.NewFunctionBuilder().WithGoModuleFunction(f.guarded(), f.params, f.results).Export(name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return nil, fmt.Errorf("the host's own functions: %w", err)
		}
	}
	return h, nil
}

// Close gives up all that was compiled. No job may run any more.
func (h *Host) Close() error {
	ctx := context.Background()
	return errors.Join(h.runtime.Close(ctx), h.cache.Close(ctx))
}

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

// oneLine is the first line of what wazero says, without what only its authors can use.
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
