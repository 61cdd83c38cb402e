package deposits

import (
	"testing"
	"time"
)

// Guards against a member that names another's deposit with a wrong size before its maker does, and as often as it
// likes: the maker is not refused, nor charged by what the liar says, and the bytes decide which of both is right.
func TestTheBytesDecide(t *testing.T) {
	const size = 5 << 20
	for name, c := range map[string]struct {
		said         int64
		here, ticked bool // the bytes come with the liar's question, and are found to be of another size
	}{
		"before the bytes":      {said: 8 << 20},
		"as they have come":     {said: 1, here: true},
		"when they are dropped": {said: 1, here: true, ticked: true},
	} {
		w := newWorld(t, 1, 2)
		p, h := w.peers[0], Hash{1}
		ask := func(from PeerID, size int64) Reply {
			until := w.now.Add(w.cfg.Life)
			if from == "liar" && !c.here { // for longer it would be on the maker's account
				until = w.now.Add(w.cfg.Life / 2)
			}
			r, _, o := p.core.Asked(w.now, from, from, Deposit{h, size, until})
			w.carryOut(p, o)
			return r
		}
		if c.here {
			w.peers[1].disk[h] = size
		}
		ask("liar", c.said)
		if c.ticked {
			w.run(time.Minute)
			if r := ask("liar", c.said); r != Refused {
				t.Errorf("the liar is answered %d when its size has been found to be wrong", r)
			}
		}
		if r := ask("maker", size); r == Refused || !c.here && p.took["maker"] > 0 {
			t.Errorf("%s: the maker is answered %d, and has %d bytes", name, r, p.took["maker"])
		}
		w.peers[1].disk[h] = size
		for range 3 {
			ask("liar", c.said)
			ask("maker", size)
		}
		if r := ask("liar", c.said); r != Refused {
			t.Errorf("%s: the liar is answered %d", name, r)
		}
		if r := ask("maker", size); r != Kept || p.disk[h] != size || p.written[h].Giver != "maker" ||
			p.took["maker"] != size || p.took["liar"] != 0 {
			t.Errorf("%s: the maker is answered %d, and has %d bytes, the liar %d", name, r, p.took["maker"],
				p.took["liar"])
		}
	}
}
