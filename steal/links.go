package steal

import (
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// linkTable is what this peer has measured about the way to each cluster: of maxLinks at most. Policies steal from
// fewer (policy.Members.Around), but anybody may ask.
type linkTable struct {
	by   map[ClusterID]*policy.Link
	hand ClusterID // the last that made room
	// What most found last, for a policy asks again and again; valid until a rate or a size changes.
	best  struct{ rate, outcome float64 }
	but   ClusterID
	known bool
}

// Messages up to smallMessage bytes time the link's latency, larger ones its rate.
const smallMessage = 1 << 11

// smoothing is the weight of a new sample in the smoothed values: the last eight samples or so count.
const smoothing = 1.0 / 8

func (t *linkTable) of(id ClusterID) *policy.Link {
	l := t.by[id]
	if l == nil {
		if t.by == nil {
			t.by = make(map[ClusterID]*policy.Link)
		}
		if len(t.by) >= maxLinks {
			t.makeRoom()
		}
		l = &policy.Link{}
		t.by[id] = l
	}
	return l
}

const maxLinks = 256

// makeRoom forgets the next cluster by name after the one that went last.
func (t *linkTable) makeRoom() {
	names := slices.Sorted(maps.Keys(t.by))
	i, _ := slices.BinarySearch(names, t.hand+"\x00")
	t.hand = names[i%len(names)]
	delete(t.by, t.hand)
	t.known = false
}

// get is a copy for those who only look.
func (t *linkTable) get(id ClusterID) policy.Link {
	if l := t.by[id]; l != nil {
		return *l
	}
	return policy.Link{}
}

func (t *linkTable) prune(m *Members) {
	t.known = false
	maps.DeleteFunc(t.by, func(id ClusterID, _ *policy.Link) bool { return len(m.Cluster(id).Members) == 0 })
}

func (t *linkTable) lastSteal(id ClusterID) time.Duration { return t.get(id).LastSteal }

// stole learns from an answered steal request that took d without the victim's waiting.
func (t *linkTable) stole(id ClusterID, d time.Duration, bytes int) {
	l := t.of(id)
	l.LastSteal = max(d, 1)
	t.timed(l, d, bytes)
}

// timedOut learns from a request that was given up after d.
func (t *linkTable) timedOut(id ClusterID, d time.Duration) { t.of(id).LastSteal = max(d, 1) }

// ended counts whether a request brought jobs.
func (t *linkTable) ended(id ClusterID, won bool) {
	if l := t.of(id); won {
		l.Wins++
	} else {
		l.Fails++
	}
}

// resultAcked learns from a result of so many bytes whose acknowledgement took d.
func (t *linkTable) resultAcked(id ClusterID, d time.Duration, bytes int) {
	t.timed(t.of(id), d, bytes)
}

// overdue learns from a result of so many bytes that has not been acknowledged for d: if it is only slow, the rate is
// at most that. Sent again it could not be timed, so that nothing would be known of the slowest links.
func (t *linkTable) overdue(id ClusterID, d time.Duration, bytes int) {
	l := t.of(id)
	if over := d - l.RTT; bytes > smallMessage && over > 0 &&
		(l.BytesPerSecond == 0 || float64(bytes) < l.BytesPerSecond*over.Seconds()) {
		t.timed(l, d, bytes)
	}
}

// jobDone learns how long a job from the cluster took, and how large its outcome was.
func (t *linkTable) jobDone(id ClusterID, d time.Duration, bytes int) {
	l := t.of(id)
	l.JobTime = smoothed(l.JobTime, d)
	l.OutcomeBytes = smoothed(l.OutcomeBytes, float64(bytes))
	t.known = false
}

// timed splits what an exchange took into latency and rate: small messages are all latency, large ones are
// rate and the known latency.
func (t *linkTable) timed(l *policy.Link, d time.Duration, bytes int) {
	if bytes <= smallMessage {
		l.RTT = smoothed(l.RTT, max(d, 1))
		return
	}
	if rest := d - l.RTT; l.RTT > 0 && rest > 0 {
		l.BytesPerSecond = smoothed(l.BytesPerSecond, float64(bytes)/rest.Seconds())
		t.known = false
	}
}

// most returns the highest rate and the largest outcomes of all links but one.
func (t *linkTable) most(but ClusterID) (rate, outcome float64) {
	if t.known && t.but == but {
		return t.best.rate, t.best.outcome
	}
	for id, l := range t.by { // the order does not matter to a maximum
		if id != but {
			rate, outcome = max(rate, l.BytesPerSecond), max(outcome, l.OutcomeBytes)
		}
	}
	t.best.rate, t.best.outcome, t.but, t.known = rate, outcome, but, true
	return rate, outcome
}

// expected is how long bytes take to the cluster and an answer back; 0 if nothing is known.
func (t *linkTable) expected(id ClusterID, bytes int) time.Duration {
	l := t.get(id)
	return l.Expected(bytes)
}

// smoothed moves an average towards a sample; the first sample is the average.
func smoothed[T time.Duration | float64](avg, sample T) T {
	if avg == 0 {
		return sample
	}
	return avg + T(float64(sample-avg)*smoothing)
}
