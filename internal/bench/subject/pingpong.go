package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"

	"github.com/satin-peer/satin/internal/engine"
)

// pingpong sends datagrams from one goroutine to another and back over the loopback interface, at random moments a
// millisecond or so apart, and gives the round trips' quantiles. CONTENDER says what else the process does:
//
//	busy   all workers of a default pool run a recursion (satin.Config{}: nothing set)
//	idle   nothing
func pingpong(words []string) (ask.Answer, error) {
	if len(words) != 2 {
		return nil, fmt.Errorf("want CONTENDER and COUNT, got %d words", len(words))
	}
	count, err := strconv.Atoi(words[1])
	if err != nil || count < 1 {
		return nil, fmt.Errorf("COUNT is %q", words[1])
	}
	switch words[0] {
	case "idle":
	case "busy":
		p, err := engine.NewPool(engine.Config{})
		if err != nil {
			return nil, err
		}
		stop := keepBusy(p, p.Workers())
		defer p.Close()
		defer stop()
	default:
		return nil, fmt.Errorf("no contender %q", words[0])
	}
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	go echo(server)
	client, err := net.DialUDP("udp4", nil, server.LocalAddr().(*net.UDPAddr))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return ask.Quantiles(roundTrips(client, count)), nil
}

func echo(server *net.UDPConn) {
	packet := make([]byte, 256)
	for {
		n, from, err := server.ReadFromUDPAddrPort(packet)
		if err != nil {
			return // closed
		}
		if _, err := server.WriteToUDPAddrPort(packet[:n], from); err != nil {
			return
		}
	}
}

// roundTrips measures count of them. A packet that the kernel loses counts as the second that it was waited for.
func roundTrips(client *net.UDPConn, count int) []time.Duration {
	const patience = time.Second
	trips := make([]time.Duration, 0, count)
	packet := make([]byte, 64)
	for range count {
		time.Sleep(200*time.Microsecond + rand.N(1600*time.Microsecond))
		sent := time.Now()
		_ = client.SetReadDeadline(sent.Add(patience))
		if _, err := client.Write(packet); err != nil {
			trips = append(trips, patience)
			continue
		}
		if _, err := client.Read(packet); err != nil {
			trips = append(trips, patience)
			continue
		}
		trips = append(trips, time.Since(sent))
	}
	return trips
}
