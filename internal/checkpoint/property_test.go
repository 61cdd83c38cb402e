package checkpoint

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Lives of a log on a disk that crashes, fills up and fails, in any order: whenever it is read, what was acknowledged is
// there, and nothing but the truth.
func TestAnyHistory(t *testing.T) {
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		m, h := newMemFS(), newHistory()
		var l *Log
		reopen := func() {
			m.failSyncs(0)
			cfg := byHand
			cfg.FS = m
			cfg.SegmentBytes = rapid.Int64Range(500, 5000).Draw(t, "segment")
			var err error
			if l, err = Open(testDir, testHeader, cfg); err != nil {
				t.Fatal(err)
			}
		}
		reopen()
		defer func() { _ = l.Close() }()
		sync := func() error {
			n := len(h.order)
			err := l.Sync(ctx)
			if err == nil {
				h.acked = n
			}
			return err
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "records") {
					path := rapid.SliceOfN(rapid.Uint32Range(1, 4), 1, 5).Draw(t, "path")
					h.append(l, truth(JobResult, path, byte(rapid.IntRange(0, 9).Draw(t, "identity")/9)))
				}
			},
			"manifest": func(t *rapid.T) {
				h.append(l, truth(RunManifest, nil, rapid.Byte().Draw(t, "identity")))
			},
			"answer": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					h.append(l, truth(RootOutcome, nil, 0))
				}
			},
			"sync": func(t *rapid.T) { _ = sync() },
			"compact": func(t *rapid.T) {
				_ = l.Compact(ctx)
			},
			"restart": func(t *rapid.T) {
				if l.Close() == nil {
					h.acked = len(h.order)
				}
				h.order = h.order[:h.acked]
				reopen()
			},
			"crash": func(t *rapid.T) {
				m.stop()
				_ = l.Close() // to end its goroutine: the disk does not hear it any more
				m = m.crash(crashKind(rapid.IntRange(int(killed), int(crashKinds)-1).Draw(t, "kind")))
				h.order = h.order[:h.acked]
				reopen()
			},
			"full": func(t *rapid.T) { m.room(rapid.IntRange(1, 3000).Draw(t, "bytes")) },
			"room": func(t *rapid.T) { m.room(0) },
			"bad sync": func(t *rapid.T) {
				m.failSyncs(1)
			},
			"": func(t *rapid.T) {
				if err := h.check(l.Records()); err != nil {
					t.Fatal(err)
				}
			},
		})
		m.room(0)
		m.failSyncs(0)
		for range 3 { // a file of an earlier failure may need one more
			if err := sync(); err == nil {
				break
			}
		}
		if h.acked != len(h.order) {
			t.Fatalf("%d of %d are stored in the end", h.acked, len(h.order))
		}
		s, err := Read(testDir, testHeader, m.crash(allLost))
		if errors.Is(err, ErrNoCheckpoint) && h.acked == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := h.check(s.Records()); err != nil {
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
