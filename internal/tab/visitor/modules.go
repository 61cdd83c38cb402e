package visitor

import (
	"errors"
	"fmt"
	"sync"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
)

// Modules are fetched from the member by their hash when a run wants one, and the last one stays for the next time.
// The member hears whether that has worked, and lists this tab as one that takes part only then.
//
// A browser's engine has other bounds than a member's: less stack, less memory. So nothing that a module does wrong
// here is told as its job's outcome: the job goes back, the tab takes no part in that run any more, and whoever runs
// the job next finds the mistake, if there is one.

// moduleBudget bounds what a module may compute to describe itself, in its fuel: a few seconds of this one thread.
const moduleBudget = 5_000_000_000

// A loader makes modules run here, one at a time. All visits of a stay have one: what it has compiled is used again
// where it goes on.
type loader struct {
	mu    sync.Mutex
	hosts [2]*module.Host // the second is strict
	last  loaded
}

// loaded is the module that was used last.
type loaded struct {
	hash   module.Hash
	strict bool // see module.Config
	module *module.Module
}

// consents are what a visitor's word says of modules.
func consents(cfg *Config) []statement.App {
	if cfg.Module == nil || !module.Runs() {
		return nil
	}
	return []statement.App{{Name: module.Consent, Version: statement.Version{module.ABI, 1}}}
}

// take has a run's module made ready, and takes part then.
func (v *Visitor) take(w *tab.Work) {
	err := v.loader.provide(v.cfg.Module, module.Hash(w.Module), w.Hoard)
	v.mu.Lock()
	if v.work != w {
		v.mu.Unlock()
		return // it has ended meanwhile
	}
	if err == nil {
		v.session, err = v.newSession(w)
	}
	if err != nil {
		v.work = nil
	} else {
		v.session.SetCores(1, false)
	}
	v.mu.Unlock()
	v.ready(w.Run, err)
	v.cfg.Changed()
}

// ready tells the member.
func (v *Visitor) ready(run job.RunID, err error) {
	r := &tab.Ready{Run: run}
	if err != nil {
		v.cfg.Log.Warn("no part in a run", "run", run, "why", err)
		r.Cannot = tab.Text(err.Error())
	}
	_ = v.send(&tab.Frame{Ready: r})
}

// provide makes the jobs of a module run here.
func (x *loader) provide(fetch func(module.Hash) ([]byte, error), h module.Hash, strict bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.last.module != nil && x.last.hash == h && x.last.strict == strict {
		return nil
	}
	if fetch == nil {
		return errors.New("this visitor runs no modules")
	}
	bin, err := fetch(h)
	if err != nil {
		return fmt.Errorf("module %s cannot be fetched: %w", h, err)
	}
	if len(bin) > module.MaxSize || module.HashOf(bin) != h {
		return fmt.Errorf("module %s has come with other bytes", h)
	}
	at := 0
	if strict {
		at = 1
	}
	if x.hosts[at] == nil {
		if x.hosts[at], err = module.NewHost(module.Config{Budget: moduleBudget, Strict: strict}); err != nil {
			return err
		}
	}
	m, err := x.hosts[at].Load(bin)
	if err != nil {
		return err
	}
	if x.last.module != nil {
		module.Withdraw(x.last.hash)
		x.last.module.Close()
	}
	x.last = loaded{h, strict, m}
	module.Provide(m)
	return nil
}

// failed says whether a message is an outcome that a tab does not tell. Its job goes back then, and the tab leaves the
// run.
func (v *Visitor) failed(w *tab.Work, m *steal.Message) bool {
	if len(w.Module) == 0 || m.Result == nil || !compute.Panicked(m.Result.Outcome) {
		return false
	}
	v.giveBack(m)
	go v.leaveRun(w)
	return true
}

// leaveRun ends the part in a run whose module cannot be run here.
func (v *Visitor) leaveRun(w *tab.Work) {
	v.mu.Lock()
	here := v.work == w
	v.mu.Unlock()
	if here {
		v.stop(true)
		v.ready(w.Run, errors.New("a job of it did not end here as it should"))
	}
}
