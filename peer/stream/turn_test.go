package stream

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
)

// A fakeStream can only be reset.
type fakeStream struct {
	network.Stream
	once  sync.Once
	reset chan struct{}
}

func newFakeStream() *fakeStream { return &fakeStream{reset: make(chan struct{})} }

func (s *fakeStream) Reset() error {
	s.once.Do(func() { close(s.reset) })
	return nil
}

type turnTaker interface {
	enter(context.Context, network.Stream, wire.Opening) (*turn, error)
}

// noTurns is the broken twin: a new stream is read at once.
type noTurns struct{}

func (noTurns) enter(context.Context, network.Stream, wire.Opening) (*turn, error) {
	return &turn{done: make(chan struct{})}, nil
}

// readings is the order in which the messages of some streams, opened one after the other by one sender, are
// delivered, when handlers begin and read at random speeds. Messages are numbered as they were sent.
func readings(random *rand.Rand, q turnTaker) (log []int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 6 {
		time.Sleep(rand30(random))
		begin, pace := rand30(random), rand30(random)
		all.Go(func() {
			time.Sleep(begin)
			mine, err := q.enter(context.Background(), newFakeStream(), wire.Opening{Life: 1, Serial: uint64(i + 1)})
			if err != nil {
				return
			}
			defer mine.leave()
			for j := range 4 {
				time.Sleep(pace)
				mu.Lock()
				log = append(log, 10*i+j)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return log
}

func rand30(random *rand.Rand) time.Duration {
	return time.Duration(random.IntN(30)) * time.Millisecond
}

// Streams are read in the order of their numbers, whenever their handlers begin. The twin without turns mixes
// them up, which shows that the schedules are hard enough.
func TestTurnsKeepOrder(t *testing.T) {
	mixed := 0
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			log := readings(rand.New(rand.NewPCG(seed, 1)), &turns{})
			if !slices.IsSorted(log) {
				t.Errorf("seed %d: %v", seed, log)
			}
			if len(log) < 8 {
				t.Errorf("seed %d: only %v was read", seed, log)
			}
			if !slices.IsSorted(readings(rand.New(rand.NewPCG(seed, 1)), noTurns{})) {
				mixed++
			}
		})
	}
	if mixed == 0 {
		t.Error("the broken twin keeps order too: the test tests nothing")
	}
}

// A stream waits for the end of the one before it, which is reset after a while; one that has been overtaken does not
// begin, and only so many may wait.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q turns
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		first := newFakeStream()
		one, err := q.enter(ctx, first, wire.Opening{Life: 1, Serial: 1})
		if err != nil {
			t.Fatal(err)
		}
		go func() { // a reader, which ends when its stream is reset
			<-first.reset
			one.leave()
		}()
		if _, err := q.enter(ctx, newFakeStream(), wire.Opening{Life: 1, Serial: 1}); !errors.Is(err, errStale) {
			t.Errorf("the same stream twice: %v", err)
		}
		began := time.Now()
		second := newFakeStream()
		two, err := q.enter(ctx, second, wire.Opening{Life: 1, Serial: 2})
		if err != nil || time.Since(began) != settleFor {
			t.Errorf("a stream whose predecessor does not end waits %v (%v)", time.Since(began), err)
		}
		began = time.Now()
		go func() {
			<-second.reset
			time.Sleep(time.Second) // its handler is slow
			two.leave()
		}()
		three, err := q.enter(ctx, newFakeStream(), wire.Opening{Life: 2, Serial: 1})
		if err != nil || time.Since(began) != time.Second {
			t.Errorf("a stream of another life waits %v for the slow handler (%v)", time.Since(began), err)
		}
		three.leave()
		four, err := q.enter(ctx, newFakeStream(), wire.Opening{Life: 2, Serial: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i := range maxTurnsWaiting {
			go q.enter(ctx, newFakeStream(), wire.Opening{Life: 2, Serial: uint64(3 + i)})
			synctest.Wait()
		}
		if _, err := q.enter(ctx, newFakeStream(), wire.Opening{Life: 2, Serial: 100}); !errors.Is(err,
			errTurnsWaiting) {
			t.Errorf("any number of streams may wait: %v", err)
		}
		cancel()
		synctest.Wait()
		four.leave()
	})
}
