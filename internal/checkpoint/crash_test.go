package checkpoint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// byHand makes a log do nothing unless it is asked, so that its operations are the same each time.
var byHand = Config{Interval: time.Hour, RetryEvery: time.Hour, SegmentBytes: 3 << 10}

// story is some lives of a log: results, syncs, compaction, closing and opening again, and in the end the answer.
func story(t *testing.T, m *memFS, h *history, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for life := range 3 {
		cfg := byHand
		cfg.FS = m
		l, err := Open(testDir, testHeader, cfg)
		if err != nil {
			if !errors.Is(err, errCrashed) {
				t.Fatal(err)
			}
			return
		}
		for step := range 12 {
			for range 6 {
				h.append(l, randomRecord(rng))
			}
			h.sync(t, l)
			if step == 6 {
				_ = l.Compact(t.Context())
			}
		}
		if life == 2 {
			h.append(l, truth(RootOutcome, nil, 0))
			h.sync(t, l)
			_ = l.Compact(t.Context())
		}
		for range 3 {
			h.append(l, randomRecord(rng))
		}
		if l.Close() == nil {
			h.acked = len(h.order)
		}
	}
}

func (h *history) sync(t *testing.T, l *Log) {
	if n := len(h.order); l.Sync(t.Context()) == nil {
		h.acked = n
	}
}

// The crash points: after each operation on the file system, in every way that what was not synced may
// survive, the log recovers what was acknowledged and nothing but the truth, says so the same way twice, and
// goes on.
func TestCrashPoints(t *testing.T) {
	const seed = 0
	tell := func(crashAt int) (*memFS, *history) {
		m, h := newMemFS(), newHistory()
		m.crashAt = crashAt
		story(t, m, h, seed)
		return m, h
	}
	whole, _ := tell(0)
	if whole.ops < 50 {
		t.Fatalf("the story has only %d operations", whole.ops)
	}
	for k := 1; k <= whole.ops; k++ {
		m, h := tell(k)
		for kind := range crashKinds {
			if err := recovers(t, m.crash(kind), h); err != nil {
				t.Fatalf("story %d, crash after operation %d of %d, kind %d: %v", seed, k, whole.ops, kind, err)
			}
			if kind == killed { // it went on with the same files: tell it again
				m, h = tell(k)
			}
		}
	}
}

// recovers checks what is left after a crash, lets the log go on, loses everything that is not synced, and
// checks again.
func recovers(t *testing.T, m *memFS, before *history) error {
	h := &history{appended: map[string]bool{}, order: before.order[:before.acked:before.acked], acked: before.acked}
	for tag := range before.appended {
		h.appended[tag] = true
	}
	s, err := Read(testDir, testHeader, m)
	if err == nil {
		err = h.check(s.Records())
		s.Close()
	} else if h.acked == 0 {
		err = nil // there may be nothing, or less than a header
	}
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	cfg := byHand
	cfg.FS = m
	l, err := Open(testDir, testHeader, cfg)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := h.check(l.Records()); err != nil {
		return fmt.Errorf("opened: %w", err)
	}
	for i := range uint32(3) {
		h.append(l, truth(JobResult, []uint32{1 + i, 2, 1}, 2))
	}
	if err := l.Sync(t.Context()); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	h.acked = len(h.order)
	lost := m.crash(allLost)
	if err := l.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	s, err = Read(testDir, testHeader, lost)
	if err != nil {
		return fmt.Errorf("read again: %w", err)
	}
	defer s.Close()
	if err := h.check(s.Records()); err != nil {
		return fmt.Errorf("after a second crash: %w", err)
	}
	return nil
}
