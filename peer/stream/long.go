package stream

import "github.com/satin-peer/satin/steal"

// longBody is the part of a message that may be long: the outcome of a result, relayed or not. nil if there is none.
func longBody(m *steal.Message) []byte {
	if m.Relayed != nil {
		m = m.Relayed
	}
	if m.Result == nil {
		return nil
	}
	return m.Result.Outcome
}

// isResult says whether m carries a result, relayed or not.
func isResult(m *steal.Message) bool {
	return m.Result != nil || m.Relayed != nil && m.Relayed.Result != nil
}

// withBody is m with another outcome; m stays as it is. It must carry a result.
func withBody(m *steal.Message, body []byte) *steal.Message {
	outer := *m
	if m.Relayed != nil {
		outer.Relayed = withBody(m.Relayed, body)
		return &outer
	}
	r := *m.Result
	r.Outcome = body
	outer.Result = &r
	return &outer
}

// A transferKey says which long results are the same: the core sends a result again until it is acknowledged, and one that is on its
// way already need not go twice.
type transferKey struct {
	run      steal.RunID
	from, to steal.Address
	handle   steal.Handle
}

func keyOf(m *steal.Message) transferKey {
	if m.Relayed != nil {
		m = m.Relayed
	}
	return transferKey{m.Run, m.From, m.To, m.Result.Handle}
}
