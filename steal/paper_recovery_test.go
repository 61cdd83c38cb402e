package steal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// The fault tolerance paper (Wrzesinska et al., IPDPS 2005), sentence by sentence; 3.1 begins in paper_test.go.

// 3.1: "Children of restarted jobs are also marked as restarted when they are spawned": the engine does that;
// a restarted job is restarted wherever it goes.
func TestRestartedTravels(t *testing.T) {
	c := salvageCore(t, nil)
	c.Report(c.now, Load{Workers: 1, Queued: 1})
	j := jobAt(1, 2)
	j.Restarted = true
	out := c.Step(c.now, &Message{From: living("b"), To: c.self, Request: &StealRequest{ID: 1, Max: 1}})
	out = c.Taken(c.now, out.Orders[0].Ticket, []Taken{{Ref: 1, Job: j}})
	if len(out.Messages) != 1 || !out.Messages[0].Reply.Jobs[0].Job.Restarted {
		t.Errorf("the thief gets %+v", out.Messages)
	}
}

// 3.2: "for each finished orphan job, we asynchronously broadcast a small message containing the jobID of the
// orphan and the processorID of the processor computing this orphan."
func TestFinishedOrphansAreTold(t *testing.T) {
	c := salvageCore(t, nil)
	id := holdFor(c, "b", 1, jobAt(9)).Orders[0].Segment
	c.Finished(c.now, id, []byte("nine"), nil) // not acknowledged
	goodbye(c, "b")
	tuples := told(later(c, c.cfg.TellEvery))
	if len(tuples) != 1 || !slices.Equal(tuples[0].Path, job.Path{9}) || tuples[0].Holder != c.self || !tuples[0].Done {
		t.Errorf("told is %+v", tuples)
	}
}

// 3.2: "We abort the unfinished intermediate nodes of orphan subtrees, since they require little
// computation". Not here: an orphan may be nearly done, and may run everything below it in place. It goes on,
// is told as such, and told again when it is done.
func TestRunningOrphansGoOn(t *testing.T) {
	c := salvageCore(t, nil)
	id := holdFor(c, "b", 1, jobAt(9)).Orders[0].Segment
	if out := goodbye(c, "b"); len(out.Orders) != 0 {
		t.Fatalf("the loss of its owner leads to %+v", out.Orders)
	}
	if tuples := told(later(c, c.cfg.TellEvery)); len(tuples) != 1 || tuples[0].Done {
		t.Errorf("told is %+v", tuples)
	}
	c.Finished(c.now, id, []byte("nine"), nil)
	if tuples := told(later(c, c.cfg.TellEvery)); len(tuples) != 1 || !tuples[0].Done {
		t.Errorf("told is %+v when it is done", tuples)
	}
}

// 3.2: "The (jobID, processorID) tuples are stored by each processor in a local orphan table. ... While
// recomputing jobs which are marked as restarted, processors perform lookups in their orphan tables for each
// spawned job. If the jobID of the spawned job corresponds with the jobID of one of the orphans in the table,
// the processor does not put it in its work queue. Instead, it puts the job in its list of stolen jobs and
// sends a message to the owner of the orphan requesting the result of the job."
func TestOrphansAreLookedUpAndRequested(t *testing.T) {
	c := salvageCore(t, nil)
	c.Hear(c.now, &News{From: living("b"), Tuples: []Tuple{{Path: job.Path{9}, Identity: pathIdentity(job.Path{9}),
		Holder: living("b"), Done: true}}})
	if hit, _ := c.Orphans().Look(job.Path{9}); !hit {
		t.Fatal("the orphan is not in the table")
	}
	out := c.Found(c.now, []Taken{{Ref: 1, Job: jobAt(9)}})
	if len(out.Orders) != 0 || len(out.Messages) != 1 || out.Messages[0].Adopt == nil ||
		out.Messages[0].To != living("b") {
		t.Fatalf("the spawned job leads to %+v", out)
	}
	if p := c.partners.find("b"); len(p.leases) != 1 || p.leases[0].handle != out.Messages[0].Adopt.Jobs[0].Handle {
		t.Error("it is not in the list of stolen jobs")
	}
}

// 3.2: "On receiving such a request, the owner of the orphan marks it as stolen from the sender of the
// request. The link between the restarted parent and the orphaned child is now restored. The result of the
// orphan job is returned and reused."
func TestOrphansAreMarkedAsStolen(t *testing.T) {
	c := salvageCore(t, nil)
	id := holdFor(c, "b", 1, jobAt(9)).Orders[0].Segment
	goodbye(c, "b")
	adopt := &Adopt{Jobs: []Adoption{{Handle: 7, Path: job.Path{9}, Identity: pathIdentity(job.Path{9})}}}
	c.Step(c.now, &Message{From: living("d"), To: c.self, Adopt: adopt})
	out := c.Finished(c.now, id, []byte("nine"), nil)
	if len(out.Messages) != 1 || out.Messages[0].To != living("d") || out.Messages[0].Result.Handle != 7 {
		t.Fatalf("the result goes to %+v", out.Messages)
	}
	// The same when it was finished before the request came; now d has it, and dies.
	c.Step(c.now, &Message{From: living("d"), To: c.self, Ack: &ResultAck{Handle: 7}})
	adopt = &Adopt{Jobs: []Adoption{{Handle: 1, Path: job.Path{9}, Identity: pathIdentity(job.Path{9})}}}
	out = c.Step(c.now, &Message{From: living("e"), To: c.self, Adopt: adopt})
	if len(out.Messages) != 1 || out.Messages[0].To != living("e") || string(out.Messages[0].Result.Outcome) != "nine" {
		t.Errorf("the request of another new owner is answered by %+v", out.Messages)
	}
}

// 3.2: "reusing orphans does not influence the correctness of the algorithm. If the result of an orphan is
// not found (e.g. because the broadcast message does not arrive in time), the job can always be recomputed."
func TestUnknownOrphansAreRecomputed(t *testing.T) {
	c := salvageCore(t, nil)
	out := c.Found(c.now, []Taken{{Ref: 1, Job: jobAt(9)}})
	if i := len(out.Orders) - 1; i < 0 || out.Orders[i].Kind != PutBack || out.Orders[i].Ref != 1 ||
		!out.Orders[i].Restarted {
		t.Errorf("a job that nobody has leads to %+v", out.Orders)
	}
}

// 3.3: "it chooses another processor ..., transfers all the results of the finished jobs to the other
// processor and exits. Those jobs are treated as orphan jobs: the processor receiving the finished jobs
// broadcasts a (jobID, processorID) tuple containing its own processorID for each received result."
func TestReceiversTellOfTheLeaversJobs(t *testing.T) {
	leaver, receiver := salvageCore(t, nil), salvageCore(t, nil)
	leaver.self = living("b")
	for i := range 3 {
		leaver.Keep(leaver.now, []Partial{partAt(9, uint32(i+1))})
	}
	out := leaver.Leave(leaver.now, time.Second)
	if len(out.Messages) != 1 || out.Messages[0].HandOver == nil || leaver.Gone() {
		t.Fatalf("leaving leads to %+v", out.Messages)
	}
	out = receiver.Step(receiver.now, out.Messages[0])
	if out = leaver.Step(leaver.now, out.Messages[0]); !leaver.Gone() {
		t.Errorf("when its results are safe, the leaver says %+v", out.Messages)
	}
	tuples := told(later(receiver, receiver.cfg.TellEvery))
	if len(tuples) != 3 {
		t.Fatalf("the receiver tells %+v", tuples)
	}
	for i, u := range tuples {
		if u.Holder != receiver.self || !u.Done || !slices.Equal(u.Path, job.Path{uint32(i + 1)}) {
			t.Errorf("tuple %d is %+v", i, u)
		}
	}
}

// 3.4: "The new run of the application will reuse the partial results of the orphan jobs from the previous
// run (when the master leaves, all jobs become orphans)." A new master finds the jobs of the old one's
// thieves.
func TestMastersJobsBecomeOrphans(t *testing.T) {
	thief := salvageCore(t, nil)
	holdFor(thief, "b", 1, jobAt(1)) // b is the master
	goodbye(thief, "b")
	o := later(thief, thief.cfg.TellEvery)
	master := salvageCore(t, nil)
	master.self = living("c")
	for _, r := range o.Orders {
		master.Hear(master.now, r.News)
	}
	if hit, below := master.Orphans().Look(job.Path{1}); !hit || below {
		t.Errorf("the new master looks up the root's child: hit %v, below %v", hit, below)
	}
	if _, below := master.Orphans().Look(nil); !below {
		t.Error("it does not know that the root has orphans")
	}
}

// 3.5: "In that case, its orphan table is empty and it has to download an orphan table from one of the other
// processors ... It piggybacks orphan table requests on its steal requests until it receives the table." Here
// what matters to a job comes with the job.
func TestNewcomersLearnWithTheirJobs(t *testing.T) {
	c := salvageCore(t, nil)
	j := jobAt(1)
	j.Restarted = true
	under := Tuple{Path: job.Path{1, 2}, Identity: pathIdentity(job.Path{1, 2}), Holder: living("d"), Done: true}
	// no member: hearsay
	madeUp := Tuple{Path: job.Path{1, 3}, Identity: pathIdentity(job.Path{1, 3}), Holder: living("nobody"), Done: true}
	out := c.Step(c.now, &Message{From: living("b"), To: c.self,
		Reply: &StealReply{Jobs: []Grant{{Handle: 1, Job: j, Orphans: []Tuple{under, madeUp}}}}})
	watch := slices.IndexFunc(out.Orders, func(o Order) bool { return o.Kind == LostWork })
	run := slices.IndexFunc(out.Orders, func(o Order) bool { return o.Kind == RunSegment })
	if watch < 0 || run < watch {
		t.Fatalf("a restarted job leads to %+v; want the table shown before it is run", out.Orders)
	}
	if hit, below := out.Orders[watch].Orphans.Look(job.Path{1}); hit || !below {
		t.Errorf("in the table the job is %v, orphans below it %v", hit, below)
	}
	if hit, _ := out.Orders[watch].Orphans.Look(job.Path{1, 3}); hit {
		t.Error("the word of one peer about somebody who is no member is believed")
	}
}

// 3.6: "Instead of sending many small messages we combine them into one large message. This reduces the
// number of messages sent during the recovery procedure to one broadcast message per machine."
func TestTuplesAreCombined(t *testing.T) {
	for _, jobs := range []int{1, 50, 300} {
		c := salvageCore(t, func(cfg *Config) { cfg.MaxWaiting = 400 })
		for i := range jobs {
			id := holdFor(c, "b", Handle(i+1), jobAt(1, uint32(i))).Orders[0].Segment
			c.Report(c.now, Load{Workers: 1})
			c.Finished(c.now, id, []byte("x"), nil)
			c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: uint64(i + 1)})
		}
		goodbye(c, "b")
		news, tuples := 0, 0
		for range 10 {
			out := later(c, c.cfg.TellEvery)
			if n := len(told(out)); n > c.cfg.MaxTuplesPerNews {
				t.Errorf("%d tuples at once", n)
			} else if n > 0 {
				news, tuples = news+1, tuples+n
			}
		}
		if want := (jobs + c.cfg.MaxTuplesPerNews - 1) / c.cfg.MaxTuplesPerNews; news != want || tuples != jobs {
			t.Errorf("%d orphans are told by %d news with %d tuples, want %d news", jobs, news, tuples, want)
		}
	}
}

// 3.7: "The job identifiers (jobID) must be both globally unique and reproducible: the identifier of a job
// that is respawned after processor leaves must be the same as it was before the leaves, otherwise the
// orphaned children cannot be linked correctly to their parents." Paths are that, if jobs are spawned in the
// same order; where they are not, the identity tells.
func TestPathAloneIsNotTheJob(t *testing.T) {
	for _, same := range []bool{true, false} {
		c := salvageCore(t, nil)
		c.Keep(c.now, []Partial{partAt(4, 1, 2)})
		j := jobAt(1, 2)
		if !same {
			j.Identity = job.Identify("f", []byte("another argument"))
		}
		out := c.Found(c.now, []Taken{{Ref: 1, Job: j}})
		want := PutBack
		if same {
			want = Deliver
		}
		if i := slices.IndexFunc(out.Orders, func(o Order) bool { return o.Kind == want }); i < 0 {
			t.Errorf("%s: %+v", fmt.Sprint("the same job: ", same), out.Orders)
		}
	}
}
