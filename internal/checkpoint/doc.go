// Package checkpoint keeps the results of finished jobs on one disk, so that a run that lost all its peers
// costs what they computed since the last commit and not everything: an append-only log of records in a
// directory, one directory for a run.
//
// # Guarantees
//
//   - What Sync, Acknowledged or Close call stored is recovered after a crash of the process or of the
//     machine, itself or by the result of an ancestor, as long as the disk keeps what it said it had synced.
//   - What is recovered was appended: a record whose bytes changed is never returned. Each carries a CRC32C.
//   - A record whose ancestor (by path) is stored is not written, and compaction drops the descendants of
//     what is stored: no record that is recovered is an ancestor of another. By path only: where an inlet
//     spawned in another order the second time, the ancestor may be of another identity than is asked for,
//     and then the descendants are computed again.
//   - Nothing is overwritten. Files only grow, are replaced by rename, or, if they were damaged, set aside
//     under another name (*.damaged) when the first record is written.
//   - A damaged, torn or foreign file costs what is damaged: every intact record is used, and Problems says
//     in a line what is wrong.
//   - If nothing can be written, the disk being full for instance, the log says so once, keeps a bounded
//     queue, and tries again now and then.
//
// The directory holds nothing but the log and a lock, and no path: it can be copied, and opened anywhere. The
// format is in docs/checkpoint-format.md.
//
// # What may block
//
// Append never does: it takes a lock that is not held over any system call, and a full queue drops records
// that can be computed again. Stats waits at most while one record is read. Sync, Compact and
// Close wait for the disk, Open and Read read everything once, Records and Lookup read from the disk.
// Config's functions are called by the log's goroutine, which waits for them.
//
// # What may be lost
//
// Records that Append refused, which Stats counts; and records that were not acknowledged. Both are computed
// again. Manifests and root outcomes are taken even when the queue is full. A file that was cut off exactly
// between two records, or removed, cannot be told from one that never held more.
//
// # Memory
//
// The queue (twice, while nothing can be written), one batch encoded, and about 100 bytes for each result that
// is stored, and one for each small element of its path, five for each from 255 on (IndexBytes); not the outcomes.
package checkpoint
