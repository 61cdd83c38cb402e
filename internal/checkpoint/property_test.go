package checkpoint

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// lives are those of a log on a disk that crashes, fills up and fails.
type lives struct {
	ctx context.Context
	m   *memFS
	h   *history
	l   *Log
}

func (x *lives) reopen(t *rapid.T) {
	x.m.failSyncs(0)
	cfg := byHand
	cfg.FS = x.m
	cfg.SegmentBytes = rapid.Int64Range(500, 5000).Draw(t, "segment")
	var err error
	if x.l, err = Open(testDir, testHeader, cfg); err != nil {
		t.Fatal(err)
	}
}

func (x *lives) sync() error {
	n := len(x.h.order)
	err := x.l.Sync(x.ctx)
	if err == nil {
		x.h.acked = n
	}
	return err
}

// steps are what may happen to the log.
func (x *lives) steps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"append": func(t *rapid.T) {
			for range rapid.IntRange(1, 20).Draw(t, "records") {
				path := rapid.SliceOfN(rapid.Uint32Range(1, 4), 1, 5).Draw(t, "path")
				x.h.append(x.l, truth(JobResult, path, byte(rapid.IntRange(0, 9).Draw(t, "identity")/9)))
			}
		},
		"manifest": func(t *rapid.T) { x.h.append(x.l, truth(RunManifest, nil, rapid.Byte().Draw(t, "identity"))) },
		"answer": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				x.h.append(x.l, truth(RootOutcome, nil, 0))
			}
		},
		"sync":    func(*rapid.T) { _ = x.sync() },
		"compact": func(*rapid.T) { _ = x.l.Compact(x.ctx) },
		"restart": func(t *rapid.T) {
			if x.l.Close() == nil {
				x.h.acked = len(x.h.order)
			}
			x.h.order = x.h.order[:x.h.acked]
			x.reopen(t)
		},
		"crash": func(t *rapid.T) {
			x.m.stop()
			_ = x.l.Close() // to end its goroutine: the disk does not hear it any more
			x.m = x.m.crash(crashKind(rapid.IntRange(int(killed), int(crashKinds)-1).Draw(t, "kind")))
			x.h.order = x.h.order[:x.h.acked]
			x.reopen(t)
		},
		"full":     func(t *rapid.T) { x.m.room(rapid.IntRange(1, 3000).Draw(t, "bytes")) },
		"room":     func(*rapid.T) { x.m.room(0) },
		"bad sync": func(*rapid.T) { x.m.failSyncs(1) },
		"": func(t *rapid.T) {
			if err := x.h.check(x.l.Records()); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// Lives of a log on a disk that crashes, fills up and fails, in any order: whenever it is read, what was
// acknowledged is there, and nothing but the truth.
func TestAnyHistory(t *testing.T) {
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		x := &lives{ctx: ctx, m: newMemFS(), h: newHistory()}
		x.reopen(t)
		defer func() { _ = x.l.Close() }()
		t.Repeat(x.steps())
		x.m.room(0)
		x.m.failSyncs(0)
		for range 3 { // a file of an earlier failure may need one more
			if err := x.sync(); err == nil {
				break
			}
		}
		if x.h.acked != len(x.h.order) {
			t.Fatalf("%d of %d are stored in the end", x.h.acked, len(x.h.order))
		}
		s, err := Read(testDir, testHeader, x.m.crash(allLost))
		if errors.Is(err, ErrNoCheckpoint) && x.h.acked == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := x.h.check(s.Records()); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever bytes of a file change: every record whose frame is untouched is read, and no other.
func TestAnyDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "records")
		file, frames := written(t, testHeader, uint32(n))
		good := slices.Clone(file)
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			from := rapid.IntRange(0, len(file)-1).Draw(t, "from")
			to := min(len(file), from+rapid.IntRange(1, 700).Draw(t, "bytes"))
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				file[from] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			case 1:
				clear(file[from:to])
			case 2:
				copy(file[from:to], file[rapid.IntRange(0, from).Draw(t, "other"):])
			case 3:
				file = file[:max(1, from)]
			}
		}
		var want []uint32
		for i, f := range frames {
			if f[1] <= len(file) && slices.Equal(file[f[0]:f[1]], good[f[0]:f[1]]) {
				want = append(want, 1+uint32(i))
			}
		}
		m := newMemFS()
		m.put(filepath.Join(testDir, firstFile), file)
		s, err := Read(testDir, testHeader, m)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint32
		for r, err := range s.Records() {
			if err != nil || !slices.Equal(r.Outcome, job(r.Path...).Outcome) {
				t.Fatalf("%v: %v", r.Path, err)
			}
			got = append(got, r.Path[0])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("read %v, want %v", got, want)
		}
		end := frames[0][0] // of the records that are left
		if len(want) > 0 {
			end = frames[len(want)-1][1]
		}
		if cut := slices.Equal(file, good[:end]); len(want) < n && len(s.Problems()) == 0 && !cut {
			t.Fatal("records are missing, and nothing is said")
		}
	})
}
