package checkpoint

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkAppend stores records of 1 KiB on the disk of the temporary directory, and syncs after each batch.
func BenchmarkAppend(b *testing.B) {
	for _, batch := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			l, err := Open(b.TempDir(), testHeader, Config{Interval: time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			outcome := make([]byte, 1<<10)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				path := []uint32{1, 2, 3, uint32(i >> 8), uint32(i & 255)}
				if !l.Append(Record{Kind: JobResult, Path: path, Outcome: outcome}) {
					b.Fatal("not taken")
				}
				if i%batch == batch-1 {
					if err := l.Sync(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkDiskAlone is what the disk takes for the same without a log: the bytes, and a sync. Compare with
// BenchmarkAppend under the same load.
func BenchmarkDiskAlone(b *testing.B) {
	for _, batch := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			f, err := Disk{}.Create(filepath.Join(b.TempDir(), "file"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			bytes := make([]byte, batch*(1<<10+50))
			for b.Loop() {
				if _, err := f.Write(bytes); err != nil {
					b.Fatal(err)
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// nullFS takes no time to write.
type nullFS struct{ *memFS }

type nullFile struct{ WriteFile }

func (nullFile) Write(b []byte) (int, error) { return len(b), nil }

func (m nullFS) Create(name string) (WriteFile, error) {
	f, err := m.memFS.Create(name)
	return nullFile{f}, err
}

// BenchmarkWithoutDisk is the processor's time for a record that is written, encoding and index and all, with
// 64 in a batch.
func BenchmarkWithoutDisk(b *testing.B) {
	l, err := open(testDir, testHeader, Config{FS: nullFS{newMemFS()}, Interval: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	defer l.w.finish()
	outcome := make([]byte, 1<<10)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if !l.Append(Record{Kind: JobResult, Path: []uint32{1, 2, 3, uint32(i >> 8), uint32(i & 255)},
			Outcome: outcome}) {
			b.Fatal("not taken")
		}
		if i%64 == 63 {
			if err := l.w.try(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkOffer is what whoever appends pays for a record: the queue takes it, or is full.
func BenchmarkOffer(b *testing.B) {
	for _, full := range []bool{false, true} {
		b.Run(fmt.Sprintf("full=%t", full), func(b *testing.B) {
			l, err := open(testDir, testHeader, Config{FS: newMemFS(), Interval: time.Hour}) // nobody writes
			if err != nil {
				b.Fatal(err)
			}
			r := Record{Kind: JobResult, Path: []uint32{1, 2, 3, 4, 5}, Outcome: make([]byte, 1<<10)}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if l.Append(r); !full && i%1024 == 0 {
					l.queue, l.queued = l.queue[:0], 0
				}
			}
		})
	}
}

// BenchmarkOpen reads 10,000 records of 1 KiB.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	l, err := Open(dir, testHeader, Config{Interval: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	const records = 10000
	for i := range uint32(records) {
		if !l.Append(Record{Kind: JobResult, Path: []uint32{1, 2, 3, i}, Outcome: make([]byte, 1<<10)}) {
			b.Fatal("not taken")
		}
		if i%1000 == 999 {
			if err := l.Sync(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Read(dir, Header{}, nil)
		if err != nil || s.count() != records {
			b.Fatal(err)
		}
		s.Close()
	}
	b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
}
