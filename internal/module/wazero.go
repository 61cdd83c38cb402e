//go:build !js

package module

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/satin-peer/satin/internal/wasm"
)

// Runs says that modules can be run here.
func Runs() bool { return true }

// defaultFuel is some 100 us.
const defaultFuel = 200_000

// maxCompilers bounds the threads that compile a module: each needs memory of its own.
const maxCompilers = 8

// wazeroMachine is wazero's compiler.
type wazeroMachine struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache
}

func newMachine(cfg *Config) (machine, error) {
	x := &wazeroMachine{cache: wazero.NewCompilationCache()}
	if cfg.Cache != "" {
		var err error
		if x.cache, err = wazero.NewCompilationCacheWithDir(cfg.Cache); err != nil {
			return nil, fmt.Errorf("the cache of compiled modules: %w", err)
		}
	}
	ctx := context.Background()
	x.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(x.cache).
		WithMemoryLimitPages(cfg.Limits.Pages).WithDebugInfoEnabled(false).
		WithCoreFeatures(api.CoreFeaturesV2&^api.CoreFeatureSIMD))
	for _, m := range hostModules {
		b := x.runtime.NewHostModuleBuilder(m.name)
		for name, f := range m.functions {
			b.NewFunctionBuilder().WithGoModuleFunction(called(f), f.params, f.results).Export(name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return nil, fmt.Errorf("the host's own functions: %w", err)
		}
	}
	return x, nil
}

// called is a function of the host as wazero calls it.
func called(f hostFunc) api.GoModuleFunc {
	return func(ctx context.Context, _ api.Module, stack []uint64) { f.guarded(ctx.(*callContext).in, stack) }
}

func (x *wazeroMachine) close() error {
	ctx := context.Background()
	return errors.Join(x.runtime.Close(ctx), x.cache.Close(ctx))
}

// wazeroCode is a module that wazero has compiled.
type wazeroCode struct {
	*wazeroMachine
	globals  []string
	compiled wazero.CompiledModule
}

func (x *wazeroMachine) compile(p *wasm.Prepared) (code, error) {
	// Functions are compiled by as many threads as there are cores for this process; the code is the same.
	many := experimental.WithCompilationWorkers(context.Background(), min(runtime.GOMAXPROCS(0), maxCompilers))
	compiled, err := x.runtime.CompileModule(many, p.Code)
	if err != nil {
		return nil, err
	}
	return &wazeroCode{x, p.Globals, compiled}, nil
}

func (c *wazeroCode) close() { _ = c.compiled.Close(context.Background()) } // documented to give nil

// callContext is a context by which the host's functions find the instance that called them.
type callContext struct {
	context.Context
	in *instance
}

// wazeroInstance is an instance in wazero.
type wazeroInstance struct {
	ctx       *callContext
	wasm      api.Module
	mem       api.Memory
	globals   []api.MutableGlobal
	functions map[string]api.Function
}

func (c *wazeroCode) instantiate(in *instance) (running, error) {
	r := &wazeroInstance{ctx: &callContext{context.Background(), in}, functions: map[string]api.Function{}}
	var err error
	r.wasm, err = c.runtime.InstantiateModule(r.ctx, c.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	r.mem = r.wasm.Memory()
	for _, name := range c.globals {
		r.globals = append(r.globals, r.wasm.ExportedGlobal(name).(api.MutableGlobal))
	}
	return r, nil
}

func (r *wazeroInstance) close() { _ = r.wasm.Close(r.ctx) } // nothing is told that one could act on

func (r *wazeroInstance) call(name string, _ wasm.FuncType, stack []uint64) error {
	f := r.functions[name]
	if f == nil {
		f = r.wasm.ExportedFunction(name)
		r.functions[name] = f
	}
	return f.CallWithStack(r.ctx, stack)
}

func (r *wazeroInstance) size() uint32                     { return r.mem.Size() }
func (r *wazeroInstance) read(at, n uint32) ([]byte, bool) { return r.mem.Read(at, n) }
func (r *wazeroInstance) write(at uint32, b []byte) bool   { return r.mem.Write(at, b) }

// A piece is how much of a memory is compared at a time, to write only what a job has changed: small jobs leave most of
// a stack and a heap as they were, and reading takes a fraction of the time of writing.
const pieceSize = 4 << 10

// wazeroImage is a copy of memory and globals.
type wazeroImage struct {
	memory [][]byte // in pieces; those of zeros, as most are, are all one, which stays in the processor's cache
	values []uint64 // of the globals
}

func (i *wazeroImage) size() uint32 { return uint32(len(i.memory)) * pieceSize }

func (r *wazeroInstance) image() image {
	all, _ := r.mem.Read(0, r.mem.Size())
	i, zeros := &wazeroImage{}, make([]byte, pieceSize)
	for piece := range slices.Chunk(all, pieceSize) {
		if bytes.Equal(piece, zeros) {
			i.memory = append(i.memory, zeros)
		} else {
			i.memory = append(i.memory, bytes.Clone(piece))
		}
	}
	for _, g := range r.globals {
		i.values = append(i.values, g.Get())
	}
	return i
}

func (r *wazeroInstance) restore(i image) error {
	was := i.(*wazeroImage)
	if have, want := r.mem.Size(), was.size(); have < want {
		if _, ok := r.mem.Grow((want - have) >> 16); !ok {
			return errNoMemory
		}
	}
	now, _ := r.mem.Read(0, was.size())
	for at, want := range was.memory {
		if have := now[at*pieceSize:][:pieceSize]; !bytes.Equal(have, want) {
			copy(have, want)
		}
	}
	for i, g := range r.globals {
		g.Set(was.values[i])
	}
	return nil
}
