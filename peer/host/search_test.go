package host

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
)

// A member's answer to a search, or its question, is no longer than a correct one may be: libp2p would take 4 MiB, on
// each of 64 streams of a member, and make some eighty times as much of a list of nothing.
func TestSearchReadsNoLongAnswers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	all := searchers(ctx, t, 2)
	h, liar := all[0], all[1]
	list := binary.AppendUvarint(nil, 3<<20)
	for range 3 << 19 {
		list = append(list, 8<<3|2, 0) // a peer that is closer, of which nothing is said
	}
	answered := make(chan error, 1)
	liar.inner.SetStreamHandler(searchProtocol, func(s network.Stream) {
		_, err := s.Read(make([]byte, 1))
		if err == nil {
			_, err = s.Write(list)
		}
		answered <- err
	})
	for _, c := range liar.inner.Network().ConnsToPeer(h.id) {
		for _, s := range c.GetStreams() {
			if s.Protocol() == searchProtocol {
				_ = s.Reset()
			}
		}
	}
	go func() { _ = h.search.forPeer(ctx, mustID(1)) }()
	if err := <-answered; err == nil {
		t.Error("its answer is read")
	}
	s, err := liar.inner.NewStream(ctx, h.id, searchProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(list); err == nil {
		t.Error("its question is read")
	}
}
