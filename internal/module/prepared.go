package module

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/wasm"
	"github.com/satin-peer/satin/internal/wire"
)

// prepared checks and meters a module, or takes what that gave from the cache: as much work as to load the compiled
// code. Whoever can write there can write compiled code, too, so it is trusted as much; what is damaged is made anew.
func (h *Host) prepared(bin []byte) (*wasm.Prepared, error) {
	o := wasm.Options{Limits: h.cfg.Limits, Allowed: allowed}
	if h.cfg.Cache == "" {
		return wasm.Prepare(bin, o)
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%d %+v %x", wasm.Version, o.Limits, sha256.Sum256(bin)))
	at := filepath.Join(h.cfg.Cache, fmt.Sprintf("prepared-%x", key[:16]))
	b, err := os.ReadFile(at)
	const sum = sha256.Size
	if err == nil && len(b) > sum && sha256.Sum256(b[sum:]) == [sum]byte(b[:sum]) {
		p := new(wasm.Prepared)
		if wire.Local().Decode(b[sum:], p) == nil {
			return p, nil
		}
	}
	p, err := wasm.Prepare(bin, o)
	if err == nil {
		keep(at, p)
	}
	return p, err
}

// keep writes a prepared module to the cache; if it cannot the next process prepares it again.
func keep(at string, p *wasm.Prepared) {
	b, err := wire.Local().Encode(p)
	if err != nil {
		return
	}
	sum := sha256.Sum256(b)
	_ = durable.Write(at, 0o600, false, durable.Bytes(append(sum[:], b...)))
}
