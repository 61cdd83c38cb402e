package steal

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// smallRoom lets each sender have so many bytes.
type smallRoom struct {
	each int
	from map[PeerID]int
}

func (r *smallRoom) Take(from PeerID, n int, must bool) bool {
	fits := r.from[from]+n <= r.each
	if fits || must {
		r.from[from] += n
	}
	return fits
}

func (r *smallRoom) Give(from PeerID, n int) { r.from[from] -= n }

// What is kept and known is counted as that of whoever sent it, to the byte, stays within what that peer may have, and
// drives out nothing of another one's that is not below it.
func TestRoomOfWhatIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &smallRoom{each: rapid.IntRange(0, 2000).Draw(t, "each"), from: map[PeerID]int{}}
		u := newPurse(r)
		s, table := newStore(&shared{purse: u}, 50, 1<<20), newTupleTable(50, u)
		of := func(from PeerID) (paths []job.Path) {
			for _, k := range s.index {
				if k.from == from {
					paths = append(paths, k.Path)
				}
			}
			return paths
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			from := rapid.SampledFrom([]PeerID{"", "a", "b"}).Draw(t, "from")
			path, id := drawPath(t), drawIdentity(t)
			if rapid.Bool().Draw(t, "a tuple") {
				table.put(Tuple{Path: path, Identity: id, Holder: Address{Peer: from, Inc: 1},
					Done: rapid.Bool().Draw(t, "done")})
			} else {
				before := of("b")
				s.put(Partial{Path: path, Identity: id, Outcome: make([]byte, rapid.IntRange(0, 900).Draw(t, "size"))},
					keptClass(rapid.IntRange(0, int(own)).Draw(t, "class")), from)
				after := of("b")
				for _, p := range before {
					if from != "b" && !path.Above(p) && !slices.ContainsFunc(after, func(q job.Path) bool {
						return slices.Equal(p, q)
					}) {
						t.Fatalf("what %q sent drives out %v", from, p)
					}
				}
			}
			sums := map[PeerID]int{}
			for _, k := range s.index {
				sums[k.from] += k.size()
			}
			for _, e := range table.index {
				sums[e.Holder.Peer] += e.size()
			}
			for _, p := range []PeerID{"", "a", "b"} {
				if r.from[p] != sums[p] || sums[p] > r.each || u.has[p] != sums[p] {
					t.Fatalf("%q has %d bytes, %d are counted; %d are allowed", p, sums[p], r.from[p], r.each)
				}
			}
		}
		if u.empty(); r.from[""]+r.from["a"]+r.from["b"] != 0 {
			t.Fatalf("after the end %v are taken", r.from)
		}
	})
}

// Jobs for which there is no memory go back, and a victim whose results take too much gets the rest of its jobs back;
// what is acknowledged is there for the next one, and another victim is not concerned.
func TestRoomOfJobs(t *testing.T) {
	large := jobAt(1)
	large.Arg = bytes.Repeat([]byte{1}, 1000)
	large.Identity = job.Identify(large.Function, large.Arg)
	size := large.Size() + jobOverhead
	r := &smallRoom{each: 2*size + 500, from: map[PeerID]int{}}
	c, err := NewCore(LAN(), Run{Room: r}, Address{Peer: "v", Inc: 5}, parseMembers(ids("t", 2)+" v"),
		policy.RandomStealing{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c.Report(time.Second, Load{Workers: 1, Idle: 1})
	push := func(from, first int, n int) (returned []Handle, out Output) {
		m := &Message{From: thiefNo(from), To: Address{Peer: "v", Inc: 5}, Reply: &StealReply{}}
		for h := range n {
			m.Reply.Jobs = append(m.Reply.Jobs, Grant{Handle: Handle(first + h), Job: large})
		}
		out = c.Step(c.now, m)
		return returns(out), out
	}
	back, out := push(0, 1, 3)
	if !slices.Equal(back, []Handle{3}) || c.Stats().JobsWithoutRoom != 1 {
		t.Fatalf("of three jobs %v go back", back)
	}
	if back, _ := push(1, 1, 1); len(back) != 0 {
		t.Fatalf("another victim's job goes back")
	}
	i := slices.IndexFunc(out.Orders, func(o Order) bool { return o.Kind == RunSegment })
	if i < 0 {
		t.Fatal("no job runs")
	}
	out = c.Finished(c.now, out.Orders[i].Segment, make([]byte, 600), nil)
	if back := returns(out); !slices.Equal(back, []Handle{2}) {
		t.Fatalf("after a result that takes too much %v go back", back)
	}
	c.Step(c.now, &Message{From: thiefNo(0), To: Address{Peer: "v", Inc: 5}, Ack: &ResultAck{Handle: 1}})
	if kept := c.lost.store.total(); r.from["t00"] != kept {
		t.Fatalf("after the acknowledgement %d bytes are taken, %d are kept", r.from["t00"], kept)
	}
	if back, _ := push(0, 4, 1); len(back) != 0 {
		t.Fatal("there is room again, and the job goes back")
	}
	if c.Cancel(c.now); r.from["t00"] != 0 || r.from["t01"] != 0 {
		t.Fatalf("after the end %v are taken", r.from)
	}
}

// returns lists the handles that go back.
func returns(out Output) (list []Handle) {
	for _, m := range out.Messages {
		if m.Return != nil {
			list = append(list, m.Return.Handles...)
		}
	}
	return list
}
