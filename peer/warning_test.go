package peer

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A warned is a member that hears of liars, on lines that lose some of it, and tries what it hears.
type warned struct {
	court
	id     peer.ID
	rng    *rand.Rand
	loss   float64
	slow   time.Duration    // what a trial takes at most
	cut    [2]time.Duration // it is not connected in between
	begun  time.Time
	out    map[int]time.Duration // when a liar was out here
	failed map[int]int           // tries to tell it that did not succeed
	tries  map[int]time.Duration // and what they took, with the time between them
	lock   sync.Mutex
}

func (w *warned) connected() bool {
	t := time.Since(w.begun)
	return t < w.cut[0] || t >= w.cut[1]
}

// hears takes in that somebody has lied, as jury.hear does.
func (w *warned) hears(liar int) bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	if _, out := w.out[liar]; out {
		return true
	}
	begin, heard := w.court.hear(time.Now(), chargeBy("finder", liar))
	if begin {
		go w.sit()
	}
	return heard
}

func (w *warned) sit() {
	w.lock.Lock()
	defer w.lock.Unlock()
	for c := w.docket.next(); c != nil; c = w.docket.next() {
		took := time.Duration(w.rng.Int64N(int64(w.slow)))
		w.lock.Unlock()
		time.Sleep(took)
		w.lock.Lock()
		w.docket.tried(c, took, true, true)
		w.out[int(c.hash[7])] = time.Since(w.begun)
	}
	w.sits = false
}

// told is one try to tell it: it is heard, or refused, or waited for in vain, and then may have been heard.
func (w *warned) told(liar int) bool {
	began, ok := time.Now(), !w.connected()
	if ok {
		return true
	}
	w.lock.Lock()
	lost, hangs, heard := w.rng.Float64() < w.loss, w.rng.IntN(2) == 0, w.rng.IntN(2) == 0
	late := time.Duration(1+w.rng.IntN(200)) * time.Millisecond
	w.lock.Unlock()
	if lost && hangs {
		late = exchangeTime
	}
	time.Sleep(late)
	if !lost || hangs && heard && w.connected() {
		ok = w.hears(liar) && !lost
	}
	if !ok {
		w.lock.Lock()
		w.tries[liar] += time.Since(began) + meetAgain<<w.failed[liar]
		w.failed[liar]++
		w.lock.Unlock()
	}
	return ok
}

// gossiped is the same by gossip, which nobody knows to be lost.
func (w *warned) gossiped(liar int) {
	w.lock.Lock()
	lost := w.rng.Float64() < w.loss
	w.lock.Unlock()
	if !lost && w.connected() {
		w.hears(liar)
	}
}

func (w *warned) isOut(liar int) (at time.Duration, ok bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	at, ok = w.out[liar]
	return at, ok
}

// warnedMembers are eight, some of whom are cut off for a while and some on lines that lose a part of all.
func warnedMembers(seed uint64, rng *rand.Rand) (list []*warned) {
	for i := range 8 {
		w := &warned{id: peer.ID(fmt.Sprint(i)), rng: rand.New(rand.NewPCG(seed, uint64(i+10))), begun: time.Now(),
			loss: []float64{0, 0, rng.Float64() / 2}[rng.IntN(3)], slow: 2 * time.Second,
			out: map[int]time.Duration{}, failed: map[int]int{}, tries: map[int]time.Duration{}}
		if rng.IntN(4) == 0 {
			w.cut[0] = time.Duration(rng.Int64N(int64(20 * time.Second)))
			w.cut[1] = w.cut[0] + time.Duration(rng.Int64N(int64(10*time.Minute)))
		}
		list = append(list, w)
	}
	return list
}

// A liar is out within 3 s of its proof for every member that is connected and loses nothing of what it is told, as
// long as its trials take no longer than two of those seconds; each try that is lost delays that by its own time and
// the pause after it, and nothing that happens to another member does. Whoever was cut off, or never told with success,
// hears of it later: it is said again to everybody. So it is however many are found out at once.
func TestLiarsAreOutSoon(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) { liarsAreOutSoon(t, seed) })
	}
}

func liarsAreOutSoon(t *testing.T, seed uint64) {
	const tries, step = 6, 100 * time.Millisecond
	rng := rand.New(rand.NewPCG(seed, 3))
	members := warnedMembers(seed, rng)
	found := make([]time.Duration, 1+rng.IntN(6))
	for i := range found {
		if i > 0 {
			found[i] = found[i-1] + time.Duration(rng.IntN(2)*rng.IntN(50))*step
		}
	}
	for _, w := range members {
		w.slow /= time.Duration(len(found))
	}
	var telling sync.WaitGroup
	again := repeats{}
	tells := func(liar int) {
		again.add(time.Now(), []byte{byte(liar)})
		of := map[peer.ID]*warned{}
		for _, w := range members {
			if w.gossiped(liar); w.connected() {
				of[w.id] = w
			}
		}
		telling.Go(func() {
			tellEach(context.Background(), slices.Sorted(maps.Keys(of)), func(id peer.ID) bool {
				return of[id].told(liar)
			})
		})
	}
	everybody := func() bool {
		return !slices.ContainsFunc(members, func(w *warned) bool {
			w.lock.Lock()
			defer w.lock.Unlock()
			return len(w.out) < len(found)
		})
	}
	next := 0
	for d := time.Duration(0); d < 24*time.Hour && !(next == len(found) && everybody()); d += step {
		for ; next < len(found) && found[next] <= d; next++ {
			tells(next)
		}
		if b := again.due(time.Now()); b != nil {
			for _, w := range members {
				w.gossiped(int(b[0]))
			}
		}
		time.Sleep(step)
	}
	telling.Wait()
	for _, w := range members {
		for liar, when := range found {
			switch out, ok := w.isOut(liar); {
			case !ok:
				t.Fatalf("seed %d: liar %d of %d is in for %s, whom %d tries to tell it have failed", seed, liar,
					len(found), w.id, w.failed[liar])
			case w.cut[1] == 0 && w.failed[liar] < tries && out > when+3*time.Second+w.tries[liar]:
				t.Fatalf("seed %d: liar %d of %d is out for %s after %v, of which %v are %d tries that have failed",
					seed, liar, len(found), w.id, out-when, w.tries[liar], w.failed[liar])
			}
		}
	}
}
