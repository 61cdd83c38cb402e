package satin

import "github.com/satin-peer/satin/internal/engine"

// What the engine around a module asks of its methods. There values are bytes, and no bytes are the least value of a
// lattice.

// MoveBytes is engine.MovesBytes'.
func (m *move[S, W]) MoveBytes(c engine.Codec, old, write []byte) ([]byte, error) {
	var s S
	var w W
	if err := c.Decode(old, &s); err != nil {
		return nil, err
	}
	if err := c.Decode(write, &w); err != nil {
		return nil, err
	}
	next := m.fn(s, w)
	return c.Encode(&next)
}

// JoinBytes is engine.JoinsBytes', as is CheckBytes.
func (l *lattice[K, V]) JoinBytes(c engine.Codec, a, b []byte) ([]byte, error) {
	var v, w V
	if err := c.Decode(a, &v); err != nil {
		return nil, err
	}
	if err := c.Decode(b, &w); err != nil {
		return nil, err
	}
	joined := l.join(v, w)
	return c.Encode(&joined)
}

// CheckBytes says what is wrong with an offer to the lattice of a seed.
func (l *lattice[K, V]) CheckBytes(c engine.Codec, about, offer []byte) error {
	var s seed[K, V]
	var v V
	if err := c.Decode(about, &s); err != nil {
		return err
	}
	if err := c.Decode(offer, &v); err != nil {
		return err
	}
	if l.check == nil {
		return engine.ErrUnchecked
	}
	return l.check(s.About, v)
}
