package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"slices"
)

// A packer compresses modules, one at a time, and keeps the last few: many pages ask for the same. Nobody has the turn
// while what came of it is written, which takes as long as the other side likes.
type packer struct {
	turn chan struct{} // holds one; whoever has put it there may use what is below
	kept []packed      // used last, first
}

type packed struct {
	hash  [32]byte
	bytes []byte
}

const maxPacked = 4

func (p *packer) pack(ctx context.Context, hash [32]byte, bin []byte) ([]byte, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var k packed
	if i := slices.IndexFunc(p.kept, func(k packed) bool { return k.hash == hash }); i >= 0 {
		k = p.kept[i]
		p.kept = slices.Delete(p.kept, i, i+1)
	} else {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is, and memory takes all
		_, _ = z.Write(bin)
		_ = z.Close()
		k = packed{hash, b.Bytes()}
	}
	p.kept = slices.Insert(p.kept[:min(len(p.kept), maxPacked-1)], 0, k)
	return k.bytes, nil
}
