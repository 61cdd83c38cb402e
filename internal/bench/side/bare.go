package main

import (
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// Sizes of a steal, in bytes.
const (
	requestSize = 64
	replySize   = 1000
)

// A bareSide answers over TCP and does nothing else.
type bareSide struct{ listener net.Listener }

func listenBare() (*bareSide, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &bareSide{l}
	go b.serve()
	return b, nil
}

func (b *bareSide) address() string { return b.listener.Addr().String() }

func (b *bareSide) serve() {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			echo(c)
		}()
	}
}

func bareTrips(address string, count int, pause time.Duration) ([]time.Duration, error) {
	c, err := net.Dial("tcp4", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return tripsOver(c, count, pause)
}

// echo answers requests until there are no more.
func echo(c io.ReadWriter) {
	request, reply := make([]byte, requestSize), make([]byte, replySize)
	for {
		if _, err := io.ReadFull(c, request); err != nil {
			return
		}
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// tripsOver measures round trips to whoever echoes.
func tripsOver(c io.ReadWriter, count int, pause time.Duration) ([]time.Duration, error) {
	request, reply := make([]byte, requestSize), make([]byte, replySize)
	trips := make([]time.Duration, 0, count)
	for range count {
		rest(pause)
		sent := time.Now()
		if _, err := c.Write(request); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(c, reply); err != nil {
			return nil, err
		}
		trips = append(trips, time.Since(sent))
	}
	return trips, nil
}

// rest sleeps for about so long; not at all for 0.
func rest(pause time.Duration) {
	if pause > 0 {
		time.Sleep(pause/2 + rand.N(pause))
	}
}
