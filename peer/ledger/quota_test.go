package ledger

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/quota"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
)

// A checkpoint of another peer's run takes what the quota allows and then says why it takes no more; an own one has no
// bound.
func TestCheckpointsAreBounded(t *testing.T) {
	b := standing()
	owner := vouchtest.New(t, nil, nil)
	for name, self := range map[string]peer.ID{"another's": "somebody", "its own": owner.Self} {
		signed := aRunOf(t, owner.Key)
		c := &Store{Base: b, Self: self, Dir: t.TempDir(), Within: time.Hour, Quota: quota.Quota{Most: 64 << 10}}
		k := c.Ledger(signed.Run)
		if _, err := k.Open(signed, nil); err != nil {
			t.Fatal(err)
		}
		taken := 0
		for i := range uint32(40) {
			if k.AppendOutcome([]uint32{i}, [16]byte{1}, make([]byte, 1<<10), nil) {
				taken++
			}
		}
		trouble := k.Trouble()
		k.Close(true)
		bounded := taken < 16 && trouble != nil && strings.Contains(trouble.Error(), "run_disk")
		if bounded != (self != owner.Self) {
			t.Errorf("%s: %d of 40 KiB are taken, trouble %v", name, taken, trouble)
		}
		if c.Quota.Len() != 0 {
			t.Errorf("%s: a run that is over has a part of the disk", name)
		}
	}
}

// What stays on the disk of an owner's runs in which this peer takes no part any more, as when their jobs kill its
// process or they leave it out, counts also in the next life, and the oldest makes way: else the owner would fill the
// disk with one run after the other.
func TestRestingRunsMakeWay(t *testing.T) {
	owner, dir := vouchtest.New(t, nil, nil), t.TempDir()
	const most, result = 64 << 10, 1 << 10
	life := func(runs int) (list []string) {
		b := standing()
		c := &Store{Base: b, Self: "somebody", Dir: dir, Within: time.Hour, Quota: quota.Quota{Most: most}}
		c.Quota.Remove = c.MakeWay
		c.Left(func(job.RunID) bool { return false })
		for range runs {
			signed := aRunOf(t, owner.Key)
			k := c.Ledger(signed.Run)
			if _, err := k.Open(signed, nil); err != nil {
				t.Fatal(err)
			}
			taken := 0
			for i := range uint32(most / result) {
				if k.AppendOutcome([]uint32{i}, [16]byte{1}, make([]byte, result), nil) {
					taken++
				}
			}
			if k.Close(false); taken < most/result/quota.RunsPart/2 {
				t.Errorf("a run in which this peer takes part has room for %d results", taken)
			}
			list = append(list, k.Dir)
		}
		b.End(func() {})
		return list
	}
	first, then := life(6), life(6)
	size := int64(0)
	for i, run := range slices.Concat(first, then) {
		if n := sizeOf(run); n > 0 {
			size += n
		} else if i == len(first)+len(then)-1 {
			t.Error("the newest makes way")
		}
	}
	if size == 0 || size > most/quota.OwnersPart {
		t.Errorf("runs of one owner take %d bytes of the disk, of %d", size, most/quota.OwnersPart)
	}
}

// Whose it is of what a checkpoint holds is known when it is opened again: a peer that had its half of the disk for an
// own run of this peer's, or for another's, has no more in its next life. So it is with the memory for the index, which
// results with long paths take.
func TestQuotaOutlivesRestarts(t *testing.T) {
	here, other, third := vouchtest.New(t, nil, nil), vouchtest.New(t, nil, nil), vouchtest.New(t, nil, nil)
	for _, x := range []struct {
		owner        *vouching.Border
		disk, memory int64
		steps        int
	}{{here, 64 << 10, 0, 1}, {third, 64 << 10, 0, 1}, {here, 0, 64 << 10, 1000}, {third, 0, 64 << 10, 1000}} {
		signed := aRunOf(t, x.owner.Key)
		b := standing()
		c := &Store{Base: b, Self: here.Self, Dir: t.TempDir(), Within: time.Millisecond, Vouch: here,
			Quota: quota.Quota{Most: x.disk}, Index: quota.Quota{Most: x.memory, Memory: true},
			Most: 1000, MostBytes: 1 << 20}
		fill := func(from uint32) (n int) {
			k, _, err := c.Reopen(signed, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint32(200) {
				p := vouchtest.Signed(other, signed.Run, append(make(job.Path, x.steps-1), from+i))
				if k.AppendOutcome(p.Path, p.Identity, p.Outcome, p.Voucher) {
					n++
				}
			}
			if err := k.Log().Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			k.Close(false)
			<-k.Done()
			return n
		}
		if first, then := fill(0), fill(1000); first < 10 || first > 190 || then > first/8 {
			t.Errorf("first %d outcomes are taken, and in the next life %d", first, then)
		}
	}
}
