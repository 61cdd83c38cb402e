package sharedobj

import (
	"slices"
	"time"
)

// Early is what strangers have asked. Two peers do not become members of each other's at once: whoever asks first is
// answered as soon as it is one here, since it would wait until its question is too old, and then a round longer.
type early []earlyAsk

type earlyAsk struct {
	ask *Message
	at  time.Duration
}

// maxEarly bounds the questions, and maxEarlyEach those of one stranger.
const (
	maxEarly     = 64
	maxEarlyEach = 4
)

// note keeps a stranger's message, if it is a question and there is room for it, and forgets those older than since.
func (e *early) note(now, since time.Duration, m *Message) {
	*e = slices.DeleteFunc(*e, func(x earlyAsk) bool { return x.at <= since })
	each := 0
	for _, x := range *e {
		if x.ask.From == m.From {
			each++
		}
	}
	if m.Ask != nil && len(*e) < maxEarly && each < maxEarlyEach {
		*e = append(*e, earlyAsk{m, now})
	}
}

// admitted gives the questions of those who are members now, and forgets them with all that are older than since.
func (e *early) admitted(since time.Duration, member func(PeerID) bool) (asks []*Message) {
	*e = slices.DeleteFunc(*e, func(x earlyAsk) bool {
		is := member(x.ask.From)
		if is && x.at > since {
			asks = append(asks, x.ask)
		}
		return is || x.at <= since
	})
	return asks
}
