package visitor

import (
	"sync"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/verify"
)

// maxCommitted bounds what is remembered of how outcomes were made: a phone has little memory.
const maxCommitted = 16 << 20

// committed is what stands behind outcomes of verified runs, whose owner is the member.
type committed struct {
	mu   sync.Mutex
	made driver.Commitments
}

// of is what remembers for a run; nil: nobody is going to ask.
func (x *committed) of(w *tab.Work) func(*verify.Claim, *driver.Made) {
	if !w.Hoard {
		return nil
	}
	return func(c *verify.Claim, made *driver.Made) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.made.Most = maxCommitted
		x.made.Note(&driver.Commitment{Claim: *c, Made: made, Run: w.Run})
	}
}

// show answers the member.
func (v *Visitor) show(a *tab.Ask) error {
	s := &tab.Show{Tree: a.Tree}
	v.made.mu.Lock()
	c := v.made.made.Of(a.Run, a.Tree)
	v.made.mu.Unlock()
	if c != nil {
		voucher, err := statement.Vouch(v.key, c.Run, &c.Claim)
		if err == nil {
			s.Node, err = wire.Value().Encode(c.Open(voucher))
		}
		if err != nil {
			return err
		}
	}
	if v.send(&tab.Frame{Show: s}) != nil {
		return v.send(&tab.Frame{Show: &tab.Show{Tree: a.Tree}}) // it is too long to be shown
	}
	return nil
}
