package module

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"

	"github.com/satin-peer/satin/internal/wasm"
)

const (
	maxText  = 4 << 10 // bytes of a line or an error
	maxLines = 1_000   // that a job may say to the log
	maxLive  = 1 << 16 // children that a job may have offered at a time
	maxSteps = 1 << 16 // of a child's path
)

// A hostFunc is what a module may import.
type hostFunc struct {
	params, results []byte
	call            func(in *instance, a []uint64)
}

type hostModule struct {
	name      string
	functions map[string]hostFunc
}

const (
	i32 = wasm.I32
	i64 = wasm.I64
)

func types(t ...byte) []byte { return t }

// satin1 is what the host does for a module; docs/modules.md says what each does.
var satin1 = map[string]hostFunc{
	"wanted": {nil, types(i32), wanted},
	"offer":  {types(i32, i32, i32, i32, i32, i32), types(i32), offer},
	"join":   {types(i32), types(i64), join},
	"result": {types(i32), nil, result},
	"any":    {types(i32, i32), types(i32), anyOf},
	"drop":   {types(i32), nil, drop},
	"fail":   {types(i32, i32), nil, fail},
	"log":    {types(i32, i32), nil, logLine},
}

var hostModules = []hostModule{
	{wasm.TickModule, withTick()},
	{"wasi_snapshot_preview1", wasi},
}

// withTick adds what only package wasm puts into modules.
func withTick() map[string]hostFunc {
	all := map[string]hostFunc{wasm.TickName: {nil, types(i32), tick}}
	maps.Copy(all, satin1)
	maps.Copy(all, satin1Shared)
	return all
}

// hostFuncOf finds what a module imports.
func hostFuncOf(module, name string) (f hostFunc, ok bool) {
	switch module {
	case wasm.TickModule:
		if f, ok = satin1[name]; !ok {
			f, ok = satin1Shared[name]
		}
	case "wasi_snapshot_preview1":
		f, ok = wasi[name]
	}
	return f, ok
}

// allowed says why a module may not import something.
func allowed(module, name string, t wasm.FuncType) error {
	f, ok := hostFuncOf(module, name)
	switch {
	case !ok:
		return errors.New("which modules may not")
	case !t.Equal(wasm.FuncType{Params: f.params, Results: f.results}):
		return errors.New("which has other parameters")
	}
	return nil
}

// guarded calls the function for an instance. It keeps what the function panics with: a machine makes an error of it.
func (f hostFunc) guarded(in *instance, stack []uint64) {
	done := false
	defer func() {
		if !done {
			in.unwind = recover()
			panic(in.unwind)
		}
	}()
	in.touches(aCall)
	f.call(in, stack)
	done = true
}

// What the host does for a module costs it no fuel, and may be to write all of its memory. So after so many bytes the
// call looks up in it, as at a tick; and a call is as much work as some bytes.
const (
	touchesMost = 64 << 10
	aCall       = 256
)

// touches counts bytes that the host reads or writes. The module sees nothing of it: strict jobs stay equal.
func (in *instance) touches(n int) {
	if in.touched += n; in.touched >= touchesMost {
		const perFuel = 16 // as in package wasm
		in.attend(int64(in.touched / perFuel))
		in.touched = 0
	}
}

// refuse ends a module that did what it must not do.
func (in *instance) refuse(format string, args ...any) {
	panic(&Error{in.m.Hash, fmt.Sprintf(format, args...)})
}

// bytes gives bytes of the module's memory, to be looked at.
func (in *instance) bytes(at, n uint64) []byte {
	if in.wasm == nil {
		in.refuse("it calls the host before it has begun")
	}
	b, ok := in.wasm.read(uint32(at), uint32(n))
	if !ok {
		in.outside(at, uint32(n))
	}
	in.touches(len(b))
	return b
}

func (in *instance) outside(at uint64, n uint32) {
	in.refuse("it names %d bytes at %#x, outside its memory", n, uint32(at))
}

// put writes to the module's memory.
func (in *instance) put(at uint64, b []byte) {
	if in.bytes(at, 0); !in.wasm.write(uint32(at), b) {
		in.outside(at, uint32(len(b)))
	}
	in.touches(len(b))
}

// working refuses what only a running job may do.
func (in *instance) working() Engine {
	if in.engine == nil {
		in.refuse("it spawns while it is asked to describe itself")
	}
	return in.engine
}

// A child of the running job that was offered. Handles are indices from 1, used again; so a forged one is another
// child of the same job at most.
type children struct {
	list []Child // nil: free
	free []int32
	n    int
}

func (c *children) add(x Child) int32 {
	c.n++
	if k := len(c.free) - 1; k >= 0 {
		h := c.free[k]
		c.free = c.free[:k]
		c.list[h-1] = x
		return h
	}
	c.list = append(c.list, x)
	return int32(len(c.list))
}

func (in *instance) child(handle uint64) Child {
	h := int32(uint32(handle))
	if h < 1 || int(h) > len(in.children.list) || in.children.list[h-1] == nil {
		in.refuse("it names a child %d that it has not offered", h)
	}
	return in.children.list[h-1]
}

func (in *instance) forget(handle uint64) {
	h := int32(uint32(handle))
	in.children.list[h-1] = nil
	in.children.free = append(in.children.free, h)
	in.children.n--
}

// patience is how many ticks a module may take from its attention word to an offer before its jobs count as coarse.
const patience = 10

// tick is called by a module that is out of fuel.
func tick(in *instance, a []uint64) {
	fuel := in.m.host.cfg.Fuel
	a[0] = uint64(uint32(fuel))
	hungry := in.attend(int64(fuel))
	if in.engine == nil {
		return
	}
	if in.strict() {
		in.regularly()
	} else if hungry {
		in.raise()
		in.asked++
	} else if in.grewElsewhere() {
		in.raise()
	}
}

// attend may end the call, which has used so much fuel, and says whether jobs are wanted of it.
func (in *instance) attend(fuel int64) (hungry bool) {
	if in.engine != nil {
		return in.engine.Attend() > 0
	}
	if in.budget -= fuel; in.budget < 0 {
		in.refuse("it takes too long to describe itself")
	}
	return false
}

// wanted is called by a module whose attention word was raised, at a spawn.
func wanted(in *instance, a []uint64) {
	n := in.working().Attend()
	if in.strict() {
		n = strictOffers
	}
	if room := maxLive - in.children.n; n > room {
		n = room
	}
	if !in.strict() {
		if in.asked > patience && n > 0 { // its jobs are coarse: come by at each spawn, before a long one begins
			in.raise()
		}
		in.asked = 0
	}
	a[0] = uint64(uint32(n))
}

func offer(in *instance, a []uint64) {
	e := in.working()
	if in.children.n >= maxLive {
		in.refuse("it offers more than %d children at a time", maxLive)
	}
	if uint32(a[4]) > maxSteps {
		in.refuse("it offers a child %d deep", uint32(a[4]))
	}
	job := Job{Fn: uint32(a[0]), Arg: append([]byte(nil), in.bytes(a[1], a[2])...)}
	path := in.bytes(a[3], 4*uint64(uint32(a[4])))
	for ; len(path) > 0; path = path[4:] {
		job.Path = append(job.Path, binary.LittleEndian.Uint32(path))
	}
	job.Path = append(job.Path, uint32(a[5]))
	job.Names, job.Guarded = in.takeNames()
	a[0] = uint64(uint32(in.children.add(e.Offer(job))))
}

// What join gives besides the length of the child's outcome.
const (
	joinedOK     = 0
	joinedFailed = 1 << 32
	takenBack    = 1<<64 - 1
)

func join(in *instance, a []uint64) {
	e, x := in.working(), in.child(a[0])
	handle := a[0]
	if !in.strict() && e.TakeBack(x) {
		in.forget(handle)
		a[0] = takenBack
		return
	}
	out, err := e.Await(x)
	in.forget(handle)
	if err != nil {
		f, is := err.(*Failure)
		if !is {
			panic(err)
		}
		in.result = []byte(f.Text)
		a[0] = joinedFailed | uint64(len(in.result))
		return
	}
	in.result = out
	a[0] = joinedOK | uint64(len(out))
}

func result(in *instance, a []uint64) {
	in.put(a[0], in.result)
	in.result = nil
}

func anyOf(in *instance, a []uint64) {
	e := in.working()
	n := uint32(a[1])
	if n == 0 || n > maxLive {
		in.refuse("it waits for one of %d children", n)
	}
	list := make([]Child, n)
	handles := in.bytes(a[0], 4*uint64(n))
	for i := range list {
		list[i] = in.child(uint64(binary.LittleEndian.Uint32(handles[4*i:])))
	}
	if in.strict() {
		a[0] = 0
		return
	}
	a[0] = uint64(e.Any(list))
}

func drop(in *instance, a []uint64) {
	in.working().Drop(in.child(a[0]))
	in.forget(a[0])
}

func fail(in *instance, a []uint64) {
	in.refuse("it gave up: %s", printable(string(in.bytes(a[0], a[1])), maxText))
}

func logLine(in *instance, a []uint64) { in.log(in.bytes(a[0], a[1])) }

func (in *instance) log(b []byte) {
	if in.lines++; in.lines <= maxLines {
		in.m.host.cfg.Log(printable(string(b[:min(len(b), maxText)]), maxText))
	}
}
