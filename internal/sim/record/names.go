package record

import (
	"bytes"
	"crypto/sha256"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
)

// namer names what jobs share, so that arguments have the length that they have in a swarm. Nobody is told of it.
type namer struct{ *wire.Codec }

type named engine.Name

func (n named) Name() engine.Name { return engine.Name(n) }

func (named) Tell(bool, func() ([]byte, error)) error { return nil }

func (named) Drop() {}

// Name is a hash of all that a version is.
func (namer) Name(v engine.Version) engine.Named {
	parts := [][]byte{{byte(v.Kind)}, []byte(v.Registered), v.Parent[:], v.Write, v.State}
	h, sum := sha256.New(), sha256.Sum256(nil)
	for i, p := range parts {
		if i == 0 || !bytes.Equal(p, parts[i-1]) { // what replaces all is hashed once, as in a swarm
			sum = sha256.Sum256(p)
		}
		h.Write(sum[:])
	}
	return named(h.Sum(nil))
}

func (namer) Want(engine.Name) {}

func (namer) Offered(engine.Name) {}
