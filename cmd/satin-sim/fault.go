package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// faultFlags is the flag --fault, given any number of times.
type faultFlags []sim.Fault

func (f *faultFlags) String() string { return fmt.Sprint([]sim.Fault(*f)) }

// Set parses KIND@TIME[+DURATION][,KEY=VALUE…]. Peers count from 0, clusters from 1, as in traces and scenario files.
func (f *faultFlags) Set(text string) error {
	words := strings.Split(text, ",")
	name, when, ok := strings.Cut(words[0], "@")
	if !ok {
		return fmt.Errorf("%q does not say when: KIND@TIME", words[0])
	}
	kind, ok := sim.FaultNamed(name)
	if !ok {
		return fmt.Errorf("%q is not a kind of fault; satin-sim list names them", name)
	}
	fault := sim.Fault{Kind: kind, Other: 1}
	at, duration, lasting := strings.Cut(when, "+")
	var err error
	if fault.At, err = time.ParseDuration(at); err != nil {
		return fmt.Errorf("time %q: want something like 30s", at)
	}
	if lasting {
		if fault.For, err = time.ParseDuration(duration); err != nil {
			return fmt.Errorf("duration %q: want something like 10s", duration)
		}
	}
	for _, w := range words[1:] {
		if err := setField(&fault, w); err != nil {
			return err
		}
	}
	*f = append(*f, fault)
	return nil
}

func setField(fault *sim.Fault, word string) error {
	key, value, _ := strings.Cut(word, "=")
	if key == "amount" {
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("amount %q is not a number", value)
		}
		fault.Amount = x
		return nil
	}
	var numbers []int
	for _, v := range strings.Split(value, "-") {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("%s %q is not a whole number", key, v)
		}
		numbers = append(numbers, n)
	}
	switch {
	case key == "peers":
		fault.Peers = numbers
	case len(numbers) > 1:
		return fmt.Errorf("%s takes one number", key)
	case key == "peer":
		fault.Peer = numbers[0]
	case key == "cluster":
		fault.Cluster = numbers[0] - 1
	case key == "other":
		fault.Other = numbers[0] - 1
	default:
		return fmt.Errorf("%q is none of peer, peers, cluster, other, amount", key)
	}
	return nil
}
