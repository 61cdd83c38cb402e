package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// voucherBytes is about the length of a real one.
const voucherBytes = 145

// notary vouches as peers do, but for the cryptography: a voucher is the number of its author, and behind it those of
// whom it names, each as long as a key.
type notary struct {
	of   *peer
	by   int32
	took bool // that is a difference
	open bool // how an outcome was made can be asked for: vouchers commit to it
}

func (n notary) Vouch(_ job.RunID, o *verify.Opening) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, voucherBytes), uint32(n.by))
	if n.open {
		c := o.Claim()
		b = binary.LittleEndian.AppendUint64(append(b, c.Tree[:]...), c.Nodes)
		b = binary.LittleEndian.AppendUint64(b, c.Time)
	}
	b = b[:voucherBytes:voucherBytes]
	for _, name := range o.Of.Names {
		b = append(b, name...)
	}
	return b
}

// nameBytes is the length of a key.
const nameBytes = 32

// nameOf is how vouchers name a peer.
func nameOf(number int32) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(number))) + string(make([]byte, nameBytes-4))
}

// byOf and namesIn read a voucher.
func byOf(voucher []byte) int32 { return int32(binary.LittleEndian.Uint32(voucher)) }

func namesIn(voucher []byte) (names []string) {
	for b := voucher[voucherBytes:]; len(b) > 0; b = b[nameBytes:] {
		names = append(names, string(b[:nameBytes]))
	}
	return names
}

// Digest is of what was found out, and not by whom.
func (n notary) Digest(outcome []byte) verify.Hash {
	if o, ok := decodeOutcome(outcome); ok {
		if o.by, o.touched = 0, false; !n.took {
			o.took = 0
		}
		outcome = o.encode(0)
	}
	return sha256.Sum256(outcome)
}

func (v notary) Claim(n verify.Node, outcome verify.Hash, voucher []byte) (verify.Claim, verify.Authors) {
	of := verify.Authors{Names: namesIn(voucher)}
	of.Add(nameOf(byOf(voucher)))
	of.Drop(nameOf(v.by))
	if !v.open {
		return (&verify.Opening{Node: n, Outcome: outcome}).Claim(), of
	}
	numbers := voucher[4+len(verify.Hash{}):]
	return verify.Claim{Node: n, Outcome: outcome, Tree: verify.Hash(voucher[4:]),
		Nodes: binary.LittleEndian.Uint64(numbers), Time: binary.LittleEndian.Uint64(numbers[8:])}, of
}

// Out says whether a peer that has heard of the outcast finds it among these.
func (v notary) Out(of *verify.Authors) bool {
	return v.of.exile.heard && slices.Contains(of.Names, nameOf(int32(v.of.world.cfg.Outcast.Peer)))
}

// newNotary gives nil for a run in which nobody vouches.
func newNotary(p *peer) driver.Notary {
	if !p.world.cfg.Vouch {
		return nil
	}
	q := p.world.cfg.Quorum
	return notary{p, int32(p.number), q != nil && q.Judged, q.asks()}
}

// checkVouchers sees to it that what leaves a peer, or comes to its disk, carries the word of whoever has computed it.
func (x *witness) checkVouchers(m *steal.Message) {
	switch {
	case m.Relayed != nil:
		x.checkVouchers(m.Relayed)
	case m.Result != nil:
		x.checkVoucher(m.Result.Path, m.Result.Outcome, m.Result.Voucher)
		x.checkSent(m.Result)
	case m.HandOver != nil:
		for i := range m.HandOver.Parts {
			part := &m.HandOver.Parts[i]
			x.checkVoucher(part.Path, part.Outcome, part.Voucher)
			if !m.HandOver.Copy && x.of.exile.left {
				x.checkShunned(part, driver.HandedOver)
			}
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
	x.checkTouched(path, &o, voucher)
}
