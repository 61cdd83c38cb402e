package visitor

import (
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/verify"
)

// A notary vouches for what is computed here: see driver.Notary. All of it leaves, so it is signed at once.
type notary struct{ v *Visitor }

// Vouch signs for an outcome.
func (n notary) Vouch(run job.RunID, o *verify.Opening) []byte {
	c := o.Claim()
	b, err := statement.VouchMade(n.v.key, run, &c, &o.Of)
	if err != nil {
		n.v.cfg.Log.Error("an outcome cannot be signed", "error", err)
	}
	return b
}

// Digest is the same for all outcomes that are equal.
func (notary) Digest(outcome []byte) verify.Hash { return compute.Digest(outcome) }

// Claim reads a voucher that comes from the member.
func (notary) Claim(node verify.Node, outcome verify.Hash, voucher []byte) (c verify.Claim, of verify.Authors) {
	r, err := statement.ReadVoucher(voucher, node, outcome)
	if err != nil {
		return verify.Claim{Node: node, Outcome: outcome}, of
	}
	of = r.Of()
	of.Add(string(r.Author))
	return r.Claim, of
}

// Out is for members to say.
func (notary) Out(*verify.Authors) bool { return false }
