package peer

import (
	"fmt"
	"slices"
	"sync"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Bounds of what is kept of who has signed what in a run of this peer's.
const (
	maxOath    = 4 << 10 // bytes of an argument and an outcome
	maxOaths   = 256 << 10
	sizeOfOath = 512 // what a voucher counts at least
)

// oaths are the jobs of a run on which others agreed, the first ones as far as there is room.
type oaths struct {
	mu    sync.Mutex
	list  []report.Sworn
	bytes int
}

// note takes one in: see driver.Proving.
func (o *oaths) note(n verify.Node, j *steal.Job, outcome []byte, vouchers [][]byte) {
	size := len(j.Arg) + len(outcome)
	if size > maxOath {
		return
	}
	size += len(n.Path)
	for _, v := range vouchers {
		size += max(len(v), sizeOfOath)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes+size > maxOaths {
		return
	}
	o.bytes += size
	o.list = append(o.list, report.Sworn{Function: j.Function, Path: []byte(n.Path), Argument: slices.Clone(j.Arg),
		Outcome: slices.Clone(outcome), Vouchers: slices.Clone(vouchers)})
}

func (o *oaths) all() []report.Sworn {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.list)
}

// OpenSworn checks what is said to be signed, of a run by its name, wherever it comes from. It gives the argument of
// the job and what came of it, and who has signed that, each once. It needs no daemon. Who these are is for the caller
// to know: anybody can make a key.
func OpenSworn(run string, s *report.Sworn) (arg, result any, authors []string, err error) {
	id, ok := job.ParseRunID(run)
	if !ok {
		return nil, nil, nil, fmt.Errorf("%q is no run", plain.Clip(run))
	}
	if arg, err = compute.ArgumentOf(s.Function, s.Argument); err != nil {
		return nil, nil, nil, err
	}
	fn, _ := engine.Lookup(s.Function)
	result, failed, panicked, err := compute.DecodeOutcome(id, s.Outcome, fn)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case failed != nil:
		return nil, nil, nil, failed
	case panicked != nil:
		return nil, nil, nil, panicked
	}
	n := verify.Node{Path: string(s.Path), Identity: job.Identify(s.Function, s.Argument)}
	for _, voucher := range s.Vouchers {
		v, err := statement.OpenVoucher(voucher, id, n, compute.Digest(s.Outcome))
		if err != nil {
			return nil, nil, nil, err
		}
		if a := v.Author.String(); !slices.Contains(authors, a) {
			authors = append(authors, a)
		}
	}
	return arg, result, authors, nil
}
