package sim

import (
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/steal"
)

// disk is a peer's checkpoint: what it has kept or sent home, in the order of writing. It outlives the peer,
// but for what was written after the last commit.
type disk struct {
	records   []record
	committed int // so many are certain to be there when the peer is not
}

type record struct {
	at   int64
	part steal.Partial
}

// Store writes an outcome that came to be here, beside the jobs: they pay for it later. The root's is the
// answer, and not for the core to give back; those of others are on their disks.
func (p *peer) Store(part steal.Partial, from driver.Source) {
	c := &p.world.cfg.Checkpoint
	p.witness.checkVoucher(part.Path, part.Outcome, part.Voucher)
	p.witness.checkShunned(&part, from)
	if c.Every > 0 && p.world.cfg.Recovery == steal.Salvage && from == driver.RanHere && len(part.Path) > 0 {
		p.disk.records = append(p.disk.records, record{p.world.now, part})
		p.debt += int64(c.RecordCost) + int64(len(part.Outcome))*int64(c.ByteCost)
	}
}

// lose is what a crash leaves on the disk: all of the commits before, and of what came after nothing, or as much as
// chance has it.
func (d *disk) lose(w *stage) {
	every, phase := int64(w.cfg.Checkpoint.Every), int64(w.cfg.Checkpoint.Phase)
	if every == 0 {
		return
	}
	last := int64(0)
	if w.now >= phase {
		last = phase + (w.now-phase)/every*every
	}
	kept := d.records[:d.committed]
	for _, r := range d.records[d.committed:] {
		if r.at < last || w.cfg.Checkpoint.Torn && w.random.IntN(2) == 0 {
			kept = append(kept, r)
		}
	}
	d.records, d.committed = kept, len(kept)
}

// restored is what a peer finds on its disk when it begins a life.
func (p *peer) restored() []steal.Partial {
	parts := make([]steal.Partial, 0, len(p.disk.records))
	for i := range p.disk.records {
		p.world.audit.restored(&p.disk.records[i].part)
		parts = append(parts, p.disk.records[i].part)
	}
	p.world.counts.Restored += uint64(len(parts))
	return parts
}

// forgets says that a peer's disk is gone with it.
func (p *peer) forgets() { p.disk = disk{} }

// spread gives the records of dead peers of a cluster to live ones in turn: somebody has carried the disks over.
func (h *harm) spread(cluster int) {
	var live []*peer
	for _, p := range h.world.peers {
		if stays(p) {
			live = append(live, p)
		}
	}
	next := 0
	for _, dead := range h.world.peers {
		if dead.alive || dead.cluster != cluster || len(dead.disk.records) == 0 || len(live) == 0 {
			continue
		}
		p := live[next%len(live)]
		next++
		parts := dead.restored()
		dead.forgets()
		parts = p.exile.cleanParts(parts)
		h.world.trace.line(h.world.now, p.id, "restores %d outcomes of %s", len(parts), dead.id)
		p.driver.Restore(p.local(), parts)
		p.witness.checkRestored(parts)
		p.settle()
	}
}
