package stream

import "sync/atomic"

// Stats counts what a Transport has done since New.
type Stats struct {
	Partners      int    // peers with a record: those with open streams, and some that had
	Received      uint64 // messages given to the handler, without long results
	BytesSent     uint64 // of messages without long results, with framing
	BytesReceived uint64
	BulkSent      uint64 // long results that were acknowledged to the last byte
	BulkRepeated  uint64 // long results that were to be sent while they were being sent already
	Failed        uint64 // messages that were certainly not delivered
	Unreported    uint64 // of these, those that Handler.Failed was too slow for
	Opened        uint64 // streams that we opened
	Refused       uint64 // inbound streams that were reset unread
	Offences      uint64 // inbound streams that were reset for what was in them
	Coming        int64  // bytes that are set aside for long results which are being received
}

type counters struct {
	received, bytesSent, bytesReceived, bulkSent, bulkRepeated atomic.Uint64
	failed, unreported, opened, refused, offences              atomic.Uint64
}

// Stats returns the counters.
func (t *Transport) Stats() Stats {
	t.mu.RLock()
	partners := len(t.partners)
	t.mu.RUnlock()
	c := &t.count
	return Stats{
		Partners: partners, Coming: t.memory.Load(), Received: c.received.Load(), BytesSent: c.bytesSent.Load(),
		BytesReceived: c.bytesReceived.Load(), BulkSent: c.bulkSent.Load(), BulkRepeated: c.bulkRepeated.Load(),
		Failed: c.failed.Load(), Unreported: c.unreported.Load(), Opened: c.opened.Load(),
		Refused: c.refused.Load(), Offences: c.offences.Load(),
	}
}
