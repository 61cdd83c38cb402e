package main

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// plainProtocol is a libp2p stream on which requests and replies are bytes and nothing else: what libp2p
// itself costs.
const plainProtocol = "/satin/bench/plain/1"

// answerPlain is the victim's end of one.
func answerPlain(s network.Stream) {
	defer s.Close()
	echo(s)
}

// plainTrips measures round trips over such a stream.
func (p *peerSide) plainTrips(address string, count int, pause time.Duration) ([]time.Duration, error) {
	info, err := peer.AddrInfoFromString(address)
	if err != nil {
		return nil, err
	}
	if err := p.host.Connect(context.Background(), *info); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	s, err := p.host.NewStream(context.Background(), info.ID, plainProtocol)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return tripsOver(s, count, pause)
}
