package checkpoint

import (
	"cmp"
	"time"
)

// Config are the settings of a Log. The zero value of a field is its default.
type Config struct {
	// FS is the file system, Disk by default.
	FS FS
	// Interval is how long a record may wait for others before it is written, 5 s by default; below zero, not
	// at all. It is what a crash costs at most. A longer one writes less: a job that finishes spares its
	// descendants that still wait.
	Interval time.Duration
	// QueueRecords and QueueBytes bound what waits to be written: 4,096 records of 32 MiB by default. At half
	// of either it is written before Interval is over. A log that cannot write holds at most twice as much.
	QueueRecords int
	QueueBytes   int
	// SegmentBytes is how large a file gets, 64 MiB by default; a single batch may be larger.
	SegmentBytes int64
	// RetryEvery is how long a log that cannot write waits before it tries again, 10 s by default.
	RetryEvery time.Duration
	// Complete may put another voucher of the same length into a record that is about to be written. What waits and
	// turns out not to be worth writing never gets there. It is called as Notify is, again if the record could not be
	// written.
	Complete func(*Record)
	// Notify is told when the log stops storing, when it stores again, and when it sets a damaged file aside.
	// It is called by the log's own goroutine, which waits for it; it must not call Sync, Compact or Close.
	Notify func(Event)
	// Acknowledged is told, as Notify is, that the records up to a position (see Stats) are on disk.
	Acknowledged func(position uint64)
}

func (c Config) withDefaults() Config {
	c.FS = cmp.Or[FS](c.FS, Disk{})
	c.Interval = cmp.Or(c.Interval, 5*time.Second)
	c.QueueRecords, c.QueueBytes = cmp.Or(c.QueueRecords, 4096), cmp.Or(c.QueueBytes, 32<<20)
	c.SegmentBytes = cmp.Or(c.SegmentBytes, 64<<20)
	c.RetryEvery = cmp.Or(c.RetryEvery, 10*time.Second)
	if c.Complete == nil {
		c.Complete = func(*Record) {}
	}
	if c.Notify == nil {
		c.Notify = func(Event) {}
	}
	if c.Acknowledged == nil {
		c.Acknowledged = func(uint64) {}
	}
	return c
}

// An EventKind says what happened to a log.
type EventKind uint8

const (
	// StoringStopped: nothing can be written, because of Err. It is told once; the log keeps trying.
	StoringStopped EventKind = iota + 1
	// StoringResumed: a try succeeded, and everything that waited is on disk.
	StoringResumed
	// FileSetAside: a damaged file was renamed, after its intact records were written to another.
	FileSetAside
)

// An Event is what a user should hear of.
type Event struct {
	Kind EventKind
	Err  error  // of StoringStopped; errors.Is(Err, ErrDiskFull) for a full disk
	File string // of FileSetAside: its old name
	Now  string // and its new one
}

// String gives one line for a log or a terminal.
func (e Event) String() string {
	switch e.Kind {
	case StoringStopped:
		return "checkpoint: not storing: " + e.Err.Error()
	case StoringResumed:
		return "checkpoint: storing again"
	}
	return "checkpoint: " + e.File + " is damaged; its intact records were copied and it is now " + e.Now
}

// Stats are a log's figures since Open, but for the last five.
type Stats struct {
	Accepted     uint64 // records that Append took: the position of the last of them
	Acknowledged uint64 // position up to which all records are on disk, themselves or by an ancestor
	Written      uint64 // records
	Commits      uint64 // writes that ended with a sync
	Covered      uint64 // records not written, because they or an ancestor were stored
	DroppedFull  uint64 // records that Append did not take, because the queue was full
	Refused      uint64 // records that Append did not take, because they are not valid or the log is closed
	Failures     uint64 // tries to write that failed
	Compactions  uint64 // files written by compaction
	NotStoring   error  // why nothing can be written at present, or nil

	Records  int   // results that are stored
	Live     int64 // bytes of them and of the manifests
	Bytes    int64 // bytes of all files
	Segments int   // number of files
	Index    int64 // bytes of memory that say where results are
}
