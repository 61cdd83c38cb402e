package peer

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/library"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/sharedobj"
)

// A run of a module has the module's hash for the version of its application, and its root job is one of
// module.Func. What a peer runs of them is for its user to say, by the setting "modules"; its card says it to the
// others, and which modules it has.

// Whose modules a peer runs.
const (
	ModulesOff       = "off"       // none; nor does it pass any on
	ModulesPublished = "published" // those that a member has published
	ModulesMembers   = "members"   // those in runs of members
)

// DefaultModuleCache is how much of the disk modules may take if nothing else is said, in bytes.
const DefaultModuleCache = 256 << 20

const (
	// consentApp stands on a card for what its peer runs of modules.
	consentApp = module.Consent
	// moduleApp stands on a card for a module that its peer has: its version is the module's hash.
	moduleApp = "satin1.module"
	// maxModulesTold is how many modules a card names: those used last.
	maxModulesTold = 32
	// maxManifestWaiting is the size of a manifest that waits here for its module; a larger one is fetched again.
	maxManifestWaiting = 256 << 10
	// maxRunsWaiting bounds the runs that wait for modules.
	maxRunsWaiting = 128
	// maxHolders bounds the members that are said to have a module.
	maxHolders = 8
	// moduleSuffix ends the names of applications that are modules.
	moduleSuffix = ".wasm"
)

// consentVersion is how a card says what a peer runs.
func consentVersion(consent string) (v statement.Version) {
	v[0] = module.ABI
	if consent == ModulesMembers {
		v[1] = 1
	}
	return v
}

// runsModules says whether a member runs modules, published ones or others.
func runsModules(c *statement.Card, published bool) bool {
	return slices.ContainsFunc(c.Apps, func(a statement.App) bool {
		return a.Name == consentApp && a.Version[0] == module.ABI && (published || a.Version[1] == 1)
	})
}

func hasModule(c *statement.Card, h module.Hash) bool {
	return slices.Contains(c.Apps, statement.App{Name: moduleApp, Version: statement.Version(h)})
}

// modules are this peer's. Off, lib is nil.
type modules struct {
	*base.Base
	self    peer.ID
	members *members.Members
	places  *places.Places
	runs    *conductor           // of assemble
	send    func(*stream.Shared) // likewise
	changed func()               // what is here is not what it was
	consent string
	lib     *library.Library
	// standsFor says whether a member has published a module.
	standsFor func(module.Hash) bool

	mu      sync.Mutex
	waiting map[job.RunID]*waitingRun // runs that were refused for want of their module
}

// waitingRun is a run whose module is not here.
type waitingRun struct {
	module   module.Hash
	owner    peer.ID
	manifest *runs.Manifest // nil: it is too large to be kept
	since    time.Time
}

// open opens the library, as the configuration says.
func (x *modules) open(cfg *Config) (err error) {
	switch x.consent = cfg.Modules; x.consent {
	case "":
		x.consent = ModulesMembers
	case ModulesOff, ModulesPublished, ModulesMembers:
	default:
		return fmt.Errorf("whose modules are run is %q, allowed are %s, %s and %s", x.consent, ModulesOff,
			ModulesPublished, ModulesMembers)
	}
	if len(cfg.Compute) == 0 {
		x.consent = ModulesOff // there is no process to run them in
	}
	if x.consent == ModulesOff {
		return nil
	}
	most := cfg.ModuleCache
	most = cmp.Or(most, DefaultModuleCache)
	x.lib, err = library.Open(library.DefaultConfig(most), library.Host{
		Dir: filepath.Join(cfg.Host.StateDir, "modules"), Self: library.PeerID(x.self.String()), Here: x.came,
		Replace: x.Medium.Replace, Log: x.Log,
		Send: func(m *sharedobj.Message) { x.send(&stream.Shared{Message: m}) },
	})
	return err
}

// received takes in a message about modules.
func (x *modules) received(m *sharedobj.Message) {
	if x.lib != nil {
		x.lib.Received(m)
	}
}

// notSent says that one was certainly not delivered.
func (x *modules) notSent(m *sharedobj.Message) {
	if x.lib != nil {
		x.lib.NotSent(m)
	}
}

func (x *modules) close() {
	if x != nil && x.lib != nil {
		x.lib.Close()
	}
}

// setMembers says who has to do with modules.
func (x *modules) setMembers() {
	if x.lib == nil {
		return
	}
	list := []sharedobj.Member{{ID: library.PeerID(x.self.String()),
		Cluster: sharedobj.ClusterID(x.places.Mine().Name)}}
	for _, c := range x.members.List() {
		if runsModules(&c.Card, true) {
			list = append(list, sharedobj.Member{ID: library.PeerID(c.Peer.String()),
				Cluster: sharedobj.ClusterID(x.places.Of(c.Peer).Name)})
		}
	}
	x.lib.SetMembers(list)
}

// told are the entries of this peer's card.
func (x *modules) told() (list []statement.App) {
	if x == nil || x.lib == nil {
		return nil
	}
	list = append(list, statement.App{Name: consentApp, Version: consentVersion(x.consent)})
	files := x.lib.Files()
	for _, f := range files[max(0, len(files)-maxModulesTold):] {
		list = append(list, statement.App{Name: moduleApp, Version: statement.Version(f.Hash)})
	}
	return list
}

// unfit says why this peer cannot take part in the run of a module; "" if it can. A module that is not here is
// fetched from now on, as long as the run goes on, and it takes part then.
func (x *modules) unfit(m *statement.SignedManifest) string {
	h := module.Hash(m.Version)
	switch {
	case x.consent == ModulesOff:
		return "this peer runs no modules (setting modules)"
	case !strings.HasSuffix(m.App, moduleSuffix):
		return fmt.Sprintf("its application %q is not named as modules are", m.App)
	case !x.allowed(m.Owner, h):
		x.await(m, h) // somebody may publish it
		return awaited(h) + "was not published by a member, and this peer runs no others (setting modules)"
	case !x.lib.Has(h):
		x.await(m, h)
		return awaited(h) + "is not here yet: it is being fetched"
	}
	return ""
}

// awaited begins what is said of a run that waits for its module.
func awaited(h module.Hash) string { return fmt.Sprintf("module %s ", h) }

// unlike says why results of a module's jobs may honestly differ, as far as its imports show; "" if they do not.
func (x *modules) unlike(h module.Hash) string {
	if x.lib == nil {
		return ""
	}
	return module.Unlike(x.lib.Bytes(h))
}

// published says whether a member has published a module.
func (x *modules) published(h module.Hash) bool { return x.standsFor != nil && x.standsFor(h) }

// allowed says whether this peer's user lets it run a module for a run of that owner.
func (x *modules) allowed(owner peer.ID, h module.Hash) bool {
	return x.consent == ModulesMembers || x.consent == ModulesPublished && (owner == x.self || x.published(h))
}

// await has a run taken up when its module is here.
func (x *modules) await(m *statement.SignedManifest, h module.Hash) {
	w := &waitingRun{module: h, owner: m.Owner, since: x.Now()}
	if len(m.Bytes) <= maxManifestWaiting {
		w.manifest = manifestOf(m)
	}
	x.mu.Lock()
	out := x.excess(m)
	gone, ok := x.waiting[out], out != m.Run
	if ok {
		delete(x.waiting, out)
		x.waiting[m.Run] = w
	}
	x.mu.Unlock()
	if gone != nil {
		x.lib.Unuse(out.Hex(), gone.module)
	}
	if ok && x.allowed(m.Owner, h) {
		x.want(m.Run, w)
	}
}

// excess is the run that makes way for one more, zero if none has to: of the owner that has most the one that waits
// longest; the new one itself, if its own has as many. The user's own go before all others', and make way for none. The
// mutex is held.
func (x *modules) excess(m *statement.SignedManifest) (run job.RunID) {
	if len(x.waiting) < maxRunsWaiting || x.waiting[m.Run] != nil {
		return run
	}
	has := map[peer.ID]int{}
	for _, w := range x.waiting {
		has[w.owner]++
	}
	delete(has, x.self)
	run = m.Run
	most, since := has[m.Owner], time.Time{}
	for id, w := range x.waiting {
		if cmp.Or(has[w.owner]-most, since.Compare(w.since)) > 0 {
			run, most, since = id, has[w.owner], w.since
		}
	}
	return run
}

// want asks for a module those who should have it.
func (x *modules) want(run job.RunID, w *waitingRun) {
	owner := library.PeerID(w.owner.String())
	of := owner
	if w.owner == x.self {
		of = ""
	}
	x.lib.Want(w.module, run.Hex(), of, append([]library.PeerID{owner}, x.holders(w.module)...)...)
}

// holders are some members whose cards say that they have a module.
func (x *modules) holders(h module.Hash) (list []library.PeerID) {
	for _, c := range x.members.List() {
		if hasModule(&c.Card, h) && len(list) < maxHolders {
			list = append(list, library.PeerID(c.Peer.String()))
		}
	}
	return list
}

// came is told what the library has fetched.
func (x *modules) came(h module.Hash) {
	x.Log.Info("module fetched", "module", h)
	x.changed()
	x.keepUp()
}

// keepUp takes up the runs whose modules are here now, and forgets those that wait for nothing any more. It is done
// when a module comes and every Config.Every: a run may be refused after its module has come.
func (x *modules) keepUp() {
	if x.lib == nil {
		return
	}
	x.mu.Lock()
	list := make(map[job.RunID]*waitingRun, len(x.waiting))
	for id, w := range x.waiting {
		list[id] = w
	}
	x.mu.Unlock()
	t := x.runs
	for id, w := range list {
		info, _, known := t.info(id)
		allowed, refused := x.allowed(w.owner, w.module), known && info.State == runs.StateRefused
		waits := refused && (info.Mine || strings.HasPrefix(info.Why, awaited(w.module))) // and for nothing else
		switch {
		case waits && allowed && x.lib.Has(w.module):
			x.Log.Debug("the module of a run is here", "run", id)
			t.input(func(c *runs.Core, now time.Time) []runs.Order {
				orders := c.NotStarted(now, id, "")
				if !info.Mine && w.manifest != nil {
					told := &runs.Told{Run: id, From: peerName(w.owner), Manifest: w.manifest}
					orders = append(orders, c.Fetched(now, told)...)
				}
				return orders
			})
			if !info.Mine && w.manifest == nil {
				t.announced(id, w.owner)
				continue // until it runs: a manifest that was fetched before the module came may yet refuse it
			}
		case waits:
			if allowed && !x.lib.Wanted(w.module) {
				x.want(id, w)
			}
			continue
		case (!known || refused) && x.Now().Sub(w.since) < time.Minute:
			continue // package runs has not heard of it yet, or not that it is let in again
		case known && info.State == runs.StateRunning:
		default:
			x.lib.Unuse(id.Hex(), w.module)
		}
		x.mu.Lock()
		delete(x.waiting, id)
		x.mu.Unlock()
	}
}

// status says what is to be shown of modules.
func (x *modules) status() control.Modules {
	m := control.Modules{Whose: x.consent}
	if x.lib == nil {
		return m
	}
	for _, f := range x.lib.Files() {
		m.Here++
		m.Bytes += f.Size
	}
	x.mu.Lock()
	m.Waiting = len(x.waiting)
	x.mu.Unlock()
	return m
}

// use is what a run's process needs of its module, while the run goes on here.
func (x *modules) use(m *statement.SignedManifest) (*child.Module, error) {
	h := module.Hash(m.Version)
	if x.lib == nil {
		return nil, errors.New("this peer runs no modules (setting modules)")
	}
	bin, compiled := x.lib.Use(h, m.Run.Hex())
	if bin == nil {
		return nil, fmt.Errorf("module %s is not here", h)
	}
	return &child.Module{Hash: h, Bytes: bin, Cache: compiled}, nil
}

// unuse is called when a run has ended here.
func (x *modules) unuse(m *runs.Manifest) {
	if m.Entry == module.Func && x.lib != nil && len(m.Version) == len(module.Hash{}) {
		x.lib.Unuse(m.Run.Hex(), module.Hash([]byte(m.Version)))
	}
}

// add takes in a module that its user wants to run.
func (x *modules) add(f control.ModuleFile) (control.ModuleInfo, error) {
	if x.lib == nil {
		return control.ModuleInfo{}, control.Errorf(control.ErrRefused,
			"this daemon has nothing to do with modules (setting modules): add --local to run one on this machine alone")
	}
	if len(f.Bytes) == 0 || len(f.Bytes) > module.MaxSize {
		return control.ModuleInfo{}, control.Errorf(control.ErrBadInput, "a module has 1 to %d bytes, not %d",
			module.MaxSize, len(f.Bytes))
	}
	h := x.lib.Add(bytes.Clone(f.Bytes))
	x.changed()
	return control.ModuleInfo{Module: hex.EncodeToString(h[:]), Size: int64(len(f.Bytes)), Here: true}, nil
}

// list is what is here.
func (x *modules) list() (list []control.ModuleInfo) {
	if x.lib == nil {
		return nil
	}
	for _, f := range slices.Backward(x.lib.Files()) {
		list = append(list, control.ModuleInfo{Module: hex.EncodeToString(f.Hash[:]), Size: x.lib.Length(f.Hash),
			Here: true})
	}
	return list
}
