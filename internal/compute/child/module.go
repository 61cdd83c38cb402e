package child

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/wire"
)

// The bytes of a module go to the child in chunks, after its task and before its first order. Only the child reads,
// checks and compiles them.

// A Module is the one whose jobs a child runs.
type Module struct {
	Hash  module.Hash
	Bytes []byte // not changed any more
	// Cache is a folder for its compiled code, the one thing of the disk that the child keeps; "" is none. A child
	// may write what it likes there, and a later one runs it: so it is for children of this module alone.
	Cache string
	// Within is how long it may be compiled, as processor time where the system tells; 0: what its size gives.
	Within time.Duration
	// Strict jobs see nothing of where they run: see module.Config.
	Strict bool
}

// sentModule says what follows the task.
type sentModule struct {
	Hash   module.Hash   `cbor:"1,keyasint"`
	Size   int           `cbor:"2,keyasint,omitempty"` // 0: there is none
	Cache  string        `cbor:"3,keyasint,omitempty"`
	Within time.Duration `cbor:"4,keyasint,omitempty"`
	Strict bool          `cbor:"5,keyasint,omitempty"`
}

func (m *Module) sent() sentModule {
	if m == nil {
		return sentModule{}
	}
	within := m.Within
	if within == 0 {
		within = compileAny + time.Duration(len(m.Bytes))*compileByte
	}
	return sentModule{m.Hash, len(m.Bytes), m.Cache, within, m.Strict}
}

// chunk is how many bytes of a module one frame has.
const chunk = 128 << 10

// A preceded pipe has something written to it before all else, which may take longer than its writer can wait.
type preceded struct {
	io.WriteCloser
	once sync.Once
	text []byte
	err  error
}

// after makes one, and begins to write.
func after(w io.WriteCloser, text []byte) *preceded {
	p := &preceded{WriteCloser: w, text: text}
	go func() { _ = p.begin() }() // an error comes again at the first order
	return p
}

func (p *preceded) begin() error {
	p.once.Do(func() {
		for b := p.text; len(b) > 0 && p.err == nil; b = b[min(chunk, len(b)):] {
			p.err = wire.WriteFrame(p.WriteCloser, b[:min(chunk, len(b))], chunk)
		}
		p.text = nil
	})
	return p.err
}

func (p *preceded) Write(b []byte) (int, error) {
	if err := p.begin(); err != nil {
		return 0, err
	}
	return p.WriteCloser.Write(b)
}

// readModule reads what was announced.
func readModule(in io.Reader, m sentModule) ([]byte, error) {
	if m.Size < 0 || m.Size > module.MaxSize {
		return nil, fmt.Errorf("module %s has %d bytes, at most %d are allowed", m.Hash, m.Size, module.MaxSize)
	}
	bin := make([]byte, 0, m.Size)
	var buf []byte
	for len(bin) < m.Size {
		b, err := wire.ReadFrame(in, buf, chunk)
		if err != nil {
			return nil, err
		}
		bin, buf = append(bin, b...), b[:0]
	}
	if m.Size > 0 && module.HashOf(bin) != m.Hash {
		return nil, fmt.Errorf("module %s has come with other bytes", m.Hash)
	}
	return bin, nil
}

// What a module may take to be compiled, whatever its size and for each byte: some ten times what compilers' modules
// take. One within all limits of form may take a thousand times as long.
const (
	compileAny  = 20 * time.Second
	compileByte = 8 * time.Microsecond
)

// provide makes the jobs of a module run here. What is wrong with the module is an error of its jobs, on every
// machine the same; what is wrong here ends the process.
func provide(sent *sentModule, bin []byte) error {
	m, bad, err := compiled(sent, bin)
	switch {
	case err != nil:
		return err
	case bad != nil:
		module.ProvideError(sent.Hash, bad)
	default:
		l := m.Loading
		fmt.Fprintf(os.Stderr, "module %s is ready: checked in %v, compiled in %v, started in %v\n", m.Hash, l.Checking,
			l.Compiling, l.Starting)
		module.Provide(m)
	}
	return nil
}

// compiled loads a module. Bad is what is wrong with it.
func compiled(sent *sentModule, bin []byte) (m *module.Module, bad, err error) {
	defer endAfter(sent)()
	h, err := module.NewHost(module.Config{Cache: sent.Cache, Strict: sent.Strict, Log: said(os.Stderr)})
	if err != nil {
		return nil, nil, err
	}
	m, bad = h.Load(bin)
	return m, bad, nil
}

// said takes lines of a module's. They begin as no line does by which this process, or Go's runtime, says why it ends.
func said(w io.Writer) func(line string) {
	return func(line string) { fmt.Fprintln(w, " "+line) }
}

// spentEvery is how often it is looked how long compiling has taken.
const spentEvery = 50 * time.Millisecond

// endAfter ends this process, of which nothing else wants time, if it has taken longer than a module may, until what
// it gives is called: the compiler cannot be stopped.
func endAfter(m *sentModule) (compiled func()) {
	done, before := make(chan struct{}), cputime.Used()
	go func() {
		look := time.NewTicker(spentEvery)
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-look.C:
			}
			if cputime.Used()-before > m.Within {
				fmt.Fprintf(os.Stderr, ownMark+"module %s takes more than %v of processor time to compile\n", m.Hash,
					m.Within.Round(time.Millisecond))
				os.Exit(1)
			}
		}
	}()
	return func() { close(done) }
}
