package checkpoint

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

var testHeader = Header{Run: [16]byte{1, 2, 3}, Manifest: [32]byte{4, 5, 6}}

const testDir = "/state/run"

// truth is the record of a job: what it computes is a function of path and identity, so that anybody can tell a true
// result from a damaged one.
func truth(kind Kind, path []uint32, id byte) Record {
	r := Record{Kind: kind, Path: path, Identity: [16]byte{id}}
	h := fnv.New64a()
	fmt.Fprint(h, kind, path, id)
	rng := rand.New(rand.NewPCG(h.Sum64(), 0))
	r.Outcome = make([]byte, rng.IntN(200))
	for i := range r.Outcome {
		r.Outcome[i] = byte(rng.Uint32())
	}
	if rng.IntN(8) == 0 { // an outcome that is a part of a log of the same run, from another place
		payload, err := encoding.Marshal(Record{Kind: JobResult, Path: []uint32{9, 9, 9}, Outcome: []byte("forged")})
		if err != nil {
			panic(err)
		}
		r.Outcome = appendFrame(r.Outcome, testHeader.Run, 1<<30, payload)
	}
	return r
}

// tag tells records apart.
func (r *Record) tag() string {
	return fmt.Sprintf("%d/%v/%d", r.Kind, r.Path, r.Identity[0])
}

// history is what was done to a log: what was appended, and what it said was on disk.
type history struct {
	appended map[string]bool
	order    []Record // those that Append took, in order
	acked    int      // of order
}

func newHistory() *history { return &history{appended: map[string]bool{}} }

func (h *history) append(l *Log, r Record) bool {
	h.appended[r.tag()] = true
	if !l.Append(r) {
		return false
	}
	h.order = append(h.order, r)
	return true
}

// check compares what was recovered with the history: only true results of appended records, each
// acknowledged one or an ancestor of it, and none that is superfluous.
func (h *history) check(records iter.Seq2[Record, error]) error {
	jobs, manifests := map[string]bool{}, map[byte]bool{}
	var keys []string
	for r, err := range records {
		if err != nil {
			return err
		}
		want := truth(r.Kind, r.Path, r.Identity[0])
		if !slices.Equal(r.Outcome, want.Outcome) || r.Identity != want.Identity {
			return fmt.Errorf("%s was damaged", r.tag())
		}
		if !h.appended[r.tag()] {
			return fmt.Errorf("%s was never appended", r.tag())
		}
		if r.Kind == RunManifest {
			manifests[r.Identity[0]] = true
		} else {
			jobs[r.key()] = true
			keys = append(keys, r.key())
		}
	}
	for _, k := range keys {
		for n := 0; n < len(k); n++ {
			if jobs[k[:n]] {
				return fmt.Errorf("%x is kept, and its ancestor %x too", k, k[:n])
			}
		}
	}
	for _, r := range h.order[:h.acked] {
		found := r.Kind == RunManifest && manifests[r.Identity[0]]
		for n := 0; r.Kind != RunManifest && n <= len(r.Path); n++ {
			found = found || jobs[keyOf(r.Path[:n])]
		}
		if !found {
			return fmt.Errorf("%s was acknowledged and is gone", r.tag())
		}
	}
	return nil
}

// randomRecord draws from a small tree, so that there are ancestors.
func randomRecord(rng *rand.Rand) Record {
	if rng.IntN(40) == 0 {
		return truth(RunManifest, nil, byte(rng.IntN(2)))
	}
	path := make([]uint32, 1+rng.IntN(3)+rng.IntN(3))
	for i := range path {
		path[i] = 1 + rng.Uint32N(6)
	}
	return truth(JobResult, path, byte(rng.IntN(8)/7))
}

// read gives a snapshot of what is on a file system.
func read(t testing.TB, m *memFS) *Snapshot {
	t.Helper()
	s, err := Read(testDir, Header{}, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func reopen(t testing.TB, m *memFS, cfg Config) *Log {
	t.Helper()
	cfg.FS = m
	l, err := Open(testDir, testHeader, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// header says which run a snapshot is of, and count how many results it holds.
func (s *Snapshot) header() Header { return s.s.header }
func (s *Snapshot) count() int     { return s.s.jobs.n }

// lookup gives the outcome of a job, if it is stored itself.
func (s *store) lookup(path []uint32, id [16]byte) (outcome []byte, ok bool, err error) {
	r := Record{Path: path, Identity: id}
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.jobs.find(r.key(), id)
	if e == nil {
		return nil, false, nil
	}
	rec, err := s.read(e)
	return rec.Outcome, err == nil, err
}
