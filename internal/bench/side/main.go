// Side is one of two processes between which the bench measures steals. It answers the bench's questions
// (package ask):
//
//	serve  KIND                      be a victim; the answer says at which address. KIND is bare, tcp or quic
//	trips  KIND  ADDRESS  COUNT  PAUSE   steal so often, with a pause of about so many microseconds before each
//	                                 (0: none); KIND may also be plain-tcp or plain-quic: a libp2p stream
//	                                 without our protocol
//	slow   DIR  CLUSTER              from now on KIND may be slow: TCP over the emulated network in DIR
//	behind  ADDRESS  SIZE            steal over it while a result of so many bytes comes from there;
//	                                 0: while nothing comes
//	busy   apart|here|off            have all cores run a recursion meanwhile: in a process of jobs, or in this one
//	cpu                              the CPU time that this process has used
//
// A steal is a request of 64 bytes and a reply of a kilobyte; bare is the same over a TCP connection and
// nothing else.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/clock"
	"github.com/satin-peer/satin/internal/compute/child"
)

// A side is a process's state between questions.
type side struct {
	bare    *bareSide
	peers   map[string]*peerSide // by kind
	resting func()               // ends the work in the background; nil: there is none
}

// computes is the argument with which this program is the process of jobs of another one.
const computes = "compute"

func main() {
	if len(os.Args) > 1 && os.Args[1] == computes {
		os.Exit(child.Main(os.Stdin, os.Stdout))
	}
	s := &side{peers: map[string]*peerSide{}}
	err := ask.Serve(map[string]func([]string) (ask.Answer, error){
		"serve":  s.serve,
		"trips":  s.trips,
		"slow":   s.slow,
		"behind": s.behind,
		"busy":   s.busy,
		"cpu":    s.cpu,
	})
	if err != nil {
		log.Fatal(err)
	}
}

func (s *side) serve(words []string) (ask.Answer, error) {
	if len(words) != 1 {
		return nil, fmt.Errorf("want KIND")
	}
	var address string
	var err error
	if words[0] == "bare" {
		if s.bare == nil {
			s.bare, err = listenBare()
		}
		if err == nil {
			address = s.bare.address()
		}
	} else {
		var p *peerSide
		if p, err = s.peer(words[0]); err == nil {
			address = p.address()
		}
	}
	if err != nil {
		return nil, err
	}
	return ask.Answer{"address": address}, nil
}

func (s *side) peer(kind string) (*peerSide, error) {
	if p := s.peers[kind]; p != nil {
		return p, nil
	}
	p, err := newPeerSide(kind, nil)
	if err == nil {
		s.peers[kind] = p
	}
	return p, err
}

func (s *side) trips(words []string) (ask.Answer, error) {
	if len(words) != 4 {
		return nil, fmt.Errorf("want KIND, ADDRESS, COUNT and PAUSE")
	}
	count, err := strconv.Atoi(words[2])
	if err != nil || count < 1 {
		return nil, fmt.Errorf("COUNT is %q", words[2])
	}
	micros, err := strconv.Atoi(words[3])
	if err != nil || micros < 0 {
		return nil, fmt.Errorf("PAUSE is %q", words[3])
	}
	pause := time.Duration(micros) * time.Microsecond
	var trips []time.Duration
	before := clock.Process()
	if kind, plain := strings.CutPrefix(words[0], "plain-"); words[0] == "bare" {
		trips, err = bareTrips(words[1], count, pause)
	} else {
		var p *peerSide
		if p, err = s.peer(kind); err == nil && plain {
			trips, err = p.plainTrips(words[1], count, pause)
		} else if err == nil {
			trips, err = p.trips(words[1], count, pause)
		}
	}
	if err != nil {
		return nil, err
	}
	a := ask.Quantiles(trips)
	a["cpu"] = fmt.Sprint((clock.Process() - before).Nanoseconds())
	return a, nil
}

func (s *side) cpu(words []string) (ask.Answer, error) {
	return ask.Of("cpu", clock.Process().Nanoseconds()), nil
}
