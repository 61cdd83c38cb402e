package runs

import (
	"slices"
	"time"
)

// fetches are the manifests that are being fetched. Whoever was asked may be slow on purpose, so after a while a second
// one is asked for the same manifest, and no peer has many of these places.
type fetches struct {
	most, each int
	second     time.Duration
	of         map[RunID][]fetch
}

type fetch struct {
	from  PeerID
	since time.Time
}

func newFetches(c *Config) *fetches {
	return &fetches{most: c.Fetches, each: c.FetchesFrom, second: c.SecondAfter, of: map[RunID][]fetch{}}
}

// begin says whether a peer is to be asked for a manifest, and then takes it for asked.
func (f *fetches) begin(run RunID, from PeerID, now time.Time) bool {
	all, same := 0, 0
	for _, list := range f.of {
		all += len(list)
		for _, x := range list {
			if x.from == from {
				same++
			}
		}
	}
	list := f.of[run]
	if all >= f.most || same >= f.each || len(list) >= 2 ||
		slices.ContainsFunc(list, func(x fetch) bool { return x.from == from }) ||
		len(list) == 1 && now.Sub(list[0].since) < f.second {
		return false // it will be announced again
	}
	f.of[run] = append(list, fetch{from, now})
	return true
}

// done ends one.
func (f *fetches) done(run RunID, from PeerID) {
	list := slices.DeleteFunc(f.of[run], func(x fetch) bool { return x.from == from })
	if f.of[run] = list; len(list) == 0 {
		delete(f.of, run)
	}
}
