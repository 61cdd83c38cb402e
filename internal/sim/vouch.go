package sim

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// voucherBytes is about the length of a real one.
const voucherBytes = 145

// notary vouches as peers do, but for the cryptography: a voucher is the number of its author.
type notary struct {
	by   int32
	took bool // that is a difference
	open bool // how an outcome was made can be asked for: vouchers commit to it
}

func (n notary) Vouch(_ job.RunID, o *verify.Opening) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, voucherBytes), uint32(n.by))
	if n.open {
		c := o.Claim()
		b = binary.LittleEndian.AppendUint64(append(b, c.Tree[:]...), c.Nodes)
	}
	return b[:voucherBytes]
}

// Digest is of what was found out, and not by whom.
func (n notary) Digest(outcome []byte) verify.Hash {
	if o, ok := decodeOutcome(outcome); ok {
		if o.by = 0; !n.took {
			o.took = 0
		}
		outcome = o.encode(0)
	}
	return sha256.Sum256(outcome)
}

func (v notary) Claim(n verify.Node, outcome verify.Hash, voucher []byte) verify.Claim {
	if !v.open {
		return (&verify.Opening{Node: n, Outcome: outcome}).Claim()
	}
	return verify.Claim{Node: n, Outcome: outcome, Tree: verify.Hash(voucher[4:]),
		Nodes: binary.LittleEndian.Uint64(voucher[4+len(verify.Hash{}):])}
}

// newNotary gives nil for a run in which nobody vouches.
func newNotary(p *peer) driver.Notary {
	if !p.world.cfg.Vouch {
		return nil
	}
	q := p.world.cfg.Quorum
	return notary{int32(p.number), q != nil && q.Judged, q.asks()}
}

// checkVouchers sees to it that what leaves a peer, or comes to its disk, carries the word of whoever has computed it.
func (x *witness) checkVouchers(m *steal.Message) {
	switch {
	case m.Relayed != nil:
		x.checkVouchers(m.Relayed)
	case m.Result != nil:
		x.checkVoucher(m.Result.Path, m.Result.Outcome, m.Result.Voucher)
	case m.HandOver != nil:
		for i := range m.HandOver.Parts {
			part := &m.HandOver.Parts[i]
			x.checkVoucher(part.Path, part.Outcome, part.Voucher)
		}
	}
}

func (x *witness) checkVoucher(path job.Path, b, voucher []byte) {
	p := x.of
	if !p.world.cfg.Vouch || len(path) == 0 {
		return
	}
	if p.world.shared != nil {
		b = p.world.shared.truly(b)
	}
	o, ok := decodeOutcome(b)
	if !ok || len(voucher) < 4 || binary.LittleEndian.Uint32(voucher) != uint32(o.by) {
		panic(violation(vouchedFor, "%s has the outcome of %v, computed by %d, with the voucher %x", p.id, path, o.by,
			voucher[:min(4, len(voucher))]))
	}
}
