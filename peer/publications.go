package peer

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/library"
	"github.com/satin-peer/satin/peer/statement"
)

// Members publish modules: they sign that they stand for one under a name, which everybody may pass on. It is told
// by gossip when it is new, and at meetings; a peer keeps its own on its disk, and the modules with them.

const (
	maxPublishedHere = 16 // by this peer
	maxPublishedTold = 32 // at a meeting
	// signedAnew is how often a peer signs what it has published once more: its membership may have been renewed.
	signedAnew = 24 * time.Hour
)

var moduleName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// publications are what this peer knows of them.
type publications struct {
	*base.Base
	key     crypto.PrivKey
	self    peer.ID
	modules *modules
	voice   *voice
	files   *cabinet.Cabinet // of this peer's own, by name
	host    interface {
		SwarmName() string
		Proof() []byte
		Vouch(id peer.ID, proof []byte) (by []peer.ID, err error)
	}

	mu      sync.Mutex
	notices library.Notices
	signed  time.Time // when this peer's own were last
}

// recall reads what this peer has published in earlier lives, and signs it anew.
func (x *publications) recall() {
	x.mu.Lock()
	x.signed = x.Now()
	x.mu.Unlock()
	for _, f := range x.files.Files() {
		parts, err := x.files.Read(f.Name, 1)
		if err != nil {
			continue
		}
		s, err := statement.OpenPublished(parts[0])
		if err != nil || s.Author != x.self || x.modules.lib == nil {
			x.Log.Warn("what was published is not understood", "file", f.Name, "error", err)
			continue
		}
		x.modules.lib.Use(module.Hash(s.Module), publishedUse+s.Name)
		again := s.Published
		if _, err := x.sign(&again); err != nil {
			x.Log.Warn("what was published cannot be signed anew", "name", s.Name, "error", err)
		}
	}
}

// publishedUse keeps a module on the disk of whoever has published it, as a run would.
const publishedUse = "published "

// sign makes a notice of this peer's own, and tells everybody.
func (x *publications) sign(p *statement.Published) (*statement.SignedPublished, error) {
	p.Swarm, p.Proof = x.host.SwarmName(), x.host.Proof()
	x.mu.Lock()
	last := x.notices.Last(x.self.String(), p.Name)
	x.mu.Unlock()
	p.At = max(x.Now().Unix(), p.At+1, last+1) // the clock may have been set back
	s, err := p.Sign(x.key)
	if err != nil {
		return nil, err
	}
	if err := x.files.Write(s.Name, s.Bytes); err != nil {
		return nil, err
	}
	x.mu.Lock()
	x.notices.Put(noticeOf(s, nil))
	x.mu.Unlock()
	x.voice.tell(gossip.KindPublished, s.Bytes)
	return s, nil
}

func noticeOf(s *statement.SignedPublished, by []peer.ID) library.Notice {
	n := library.Notice{Author: s.Author.String(), Name: s.Name, Module: module.Hash(s.Module), Size: s.Size,
		Summary: s.Summary, Args: s.Args, At: s.At, Sealed: s.Bytes}
	for _, id := range by {
		n.By = append(n.By, id.String())
	}
	return n
}

// hear takes a notice in, from anywhere.
func (x *publications) hear(b []byte) error {
	s, err := statement.OpenPublished(b)
	if err != nil {
		return err
	}
	if s.Swarm != x.host.SwarmName() {
		return fmt.Errorf("a module of the swarm %q", plain.Clip(s.Swarm))
	}
	if !moduleName.MatchString(s.Name) {
		return fmt.Errorf("a module called %q", plain.Clip(s.Name))
	}
	by, err := x.host.Vouch(s.Author, s.Proof)
	if err != nil {
		return err
	}
	x.mu.Lock()
	news := x.notices.Put(noticeOf(s, by))
	x.mu.Unlock()
	if news {
		x.Log.Info("a module was published", "name", s.Name, "module", module.Hash(s.Module), "by", s.Author)
		x.modules.keepUp() // runs may wait for it
	}
	return nil
}

// told are the notices that a member is told of at a meeting.
func (x *publications) told() (list [][]byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	// By lot: of two that meet this peer by turns each would hear of the same half each time.
	for _, n := range x.notices.Told(maxPublishedTold, rand.IntN(maxPublishedTold)) {
		list = append(list, n.Sealed)
	}
	return list
}

// heard takes in what a member tells at a meeting.
func (x *publications) heard(from peer.ID, list [][]byte) {
	for _, b := range list[:min(len(list), maxPublishedTold)] {
		if err := x.hear(b); err != nil {
			x.Log.Debug("notice of a module refused", "from", from, "error", err)
		}
	}
}

// has says whether a member stands for a module.
func (x *publications) has(h module.Hash) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.notices.Has(h)
}

// keepUp drops the notices of those who are out of the swarm, and signs this peer's own anew now and then.
func (x *publications) keepUp(out func(peer.ID) bool) {
	x.mu.Lock()
	x.notices.Review(func(author string) bool {
		id, err := peer.Decode(author)
		return err == nil && (id == x.self || !out(id))
	})
	due := x.Now().Sub(x.signed) > signedAnew
	x.mu.Unlock()
	if due {
		x.recall()
	}
}

// publish stands for a module under a name.
func (x *publications) publish(p control.Publication) (control.ModuleInfo, error) {
	if !moduleName.MatchString(p.Name) {
		return control.ModuleInfo{}, control.Errorf(control.ErrBadInput,
			"a module cannot be called %q: want a word of small letters, digits and hyphens", plain.Clip(p.Name))
	}
	if !x.files.Has(p.Name) && len(x.files.Files()) >= maxPublishedHere {
		return control.ModuleInfo{}, control.Errorf(control.ErrRefused,
			"this peer has published %d modules, and may no more", maxPublishedHere)
	}
	info, err := x.modules.add(control.ModuleFile{Bytes: p.Bytes})
	if err != nil {
		return info, err
	}
	h, _ := wire.ParseHash(info.Module) // it was written here
	s, err := x.sign(&statement.Published{Name: p.Name, Module: h, Size: int64(len(p.Bytes)),
		Summary: plain.Name(p.Summary[:min(len(p.Summary), 200)]), Args: plain.Name(p.Args[:min(len(p.Args), 200)])})
	if err != nil {
		return info, control.Errorf(control.ErrUnavailable, "%s is not published: what says so cannot be written down: %v",
			p.Name, cause.Of(err))
	}
	lib, use := x.modules.lib, publishedUse+p.Name
	lib.Unuse(use, module.Hash{}) // what had this name makes way: there may be room on the disk only now
	lib.Use(module.Hash(h), use)
	if lib.Length(module.Hash(h)) == 0 {
		lib.Add(p.Bytes)
	}
	info = x.info(noticeOf(s, nil))
	if lib.Length(module.Hash(h)) == 0 {
		info.Warning = "it is published, but not on this peer's disk: that, or module_cache, has no room. Where no other " +
			"member has fetched it, it is gone with the daemon; publish it again when there is room"
	}
	return info, nil
}

func (x *publications) info(n library.Notice) control.ModuleInfo {
	return control.ModuleInfo{Module: hex.EncodeToString(n.Module[:]), Size: n.Size, Name: n.Name, Publisher: n.Author,
		Summary: n.Summary, Args: n.Args, Published: time.Unix(n.At, 0).UTC(),
		Here: x.modules.lib != nil && x.modules.lib.Has(n.Module)}
}

// list gives the modules that are published, by name, and then the others that are here.
func (x *publications) list() (list []control.ModuleInfo) {
	x.mu.Lock()
	notices := x.notices.List()
	x.mu.Unlock()
	for _, n := range notices {
		list = append(list, x.info(n))
	}
	for _, m := range x.modules.list() {
		if !slices.ContainsFunc(list, func(p control.ModuleInfo) bool { return p.Module == m.Module }) {
			list = append(list, m)
		}
	}
	return list
}

// find gives the module that a name means: one under which it is published, alone or behind its publisher and a
// slash, or its hash, or the hash's first digits. It is fetched if it is not here.
func (x *publications) find(ctx context.Context, name string) (control.ModuleFile, error) {
	if x.modules.lib == nil {
		return control.ModuleFile{}, control.Errorf(control.ErrNotFound,
			"this daemon has nothing to do with modules (setting modules)")
	}
	h, holders, err := x.named(name)
	if err != nil {
		return control.ModuleFile{}, err
	}
	if bin := x.modules.lib.Fetch(ctx, h, holders...); bin != nil {
		return control.ModuleFile{Bytes: bin}, nil
	}
	return control.ModuleFile{}, control.Errorf(control.ErrUnavailable,
		"module %s cannot be had at the moment: no member that has it answers", h)
}

// named says which module a name means, and who should have it.
func (x *publications) named(name string) (h module.Hash, holders []library.PeerID, err error) {
	var found []module.Hash
	x.mu.Lock()
	notices := x.notices.List()
	for _, n := range x.notices.Named(name) {
		found = append(found, n.Module)
	}
	x.mu.Unlock()
	if len(name) >= 8 && strings.Trim(name, "0123456789abcdef") == "" {
		for _, m := range x.list() {
			known, ok := wire.ParseHash(m.Module)
			if strings.HasPrefix(m.Module, name) && ok && !slices.Contains(found, known) {
				found = append(found, known)
			}
		}
		if whole, ok := wire.ParseHash(name); ok && len(found) == 0 {
			found = append(found, whole)
		}
	}
	switch len(found) {
	case 0:
		return h, nil, control.Errorf(control.ErrNotFound,
			"there is no module %q: satin-peer modules lists those there are", plain.Clip(name))
	case 1:
	default:
		return h, nil, control.Errorf(control.ErrBadInput, "several modules are called %q: say whose, as in PUBLISHER/%s",
			plain.Clip(name), plain.Clip(name))
	}
	h = found[0]
	for _, n := range notices {
		if n.Module == h {
			holders = append(holders, library.PeerID(n.Author))
		}
	}
	return h, append(holders, x.modules.holders(h)...), nil
}

// errNoPublications is why a payload is refused.
var errNoPublications = errors.New("the notice of a module by another author")

// checkPublished accepts a notice of its author.
func checkPublished(author peer.ID, b []byte) error {
	s, err := statement.OpenPublished(b)
	if err == nil && s.Author != author {
		return errNoPublications
	}
	return err
}
