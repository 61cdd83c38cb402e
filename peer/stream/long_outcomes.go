package stream

import (
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// What may be long in a message, and goes over the bulk stream then: the outcome of a result, relayed or not,
// and the only outcome of a HandOver. Anything else fits a control frame.

// longBody is that part of a message; nil if there is none.
func longBody(m *steal.Message) []byte {
	switch m = inner(m); {
	case m.Result != nil:
		return m.Result.Outcome
	case handsOne(m):
		return m.HandOver.Parts[0].Outcome
	}
	return nil
}

// carriesOutcome says whether m has such a part.
func carriesOutcome(m *steal.Message) bool {
	m = inner(m)
	return m.Result != nil || handsOne(m)
}

func inner(m *steal.Message) *steal.Message {
	if m.Relayed != nil {
		return m.Relayed
	}
	return m
}

func handsOne(m *steal.Message) bool { return m.HandOver != nil && len(m.HandOver.Parts) == 1 }

// withBody is m with another outcome; m stays as it is. It must carry one.
func withBody(m *steal.Message, body []byte) *steal.Message {
	outer := *m
	switch {
	case m.Relayed != nil:
		outer.Relayed = withBody(m.Relayed, body)
	case m.Result != nil:
		r := *m.Result
		r.Outcome = body
		outer.Result = &r
	default:
		part := m.HandOver.Parts[0]
		part.Outcome = body
		outer.HandOver = &steal.HandOver{ID: m.HandOver.ID, Parts: []steal.Partial{part}, Copy: m.HandOver.Copy}
	}
	return &outer
}

// A transferKey says which long messages are the same: the core sends a result again until it is
// acknowledged, and one that is on its way already need not go twice.
type transferKey struct {
	run      job.RunID
	from, to steal.Address
	handle   steal.Handle // of a result
	handOver uint64       // the number of a HandOver
}

func keyOf(m *steal.Message) transferKey {
	m = inner(m)
	k := transferKey{run: m.Run, from: m.From, to: m.To}
	if m.Result != nil {
		k.handle = m.Result.Handle
	} else {
		k.handOver = m.HandOver.ID
	}
	return k
}
