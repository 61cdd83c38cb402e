package child

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/wire"
)

// A command that runs a stranger's module has to know what it is called, which flags it has, what its root job is and
// how its answer reads. All of that the module says itself, in a process like those that compute: without files,
// network and keys, and with limits.

// An Asked is a module in a process of its own that answers what [module.Module] does: it runs no jobs. Its methods may
// be called by one goroutine at a time.
type Asked struct {
	module.Description
	Hash module.Hash

	process  *Engine
	in       *os.File
	out      io.WriteCloser
	closing  sync.Once
	patience time.Duration
}

// askPatience is how long an answer is waited for: longer than the largest module may take to be compiled, and far
// longer than the fuel lasts that it has to answer with.
const askPatience = 5 * time.Minute

// fieldGrows is how many bytes JSON may have for one of a module's text.
const fieldGrows = 6

// What is asked.
const (
	askDescription = iota
	askSetup
	askRender
	askCheck
)

type question struct {
	What   int           `cbor:"1,keyasint"`
	Args   []string      `cbor:"2,keyasint,omitempty"`
	Flags  []string      `cbor:"3,keyasint,omitempty"`
	Files  []module.File `cbor:"4,keyasint,omitempty"`
	Call   module.Call   `cbor:"5,keyasint"`
	Result []byte        `cbor:"6,keyasint,omitempty"`
}

type reply struct {
	Description []byte      `cbor:"1,keyasint,omitempty"` // JSON, as is Fields
	Root        module.Root `cbor:"2,keyasint"`
	Text        string      `cbor:"3,keyasint,omitempty"`
	Fields      []byte      `cbor:"4,keyasint,omitempty"`
	// What went wrong: Why; or, of Setup, that an argument is refused.
	Why  string `cbor:"5,keyasint,omitempty"`
	What string `cbor:"6,keyasint,omitempty"`
	Want string `cbor:"7,keyasint,omitempty"`
	// Own says that the module has broken the rules of its ABI.
	Own bool `cbor:"8,keyasint,omitempty"`
}

// Ask starts a process for a module, which must be in the Config, and waits until it has described itself. An error
// is a [*module.Error] if something is wrong with the module.
func Ask(cfg Config) (*Asked, error) {
	e, in, out, err := launch(cfg, true)
	if err != nil {
		return nil, err
	}
	a := &Asked{Hash: cfg.Module.Hash, process: e, in: in, out: out, patience: askPatience}
	r, err := a.ask(&question{What: askDescription})
	if err == nil {
		if a.Description, err = module.ParseDescription(r.Description); err != nil {
			err = &module.Error{Module: a.Hash, Why: err.Error()}
		}
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close ends the process, and waits for it.
func (a *Asked) Close() {
	a.closing.Do(func() {
		_ = a.process.process.Kill() // it may have ended already
		<-a.process.ended
		_, _ = a.in.Close(), a.out.Close()
	})
}

// Setup is [module.Module.Setup].
func (a *Asked) Setup(args, flags []string, files []module.File) (module.Root, error) {
	r, err := a.ask(&question{What: askSetup, Args: args, Flags: flags, Files: files})
	if err != nil {
		return module.Root{}, err
	}
	if r.Want != "" {
		return module.Root{}, &module.InputError{What: line(r.What), Want: line(r.Want)}
	}
	r.Root.Title = line(r.Root.Title)
	r.Root.Call.Module = a.Hash // whatever it says: this is the one that is run
	return r.Root, nil
}

// Render is [module.Module.Render].
func (a *Asked) Render(root module.Call, res []byte) (text string, fields map[string]any, err error) {
	r, err := a.ask(&question{What: askRender, Call: root, Result: res})
	if err == nil && (len(r.Text) > module.MaxShown || len(r.Fields) > fieldGrows*module.MaxShown) {
		err = &module.Error{Module: a.Hash, Why: "its answer is too long to be shown"}
	}
	if err == nil && len(r.Fields) > 0 {
		fields, err = module.ReadFields(r.Fields)
	}
	if err != nil {
		return "", nil, err
	}
	return module.Shown(r.Text), fields, nil
}

// line makes what the process says one that can be shown: a module that has left its sandbox may say anything.
func line(s string) string { return strings.ReplaceAll(module.Shown(s), "\n", " ") }

// Check is [module.Module.Check].
func (a *Asked) Check(root module.Call, res []byte) error {
	_, err := a.ask(&question{What: askCheck, Call: root, Result: res})
	return err
}

func (a *Asked) ask(q *question) (*reply, error) {
	b, err := wire.Local().Encode(q)
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(a.patience, func() { _ = a.process.process.Kill() })
	err = wire.WriteFrame(a.out, b, wire.MaxLocalFrame)
	if err == nil {
		b, err = wire.ReadFrame(a.in, nil, wire.MaxLocalFrame)
	}
	switch inTime := late.Stop(); {
	case err != nil && !inTime:
		return nil, &module.Error{Module: a.Hash, Why: "it takes too long to answer"}
	case err != nil:
		return nil, a.process.why(err)
	}
	r := new(reply)
	if err := wire.Told().Decode(b, r); err != nil {
		return nil, err
	}
	switch {
	case r.Own:
		return nil, &module.Error{Module: a.Hash, Why: line(r.Why)}
	case r.Why != "":
		return nil, errors.New(line(r.Why))
	}
	return r, nil
}

// answer is what the process does: it answers until nobody asks any more.
func answer(sent *sentModule, bin []byte, settle func() error, in io.Reader, out io.Writer) error {
	m, bad, err := compiled(sent, bin)
	if err == nil {
		err = settle()
	}
	if err != nil {
		return err
	}
	for {
		b, err := wire.ReadFrame(in, nil, wire.MaxLocalFrame)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var q question
		if err := wire.Local().Decode(b, &q); err != nil {
			return err
		}
		r, err := &reply{}, bad
		if bad == nil {
			err = r.to(m, &q)
		}
		if err != nil {
			*r = reply{Why: err.Error()}
			if e, own := err.(*module.Error); own {
				r.Why, r.Own = e.Why, true
			}
			if e, input := err.(*module.InputError); input {
				*r = reply{What: e.What, Want: e.Want}
			}
		}
		if b, err = wire.Local().Encode(r); err != nil {
			return err
		}
		if err := wire.WriteFrame(out, b, wire.MaxLocalFrame); err != nil {
			return err
		}
	}
}

// to asks the module.
func (r *reply) to(m *module.Module, q *question) (err error) {
	switch q.What {
	case askDescription:
		r.Description, err = json.Marshal(m.Description)
	case askSetup:
		r.Root, err = m.Setup(q.Args, q.Flags, q.Files)
	case askRender:
		var fields map[string]any
		if r.Text, fields, err = m.Render(q.Call, q.Result); err == nil && fields != nil {
			r.Fields, err = json.Marshal(fields)
		}
	case askCheck:
		err = m.Check(q.Call, q.Result)
	}
	return err
}
