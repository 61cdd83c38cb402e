package main

import (
	"context"
	"fmt"
	"io"
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
	request, reply := make([]byte, requestSize), make([]byte, replySize)
	for {
		if _, err := io.ReadFull(s, request); err != nil {
			return
		}
		if _, err := s.Write(reply); err != nil {
			return
		}
	}
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
	request, reply := make([]byte, requestSize), make([]byte, replySize)
	trips := make([]time.Duration, 0, count)
	for range count {
		rest(pause)
		sent := time.Now()
		if _, err := s.Write(request); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(s, reply); err != nil {
			return nil, err
		}
		trips = append(trips, time.Since(sent))
	}
	return trips, nil
}
