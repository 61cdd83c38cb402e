package runs

import (
	"bytes"
	"maps"
	"slices"
	"time"
)

// dormant are the runs of others that a peer which was restarted has checkpoints of. Such a run is taken up when
// somebody says that it goes on, and forgotten when its owner says that it is over. When nobody says anything for a
// while, all who took part may be lost, and it is taken up without a word: this peer has the manifest.
type dormant struct {
	*table
	of map[RunID]*sleeper
}

type sleeper struct {
	m            *Manifest
	unfit        string
	since, asked time.Time
	asking, turn int
}

// found notes a run that there is a checkpoint of.
func (d *dormant) found(m *Manifest, unfit string) {
	if d.runs[m.Run] == nil && len(d.of) < d.cfg.Active {
		d.of[m.Run] = &sleeper{m: m, unfit: unfit, since: d.now, turn: -1}
	}
}

// revoked forgets those whose owners are out.
func (d *dormant) revoked(out func(*Manifest) bool) {
	for _, id := range d.ids() {
		if out(d.of[id].m) {
			delete(d.of, id)
			d.order(Discard{id})
		}
	}
}

func (d *dormant) ids() []RunID {
	return slices.SortedFunc(maps.Keys(d.of), func(a, b RunID) int { return bytes.Compare(a[:], b[:]) })
}

// tick asks about them, and gives those that are to be taken up.
func (d *dormant) tick() (up []*sleeper) {
	for _, id := range d.ids() {
		s := d.of[id]
		switch {
		case d.runs[id] != nil: // it was heard of
			delete(d.of, id)
		case d.graves.over(id, s.m.Owner), d.day.Reached(s.m.Expires):
			delete(d.of, id)
			d.order(Discard{id})
		case d.now.Unix() >= s.m.Expires: // it waits until that is sure, or it is heard of
			s.since = d.now
		case d.now.Sub(s.since) > d.cfg.DormantFor && s.asking == 0:
			delete(d.of, id)
			d.note(id, "nobody knows of a run that this peer took part in: it goes on here")
			up = append(up, s)
		case d.now.Sub(s.asked) >= d.cfg.DormantEvery && s.asking == 0:
			s.asked = d.now
			s.turn++
			for _, whom := range d.whomToAsk(s.m, s.turn) {
				s.asking++
				d.order(Ask{id, whom})
			}
		}
	}
	return up
}

// told is what somebody knows of one of them; it gives it if it is to be taken up.
func (d *dormant) told(id RunID, known bool) *sleeper {
	s := d.of[id]
	if s == nil {
		return nil
	}
	s.asking = max(s.asking-1, 0)
	if !known || d.graves.over(id, s.m.Owner) { // then tick removes it
		return nil
	}
	delete(d.of, id)
	return s
}
