package module

import (
	"encoding/binary"
	"errors"
	"syscall/js"

	"github.com/satin-peer/satin/internal/wasm"
)

// A browser's engine, beside this program, which is WebAssembly there, too
//
// Modules run on stacks of their own (JavaScript promise integration): whatever they call of the host suspends them.
// So there is one thread and nobody waits for another on it: an instance runs until it calls the host, by tick after a
// ms at the latest, its call is an event, and the goroutine that runs its job answers it. What lies between the two
// is a class of the browser's script, Guest in web/guest.js of package gateway: it knows words of 64 bits and promises,
// and nothing of what they mean.
//
// The event comes into this program in the middle of whatever called into the browser, at first this instance's own
// call. It only leaves a number in a channel with room for it, since an instance that has called waits for the answer:
// so no event waits for anything.

// Runs says whether modules can be run here.
func Runs() bool {
	return js.Global().Get("WebAssembly").Get("Suspending").Truthy() && guestClass().Truthy()
}

func guestClass() js.Value { return js.Global().Get("Guest") }

// defaultFuel is some ms: to suspend an instance and to wake it takes some 10 us.
const defaultFuel = 2_000_000

// maxWords is as many parameters as a function of the host has.
const maxWords = 9

var errBrowser = errors.New("this browser cannot run modules: it has no promise integration for WebAssembly")

// browserMachine is the browser's compiler.
type browserMachine struct{}

func newMachine(*Config) (machine, error) {
	if !Runs() {
		return nil, errBrowser
	}
	return browserMachine{}, nil
}

func (browserMachine) close() error { return nil }

// browserCode is a module that the browser has compiled.
type browserCode struct {
	module  js.Value
	imports []hostFunc // in the order in which the browser lists them
	globals []string
}

func (browserMachine) compile(p *wasm.Prepared) (code, error) {
	bin := js.Global().Get("Uint8Array").New(len(p.Code))
	js.CopyBytesToJS(bin, p.Code)
	m, err := tried(func() js.Value { return js.Global().Get("WebAssembly").Get("Module").New(bin) })
	if err != nil {
		return nil, err
	}
	c := &browserCode{module: m, globals: p.Globals}
	list := guestClass().Call("imports", m)
	for i := range list.Length() {
		x := list.Index(i)
		from, name := x.Get("module").String(), x.Get("name").String()
		f, ok := hostFuncOf(from, name)
		if from == wasm.TickModule && name == wasm.TickName {
			f, ok = hostFunc{nil, types(i32), tick}, true
		}
		if !ok {
			return nil, errors.New("it imports what is not there") // package wasm has let it through
		}
		c.imports = append(c.imports, f)
	}
	return c, nil
}

func (c *browserCode) close() {}

// tried does what may throw.
func tried(do func() js.Value) (v js.Value, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case js.Error:
			err = errors.New(x.Get("message").String())
		default:
			panic(x)
		}
	}()
	return do(), nil
}

// browserInstance is an instance in the browser.
type browserInstance struct {
	in      *instance
	code    *browserCode
	guest   js.Value // a Guest
	words   js.Value // its words, as bytes
	memory  js.Value // a WebAssembly.Memory
	globals []js.Value
	calls   chan int    // what it calls of the host: one at a time
	done    chan string // how a call has ended: "" is well
	funcs   [2]js.Func  // what the browser calls
	stack   [maxWords]uint64
}

func (c *browserCode) instantiate(in *instance) (running, error) {
	r := &browserInstance{in: in, code: c, calls: make(chan int, 1), done: make(chan string, 1)}
	r.funcs[0] = js.FuncOf(func(_ js.Value, args []js.Value) any {
		r.calls <- args[0].Int()
		return nil
	})
	r.funcs[1] = js.FuncOf(func(_ js.Value, args []js.Value) any {
		r.done <- args[0].String()
		return nil
	})
	var err error
	r.guest, err = tried(func() js.Value { return guestClass().New(c.module, r.funcs[0], r.funcs[1]) })
	if err != nil {
		r.close()
		return nil, err
	}
	r.words = r.guest.Get("bytes")
	exports := r.guest.Get("exports")
	r.memory = exports.Get(wasm.MemoryName)
	for _, name := range c.globals {
		r.globals = append(r.globals, exports.Get(name))
	}
	return r, nil
}

func (r *browserInstance) close() {
	r.guest = js.Undefined()
	for i := range r.funcs {
		r.funcs[i].Release()
	}
}

func (r *browserInstance) call(name string, t wasm.FuncType, stack []uint64) error {
	r.tell(stack[:len(t.Params)])
	r.guest.Call("call", name, len(t.Params))
	for {
		select {
		case i := <-r.calls:
			r.answer(r.code.imports[i])
		case bad := <-r.done:
			if bad != "" {
				return errors.New(bad)
			}
			r.hear(stack[:len(t.Results)])
			return nil
		}
	}
}

// answer does what the instance has called for, and wakes it.
func (r *browserInstance) answer(f hostFunc) {
	well := false
	defer func() {
		if !well {
			_ = recover() // it is kept: see guarded
			r.guest.Call("fail")
		}
	}()
	r.hear(r.stack[:len(f.params)])
	f.guarded(r.in, r.stack[:])
	kind := 0
	if len(f.results) > 0 {
		r.tell(r.stack[:1])
		kind = int(f.results[0])
	}
	well = true
	r.guest.Call("answer", kind)
}

// hear reads words of the guest's, and tell writes them: 8 bytes each, as every WebAssembly has them.
func (r *browserInstance) hear(words []uint64) {
	var b [8 * maxWords]byte
	if len(words) == 0 {
		return
	}
	js.CopyBytesToGo(b[:8*len(words)], r.words)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

func (r *browserInstance) tell(words []uint64) {
	var b [8 * maxWords]byte
	if len(words) == 0 {
		return
	}
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	js.CopyBytesToJS(r.words, b[:8*len(words)])
}

func (r *browserInstance) size() uint32 {
	return uint32(r.memory.Get("buffer").Get("byteLength").Int())
}

// view is a part of the memory, good until that grows.
func (r *browserInstance) view(at, n uint32) (js.Value, bool) {
	if uint64(at)+uint64(n) > uint64(r.size()) {
		return js.Value{}, false
	}
	return js.Global().Get("Uint8Array").New(r.memory.Get("buffer"), at, n), true
}

func (r *browserInstance) read(at, n uint32) ([]byte, bool) {
	v, ok := r.view(at, n)
	if !ok {
		return nil, false
	}
	b := make([]byte, n)
	js.CopyBytesToGo(b, v)
	return b, true
}

func (r *browserInstance) write(at uint32, b []byte) bool {
	v, ok := r.view(at, uint32(len(b)))
	if ok {
		js.CopyBytesToJS(v, b)
	}
	return ok
}

// browserImage is a copy of memory and globals, which stays in the browser.
type browserImage struct {
	memory js.Value
	values []js.Value
	n      uint32
}

func (i *browserImage) size() uint32 { return i.n }

func (r *browserInstance) image() image {
	i := &browserImage{memory: js.Global().Get("Uint8Array").New(r.memory.Get("buffer")).Call("slice"), n: r.size()}
	for _, g := range r.globals {
		i.values = append(i.values, g.Get("value"))
	}
	return i
}

func (r *browserInstance) restore(x image) error {
	was := x.(*browserImage)
	if have := r.size(); have < was.n {
		if _, err := tried(func() js.Value { return r.memory.Call("grow", (was.n-have)>>16) }); err != nil {
			return errNoMemory
		}
	}
	js.Global().Get("Uint8Array").New(r.memory.Get("buffer")).Call("set", was.memory)
	for i, g := range r.globals {
		g.Set("value", was.values[i])
	}
	return nil
}
