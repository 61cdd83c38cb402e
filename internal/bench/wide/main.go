// Wide is one of the processes with which the bench runs the papers' applications over an emulated wide-area
// network. It is a peer with one worker, whose jobs sleep for what they would cost, so that many processes
// share a machine's few cores. It answers the bench's questions (package ask):
//
//	open  DIR  CLUSTER  POLICY  EMULATION  CHECKPOINT  ADAPT   become a peer; the answer says at which address.
//	                       EMULATION is a directory, or - for none; CHECKPOINT and ADAPT say every how many
//	                       seconds, 0 for never. A peer of runs that adapt computes a little in each job
//	slow  SPEED            jobs take longer from now on; 1 is full speed
//	join  ADDRESS          enter the swarm of the peer there
//	count                  how many members this peer knows, itself counted, and how many clusters
//	run   TREE  RECOVERY  ADAPT   own a run of this tree (package model), which adapts so, with at least so many
//	                       peers after a colon; the answer has its result and how long it took
//	offers WATCHERS OFFERS own a run that makes offers, and of watchers (shared.go)
//	abort                  own a run that aborts a job behind a long leaf
//	large BYTES            own a run that shares a constant with all others (shared.go)
//	leave                  leave the swarm
//	part                   this peer's part in the last run, and what was decided last of who takes part
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/steal"
)

// patience bounds how long a run and an attempt to join may take.
const patience = 3 * time.Minute

// noNetwork is what to say instead of the directory of an emulated network.
const noNetwork = "-"

// burnt is the percent of a job's cost that processes of runs that adapt compute.
const burnt = 2

// leavePatience is that of the daemon.
const leavePatience = 5 * time.Second

// A process is one peer.
type process struct{ peer *peer.Peer }

func main() {
	p := &process{}
	err := ask.Serve(map[string]func([]string) (ask.Answer, error){
		"open":   p.open,
		"join":   p.join,
		"count":  p.count,
		"run":    p.run,
		"offers": p.offers,
		"abort":  p.abort,
		"large":  p.large,
		"leave":  p.leave,
		"slow":   slow,
		"part":   p.part,
	})
	if p.peer != nil {
		p.peer.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
}

func (p *process) open(words []string) (ask.Answer, error) {
	if len(words) != 6 || p.peer != nil {
		return nil, fmt.Errorf("want DIR, CLUSTER, POLICY, EMULATION, CHECKPOINT and ADAPT, once")
	}
	every, err := strconv.ParseFloat(words[4], 64)
	adapts, fault := strconv.ParseFloat(words[5], 64)
	if err := errors.Join(err, fault); err != nil {
		return nil, err
	}
	network, core := words[3], paper.Core() // as in the simulator's tables
	switch {
	case adapts > 0:
		core = model.StepsCore()
		burns.Store(burnt)
	case network == noNetwork:
		network, core = "", steal.LAN()
	}
	level := slog.LevelWarn
	if os.Getenv("WIDE_DEBUG") != "" {
		level = slog.LevelDebug
	}
	p.peer, err = peer.Open(context.Background(), peer.Config{
		Host: host.Config{
			StateDir: words[0], Swarm: "wide", Trust: host.TrustOpen, Listen: []string{"/ip4/127.0.0.1/tcp/0"},
		},
		Workers: 1, FullPriority: true, Cluster: words[1], Policy: words[2], Emulate: network, Steal: core,
		AdaptEvery:    time.Duration(adapts * float64(time.Second)),
		LeavePatience: leavePatience, Checkpoint: time.Duration(every * float64(time.Second)),
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	}, []peer.Application{{Name: "wide"}})
	if err != nil {
		return nil, err
	}
	s, err := p.peer.Status(context.Background())
	if err != nil || len(s.Addresses) == 0 {
		return nil, fmt.Errorf("no address: %w", err)
	}
	return ask.Answer{"address": s.Addresses[0]}, nil
}

func (p *process) join(words []string) (ask.Answer, error) {
	if len(words) != 1 || p.peer == nil {
		return nil, fmt.Errorf("want ADDRESS, of an open peer")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := p.peer.Join(ctx, words[0])
	return ask.Answer{}, err
}

func (p *process) count([]string) (ask.Answer, error) {
	if p.peer == nil {
		return nil, fmt.Errorf("not open")
	}
	s, err := p.peer.Status(context.Background())
	if err != nil {
		return nil, err
	}
	members := 0
	for _, c := range s.Clusters {
		members += c.Peers
	}
	return ask.Of("members", members, "clusters", len(s.Clusters), "connected", s.Peers, "runs", len(s.Runs)), nil
}

func (p *process) run(words []string) (ask.Answer, error) {
	if len(words) != 3 || p.peer == nil {
		return nil, fmt.Errorf("want TREE, RECOVERY and ADAPT, of an open peer")
	}
	tree, err := strconv.ParseUint(words[0], 10, 16)
	if err != nil {
		return nil, err
	}
	arg, err := wire.Value().Encode(uint16(tree))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	mode, least, _ := strings.Cut(words[2], ":")
	sub := control.Submission{App: "wide", Function: "wide.root", Argument: arg, Title: "tree " + words[0],
		Recovery: words[1], Adapt: mode}
	if least != "" {
		if sub.MinPeers, err = strconv.Atoi(least); err != nil {
			return nil, err
		}
	}
	r, err := p.peer.Submit(ctx, sub)
	if err != nil {
		return nil, err
	}
	o, err := p.peer.Wait(ctx, r.Run, nil)
	if err != nil {
		return nil, err
	}
	if o.State != control.RunDone {
		return nil, fmt.Errorf("the run is %s: %s", o.State, o.Failure)
	}
	var result Outcome
	if err := wire.Value().Decode(o.Result, &result); err != nil {
		return nil, err
	}
	return ask.Of("sum", result.Sum, "leaves", result.Leaves, "took", result.Took,
		"whole", int64(o.Elapsed*float64(time.Second))), nil
}

// part tells of the newest run that this peer knows.
func (p *process) part([]string) (ask.Answer, error) {
	if p.peer == nil {
		return nil, fmt.Errorf("not open")
	}
	list, err := p.peer.Runs(context.Background())
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0].Stats == nil {
		return nil, fmt.Errorf("there is no run with figures")
	}
	r, wanted, decided := list[0], 0, ""
	if r.Roster != nil {
		wanted = r.Roster.Wanted
		for _, e := range r.Roster.Log {
			decided += e.Text + "; "
		}
	}
	return ask.Of("state", r.State, "elapsed", r.Elapsed, "wonWide", r.Stats.WideStealSuccesses,
		"restarted", r.Stats.RestartedJobs, "adopted", r.Stats.OrphansAdopted, "reused", r.Stats.OrphansReused,
		"news", r.Stats.News, "wanted", wanted, "decided", decided), nil
}

// slow changes how fast jobs are.
func slow(words []string) (ask.Answer, error) {
	if len(words) != 1 {
		return nil, fmt.Errorf("want SPEED")
	}
	x, err := strconv.ParseFloat(words[0], 64)
	if err != nil || !(x > 0 && x <= 1) {
		return nil, fmt.Errorf("speed %q: above 0 to 1", words[0])
	}
	lost.Store(int64(1000 * (1 - x)))
	return ask.Answer{}, nil
}

func (p *process) leave([]string) (ask.Answer, error) {
	if p.peer == nil {
		return nil, fmt.Errorf("not open")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.peer.Leave(ctx); err != nil {
		return nil, err
	}
	return ask.Answer{}, nil
}
