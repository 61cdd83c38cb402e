package stream

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// A bulkReader puts the long messages of one bulk stream together. Its memory is set aside, as an account,
// when a transfer begins, so that results which are half there cannot keep each other from being completed;
// what has no room is refused. Real memory grows with what comes.
type bulkReader struct {
	p      *partner
	stream network.Stream
	coming map[uint32]*incoming
	last   uint32 // the highest number of a transfer
	lane   *lane  // nil: nothing is delayed
	came   int    // bytes of all transfers, up to the last chunk that arrived
	write  sync.Mutex

	// See laggards.go.
	due    atomic.Int64 // when the first of what is coming is late, by clock; 0: nothing is coming
	waited atomic.Int64 // for how long what came had to wait here, in ns
	waits  atomic.Bool  // that it does now
}

// incoming is a transfer that has begun and is not complete.
type incoming struct {
	m    *steal.Message // without its outcome
	head int            // bytes that it came in
	size int
	body []byte
	due  int64 // see laggards.go
	// When the first chunk had arrived, and what had come on the stream by then.
	began time.Time
	from  int
}

// readBulk reads a bulk stream to its end.
func (p *partner) readBulk(s network.Stream) {
	p.inbound(s, &p.inBulk, func(s network.Stream) error {
		r := &bulkReader{p: p, stream: s, coming: map[uint32]*incoming{}}
		if p.t.cfg.Delay != nil {
			r.lane = newLane(p.t.ctx, p.t.cfg.Delay, p.name)
			defer r.lane.close()
		}
		defer r.dropAll()
		defer p.t.late.enter(r)()
		frames := wire.NewFrameReader(s, wire.MaxBulkFrame, p.frameDeadline(s, p.t.cfg.StallTimeout))
		for {
			if len(r.coming) > 0 {
				_ = s.SetReadDeadline(time.Now().Add(p.t.cfg.StallTimeout))
			} else {
				_ = s.SetReadDeadline(time.Time{})
			}
			b, err := frames.Next()
			if err != nil {
				return err
			}
			f, err := wire.DecodeBulk(b)
			if err != nil {
				return err
			}
			p.use()
			if err := r.take(f, len(b)+wire.FrameHead); err != nil {
				return err
			}
		}
	})
}

func (r *bulkReader) take(f wire.BulkFrame, bytes int) error {
	switch {
	case f.Kind == wire.BulkBegin && f.Transfer > r.last:
		return r.begin(f)
	case f.Kind == wire.BulkChunk && f.Transfer <= r.last:
		if in := r.coming[f.Transfer]; in != nil {
			return r.chunk(f, in, bytes)
		}
		return nil // of one that was refused
	}
	return fmt.Errorf("%w: a bulk frame of kind %d for transfer %d after transfer %d", errOffence, f.Kind,
		f.Transfer, r.last)
}

func (r *bulkReader) begin(f wire.BulkFrame) error {
	r.last = f.Transfer
	m, err := r.p.message(f.Data)
	if err != nil {
		return err
	}
	if !carriesOutcome(m) || len(longBody(m)) > 0 {
		return fmt.Errorf("%w: a transfer that belongs to no outcome", errOffence)
	}
	many := len(r.coming) >= maxComing || r.heads()+len(f.Data) > maxHeads
	if many || handsOne(m) && !r.mayHand(f.Size) || !r.p.reserve(f.Size) {
		return r.answer(wire.BulkFrame{Kind: wire.BulkRefuse, Transfer: f.Transfer})
	}
	r.coming[f.Transfer] = &incoming{m: m, head: len(f.Data), size: f.Size, due: r.allow()}
	r.dueNext()
	return nil
}

// mayHand says whether one peer may begin to hand that much over: as it comes slowly, no more than maxHanding is to be
// half there, unless one alone is as long. What is refused its sender may give to others.
func (r *bulkReader) mayHand(size int) bool {
	sum := 0
	for _, in := range r.coming {
		if handsOne(in.m) {
			sum += in.size
		}
	}
	return sum == 0 || sum+size <= maxHanding
}

// maxHanding is in bytes.
const maxHanding = 4 << 20

// heads are the bytes of the messages of what is coming, which are kept until it is there.
func (r *bulkReader) heads() (sum int) {
	for _, in := range r.coming {
		sum += in.head
	}
	return sum
}

// maxHeads is in bytes. Nobody's are longer than a control frame, and most are a thousand times shorter.
const maxHeads = wire.MaxControlFrame

// maxComing bounds the transfers that take turns on one stream, whatever their sender's Config.BulkActive.
const maxComing = 64

func (r *bulkReader) chunk(f wire.BulkFrame, in *incoming, bytes int) error {
	if len(in.body)+len(f.Data) > in.size {
		return fmt.Errorf("%w: a transfer of %d bytes got more", errOffence, in.size)
	}
	if len(f.Data) < wire.MaxChunk && len(in.body)+len(f.Data) < in.size {
		// room is not held for who dribbles
		return fmt.Errorf("%w: a chunk of %d bytes that is not the last", errOffence, len(f.Data))
	}
	if need := len(in.body) + len(f.Data); need > cap(in.body) {
		grown := make([]byte, len(in.body), min(in.size, max(2*need, firstGrowth)))
		copy(grown, in.body)
		in.body = grown
	}
	in.body = append(in.body, f.Data...)
	if handsOne(in.m) {
		r.waiting(func() { r.p.handed(len(f.Data)) })
	}
	complete := len(in.body) == in.size
	if complete {
		delete(r.coming, f.Transfer)
		r.dueNext()
	}
	n := len(f.Data)
	arrived := func() error {
		r.time(in, n, complete)
		err := r.answer(wire.BulkFrame{Kind: wire.BulkAck, Transfer: f.Transfer, Size: n})
		if complete {
			r.waiting(func() { r.p.t.handler.Received(withBody(in.m, in.body)) })
			r.p.release(in.size)
		}
		return err
	}
	if r.lane == nil {
		return arrived()
	}
	kept, err := r.lane.hold(bytes, func() {
		if arrived() != nil {
			_ = r.stream.Reset()
		}
	})
	if !kept {
		if complete {
			r.p.release(in.size)
		}
		return errors.Join(err, errLost)
	}
	return nil
}

// time tells how fast the link is, seen from here, when a chunk of n bytes has arrived: whoever sends can make itself
// look slow, and not fast. What comes beside a transfer counts, and what stood before it in a queue does not. Chunks
// arrive one after the other, so nothing here has a lock.
func (r *bulkReader) time(in *incoming, n int, complete bool) {
	told := r.p.t.cfg.Timed
	if told == nil || handsOne(in.m) { // which this peer has slowed down
		return
	}
	now := time.Now()
	if r.came += n; in.began.IsZero() {
		in.began, in.from = now, r.came
	}
	if bytes, took := r.came-in.from, now.Sub(in.began); complete && bytes >= leastTimed && took > 0 {
		told(r.p.name, bytes, took)
	}
}

// leastTimed is how many bytes have to come for a link to be measured: fewer may have waited in the system's buffers.
const leastTimed = 64 << 10

// firstGrowth is how much memory the first chunk of a transfer claims, at most.
const firstGrowth = 256 << 10

// errLost says that the imitated network has lost a chunk; a stream that has lost something is no stream any more.
var errLost = errors.New("a chunk was lost")

func (r *bulkReader) answer(f wire.BulkFrame) error {
	r.write.Lock()
	defer r.write.Unlock()
	_ = r.stream.SetWriteDeadline(time.Now().Add(r.p.t.cfg.WriteTimeout))
	_, err := r.stream.Write(f.Append(nil))
	return err
}

// dropAll gives back what is set aside for transfers that will not be completed.
func (r *bulkReader) dropAll() {
	for _, in := range r.coming {
		r.p.release(in.size)
	}
}

// reserve sets memory aside for a long result, if there is any. A few partners may have all of it, for some time (see
// laggards.go); so beyond it there is a reserve, of which whoever has little coming gets a quarter of what is left.
func (p *partner) reserve(n int) bool {
	mine, all := p.memory.Add(int64(n)), p.t.memory.Add(int64(n))
	most := int64(p.t.cfg.BulkMemoryTotal)
	slow, lacks := p.t.late.knows(p.id)
	switch {
	case mine > int64(p.t.cfg.BulkMemory), slow && lacks && all > most/2:
	case all <= most || mine <= (most+most/4-(all-mine))/4:
		return true
	case !slow:
		p.t.late.cut()
	}
	p.release(n)
	return false
}

func (p *partner) release(n int) {
	p.memory.Add(int64(-n))
	p.t.memory.Add(int64(-n))
}
