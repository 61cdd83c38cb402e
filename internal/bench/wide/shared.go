package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
)

// Jobs that say how soon the others hear: of an offer, and of an abort. All processes are on one machine and read one
// clock. They are no pure functions, and are only for this.

func init() {
	satin.RegisterLattice[string]("wide.newest", newer, nil)
	satin.Register("wide.offers", offers)
	satin.Register("wide.watch", watch)
	satin.Register("wide.large", large)
	satin.Register("wide.reads", reads)
	satin.Register("wide.abort", abort)
	satin.Register("wide.between", between)
	satin.Register("wide.last", last)
	satin.Register("wide.nothing", nothing)
}

// Offer is the newest offer and when it was made, in ns.
type Offer struct {
	Number int
	At     int64
}

func newer(a, b Offer) Offer {
	if a.Number > b.Number || a.Number == b.Number && a.At < b.At {
		return a
	}
	return b
}

// Offers is the argument of offers: how many to make, to how many watchers.
type Offers struct{ Watchers, Offers int }

// Watch is the argument of those that watch, until so many have come.
type Watch struct {
	Newest satin.Lattice[string, Offer]
	Offers int
}

const (
	gatherTime = 2 * time.Second // in which jobs are stolen
	offerPause = 250 * time.Millisecond
	lookPause  = 100 * time.Microsecond
	lookMost   = 30 * time.Second
	leafTime   = 400 * time.Millisecond
)

// offers makes one offer after another and returns, for each, after how many ns all watchers had seen it: 0 if one did
// not, because it saw a later one first.
func offers(f *satin.Frame, o Offers) []int64 {
	newest := satin.ShareLattice(f, newer, "offers", Offer{})
	asked := make([]satin.Future[Watch, []int64], o.Watchers)
	for i := range asked {
		asked[i] = satin.Spawn(f, watch, Watch{newest, o.Offers})
	}
	for until := time.Now().Add(gatherTime); time.Now().Before(until); time.Sleep(lookPause) {
		breathe(f)
	}
	for i := range o.Offers {
		newest.Offer(f, Offer{i + 1, time.Now().UnixNano()})
		time.Sleep(offerPause)
	}
	slowest, missed := make([]int64, o.Offers), make([]bool, o.Offers)
	for i := len(asked) - 1; i >= 0; i-- {
		for k, after := range asked[i].Get() {
			slowest[k], missed[k] = max(slowest[k], after), missed[k] || after == 0
		}
	}
	for k := range slowest {
		if missed[k] {
			slowest[k] = 0
		}
	}
	return slowest
}

// watch says for each offer after how many ns it was seen here.
func watch(f *satin.Frame, w Watch) []int64 {
	seen := make([]int64, w.Offers)
	for until := time.Now().Add(lookMost); time.Now().Before(until); time.Sleep(lookPause) {
		o := w.Newest.Value(f)
		if o.Number > 0 && seen[o.Number-1] == 0 {
			seen[o.Number-1] = max(1, time.Now().UnixNano()-o.At)
		}
		if o.Number == w.Offers {
			break
		}
	}
	return seen
}

// Reads is the argument of those that read a constant.
type Reads struct{ What satin.Constant[[]byte] }

// Read is when, and in which process, so many bytes were read.
type Read struct {
	At             int64 // ns
	Process, Bytes int
}

// readersEach is how many jobs read, for each process: more than one, lest one is left out.
const readersEach = 2

// large shares so many bytes with jobs that others steal, and says what they read. Times are since it was shared.
func large(f *satin.Frame, bytes int) []Read {
	noise := make([]byte, bytes)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	what := satin.ShareConstant(f, noise)
	began := time.Now()
	all := make([]satin.Future[Reads, Read], readersEach*(model.Peers-1))
	for i := range all {
		all[i] = satin.Spawn(f, reads, Reads{what})
	}
	for until := began.Add(gatherTime); time.Now().Before(until); time.Sleep(lookPause) {
		breathe(f)
	}
	list := make([]Read, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		list[i] = all[i].Get()
		list[i].At -= began.UnixNano()
	}
	return list
}

func reads(f *satin.Frame, r Reads) Read {
	n := len(r.What.Read(f))
	at := time.Now().UnixNano()
	time.Sleep(gatherTime) // so that the others get some, too
	return Read{at, os.Getpid(), n}
}

// abort has a job stolen whose own job is stolen too, aborts the first while it is in a long leaf, and returns when
// that was, in ns. Its argument is a directory for signs.
func abort(f *satin.Frame, dir string) int64 {
	x := satin.Spawn(f, between, dir)
	await(f, dir, "leaf")
	time.Sleep(leafTime / 8)
	at := time.Now().UnixNano()
	f.Abort()
	await(f, dir, "aborted")
	if _, err := x.Try(); err == nil {
		panic("it had ended before it was aborted")
	}
	return at
}

// between is stolen, has its own job stolen, and is then a long leaf that never looks whether it is wanted.
func between(f *satin.Frame, dir string) int {
	x := satin.Spawn(f, last, dir)
	await(f, dir, "last")
	sign(dir, "leaf")
	time.Sleep(leafTime)
	return x.Get()
}

// last writes down when it was aborted.
func last(f *satin.Frame, dir string) int {
	sign(dir, "last")
	for until := time.Now().Add(lookMost); time.Now().Before(until); time.Sleep(lookPause) {
		if f.Aborted() {
			sign(dir, "aborted")
			break
		}
	}
	return 0
}

// sign leaves a file with the time.
func sign(dir, name string) {
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file+".new", strconv.AppendInt(nil, time.Now().UnixNano(), 10), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		panic(err)
	}
}

// breathe lets the worker hear that its jobs are wanted, which it does when it spawns.
func breathe(f *satin.Frame) { satin.Spawn(f, nothing, 0).Get() }

func nothing(*satin.Frame, int) int { return 0 }

// await waits for a sign.
func await(f *satin.Frame, dir, name string) {
	for until := time.Now().Add(lookMost); ; time.Sleep(lookPause) {
		breathe(f)
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return
		}
		if time.Now().After(until) {
			panic(fmt.Sprintf("%s did not come to pass within %v", name, lookMost))
		}
	}
}

// offers owns a run of that many offers to that many watchers; the answer has, for each, after how many ns all had
// seen it.
func (p *process) offers(words []string) (ask.Answer, error) {
	if len(words) != 2 {
		return nil, fmt.Errorf("want WATCHERS and OFFERS")
	}
	var o Offers
	for i, to := range []*int{&o.Watchers, &o.Offers} {
		n, err := strconv.Atoi(words[i])
		if err != nil || n < 1 || n > 1000 {
			return nil, fmt.Errorf("%q is no number from 1 to 1000", words[i])
		}
		*to = n
	}
	var after []int64
	if err := p.own("wide.offers", o, &after); err != nil {
		return nil, err
	}
	a := ask.Answer{}
	for i, ns := range after {
		a[fmt.Sprint("offer", i)] = fmt.Sprint(ns)
	}
	return a, nil
}

// large owns a run that shares so many bytes; the answer has how many processes read them, and when the last had them.
func (p *process) large(words []string) (ask.Answer, error) {
	if len(words) != 1 {
		return nil, fmt.Errorf("want BYTES")
	}
	bytes, err := strconv.Atoi(words[0])
	if err != nil || bytes < 1 || bytes > 1<<30 {
		return nil, fmt.Errorf("%q is no number from 1 to %d", words[0], 1<<30)
	}
	var list []Read
	if err := p.own("wide.large", bytes, &list); err != nil {
		return nil, err
	}
	first := map[int]int64{} // by process
	for _, r := range list {
		if r.Bytes != bytes {
			return nil, fmt.Errorf("a job read %d bytes of %d", r.Bytes, bytes)
		}
		if at, ok := first[r.Process]; !ok || r.At < at {
			first[r.Process] = r.At
		}
	}
	last := int64(0)
	for _, at := range first {
		last = max(last, at)
	}
	return ask.Of("processes", len(first), "last", last), nil
}

// abort owns a run that aborts a job behind a long leaf; the answer has after how many ns it knew.
func (p *process) abort(words []string) (ask.Answer, error) {
	dir, err := os.MkdirTemp("", "satin-signs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var at int64
	if err := p.own("wide.abort", dir, &at); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "aborted"))
	if err != nil {
		return nil, err
	}
	knew, err := strconv.ParseInt(string(text), 10, 64)
	return ask.Of("after", knew-at), err
}

// own runs a function as its owner.
func (p *process) own(function string, arg, result any) error {
	if p.peer == nil {
		return fmt.Errorf("not open")
	}
	encoded, err := wire.Value().Encode(arg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := p.peer.Submit(ctx, control.Submission{App: "wide", Function: function, Argument: encoded,
		Title: function})
	if err != nil {
		return err
	}
	o, err := p.peer.Wait(ctx, r.Run, nil)
	if err != nil {
		return err
	}
	if o.State != control.RunDone {
		return fmt.Errorf("%s is %s: %s", function, o.State, o.Failure)
	}
	return wire.Value().Decode(o.Result, result)
}
