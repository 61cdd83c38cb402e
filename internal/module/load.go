package module

import (
	"errors"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/wasm"
)

// Names of what a module exports.
const (
	exportAttention = "satin1_attention" // () -> address of the attention word
	exportAlloc     = "satin1_alloc"     // (length) -> address
	exportRun       = "satin1_run"       // (function, argument's address and length) -> place
	exportDescribe  = "satin1_describe"  // () -> place
	exportSetup     = "satin1_setup"     // (address, length) -> place
	exportRender    = "satin1_render"    // (address, length) -> place
	exportCheck     = "satin1_check"     // (address, length) -> place; optional
	exportInit      = "_initialize"      // optional

	// Optional, too: for modules whose jobs share what changes.
	exportMove  = "satin1_move"  // (method, address, length) -> place: the state after a write
	exportJoin  = "satin1_join"  // (method, address, length) -> place: two values as one
	exportValid = "satin1_valid" // (method, address, length) -> place: whether an offer holds
	exportGuard = "satin1_guard" // (function, address, length) -> place: whether a job may begin
)

// roomForArguments is what a module is asked to have room for when it begins, in bytes.
const roomForArguments = 32 << 10

// maxIdle bounds the instances that a module keeps for its next jobs.
const maxIdle = 64

// A Module is ready to run: compiled, initialized once, and described. It runs any number of jobs at a time.
type Module struct {
	Hash Hash
	Description
	Loading Loading

	host    *Host
	code    code
	exports map[string]wasm.FuncType
	initial image  // of an instance that has been initialized
	word    uint32 // address of the attention word then, and so in all
	mu      sync.Mutex
	idle    []*instance
	closed  bool
}

// Loading is how long it took to make a module ready, of which Checking and Compiling may have been done before.
type Loading struct {
	Checking, Compiling, Starting time.Duration
}

// Load reads, checks, compiles and initializes a module. An error is an [*Error].
func (h *Host) Load(bin []byte) (*Module, error) {
	m := &Module{Hash: HashOf(bin), host: h}
	begun := time.Now()
	p, err := h.prepared(bin)
	if err != nil {
		return nil, m.error(err)
	}
	for _, name := range []string{exportAttention, exportAlloc, exportRun, exportDescribe, exportSetup, exportRender} {
		if _, has := p.Exports[name]; !has {
			return nil, &Error{m.Hash, "it exports no function " + name + ", so it is no satin1 module"}
		}
	}
	if !p.Memory {
		return nil, &Error{m.Hash, "it has no memory"}
	}
	m.exports = p.Exports
	checked := time.Now()
	if m.code, err = h.machine.compile(p); err != nil {
		return nil, m.error(err)
	}
	compiled := time.Now()
	if err := m.begin(); err != nil {
		m.Close()
		return nil, err
	}
	m.Loading = Loading{checked.Sub(begun), compiled.Sub(checked), time.Since(compiled)}
	return m, nil
}

// has says whether the module exports a function.
func (m *Module) has(name string) bool {
	_, has := m.exports[name]
	return has
}

// error makes err one of this module's.
func (m *Module) error(err error) error { return &Error{m.Hash, oneLine(err)} }

// begin initializes a first instance, keeps what it is then, and asks the module to describe itself.
func (m *Module) begin() error {
	in, err := m.instantiate()
	if err != nil {
		return err
	}
	if m.has(exportInit) {
		if err := in.raw(exportInit, nil, 0); err != nil {
			return err
		}
	}
	if _, err := in.place(make([]byte, roomForArguments)); err != nil { // so that it need not grow at each job
		return err
	}
	if err := in.bind(); err != nil {
		return err
	}
	m.initial = in.wasm.image()
	text, err := in.call(exportDescribe, nil)
	if err != nil {
		return err
	}
	if m.Description, err = ParseDescription(text); err != nil {
		return m.error(err)
	}
	m.put(in)
	return nil
}

// Close gives the module up. Jobs that still run end by themselves.
func (m *Module) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, in := range m.idle {
		in.close()
	}
	m.idle = nil
	if m.code != nil {
		m.code.close()
	}
}

// An instance is a running copy of a module, for one job at a time.
type instance struct {
	m     *Module
	wasm  running // nil: it has not begun
	stack [3]uint64

	// Of the call that is under way.
	engine   Engine
	shared   Shared
	seen     map[Name]string // what it was told of lattices
	names    []byte          // of what is offered next
	guard    bool            // of what is offered next
	budget   int64           // of fuel that is left; for jobs it is not counted
	unwind   any             // what a host function panicked with
	children children
	result   []byte // of the child that was joined last
	lines    int    // of the log
	touched  int    // bytes, by the host, since it looked at what others want
	clock    uint64
	asked    int // ticks since the attention word was raised and nothing was offered; of a strict job, all
}

// instantiate makes an instance as the module describes it: not initialized.
func (m *Module) instantiate() (*instance, error) {
	in := &instance{m: m, budget: m.host.cfg.Budget}
	r, err := m.code.instantiate(in)
	if err != nil {
		return nil, m.error(err)
	}
	in.wasm = r
	return in, nil
}

// bind finds the attention word, once: a module sees that it is asked, and its jobs are not to see how many instances
// there are.
func (in *instance) bind() error {
	var stack [1]uint64
	if err := in.raw(exportAttention, stack[:], 0, wasm.I32); err != nil {
		return err
	}
	in.m.word = uint32(stack[0])
	if _, ok := in.wasm.read(in.m.word, 4); !ok {
		return &Error{in.m.Hash, "its attention word is outside its memory"}
	}
	return nil
}

// raise has the module come by at its next spawn.
func (in *instance) raise() { in.wasm.write(in.m.word, []byte{0, 0, 0, 0}) }

func (in *instance) close() { in.wasm.close() }

// get gives an instance that is as the module was after its initialization.
func (m *Module) get() (*instance, error) {
	m.mu.Lock()
	if n := len(m.idle) - 1; n >= 0 {
		in := m.idle[n]
		m.idle = m.idle[:n]
		m.mu.Unlock()
		return in, nil
	}
	m.mu.Unlock()
	in, err := m.instantiate()
	if err != nil {
		return nil, err
	}
	return in, in.restore()
}

// put keeps an instance whose call has returned for another one.
func (m *Module) put(in *instance) {
	if in.wasm.size() != m.initial.size() || in.restore() != nil {
		in.close()
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.idle) >= maxIdle {
		in.close()
		return
	}
	m.idle = append(m.idle, in)
}

// errNoMemory is why an instance cannot be restored.
var errNoMemory = errors.New("there is no memory for another instance")

// restore makes an instance what the module was after its initialization.
func (in *instance) restore() error {
	if err := in.wasm.restore(in.m.initial); err != nil {
		return in.m.error(err)
	}
	in.children, in.result, in.unwind, in.engine, in.shared = children{}, nil, nil, nil, nil
	in.seen, in.names, in.guard = nil, nil, false
	in.lines, in.touched, in.clock, in.asked, in.budget = 0, 0, 0, 0, in.m.host.cfg.Budget
	return nil
}
