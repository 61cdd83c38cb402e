//go:build unix

package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// peers is how many processes a swarm begins with.
const peers = 8

// clusters is in how many clusters they are.
const clusters = 3

// A Plan is all that a seed decides.
type Plan struct {
	Seed  uint64
	Theme string
	Task  string // the application and its arguments
	Owner int    // the process that the run is submitted to
	// Policy and Recovery are how jobs are stolen, and what becomes of those of lost peers.
	Policy, Recovery string
	Small            []int  // processes whose disk is small
	Liars            []int  // processes that lie
	Verify           string // how their results are compared; "" if nobody lies
	Acts             []Act  // one after the other
}

// A Kind is a kind of fault.
type Kind string

// The kinds of faults.
const (
	Kill  Kind = "kill"           // SIGKILL
	Stop  Kind = "stop"           // SIGSTOP, and SIGCONT after a time
	Pause Kind = "pause"          // satin-peer pause, and resume after a time: it is there and has no core
	Term  Kind = "terminate"      // SIGTERM: leaves
	Leave Kind = "leave"          // satin-peer leave
	Cut   Kind = "cut off"        // cannot reach the others, for a time
	Fill  Kind = "fill disk of"   // no room is left on its disk, for a time
	Reap  Kind = "reap"           // SIGKILL for the processes that compute for it
	Enter Kind = "enter newcomer" // processes that were not there before

	// What the owner, or whoever has its checkpoint, does to the run.
	Suspend Kind = "suspend at"       // satin-peer suspend
	Resume  Kind = "resume at"        // satin-peer resume RUN
	Copy    Kind = "resume a copy at" // satin-peer resume DIRECTORY, of the owner's checkpoint
)

// An Act is one fault.
type Act struct {
	Kind   Kind
	Who    []int         // processes, by number
	Master bool          // besides them whoever holds the root job at that moment
	On     Cue           // when
	For    time.Duration // how long, for those that end
	Back   Cue           // when those that ended are started again
	Return []int         // which of them are; nil: all
}

// A Cue is what is seen of the run when something is to happen.
type Cue struct {
	Sign  Sign
	Share float64 // Progress, Holding: of the jobs, at least
}

// A Sign is what can be seen.
type Sign string

// The signs.
const (
	Never    Sign = "never"
	AtOnce   Sign = "at once"
	Progress Sign = "when part of it is done"
	Holding  Sign = "when they have jobs of others"
	Takeover Sign = "when another peer has the root job"
	Ended    Sign = "when the run has ended"
	There    Sign = "when they are there"
	// Compiling is for modules: a process computes for each, and one of these has not come to its first job.
	Compiling Sign = "when they compile"
)

func (c Cue) String() string {
	text := string(c.Sign)
	if c.Share > 0 {
		text += fmt.Sprintf(", at %.0f %%", 100*c.Share)
	}
	return text
}

func (a Act) String() string {
	who := strings.Trim(fmt.Sprint(a.Who), "[]")
	if a.Master {
		who = strings.TrimSpace(who + " master")
	}
	text := fmt.Sprintf("%s %s %s", a.Kind, who, a.On)
	switch {
	case a.For == forGood:
		text += ", for good"
	case a.For > 0:
		text += fmt.Sprintf(", for %v", a.For)
	case a.Kind == Kill || a.Kind == Term || a.Kind == Leave:
		text += ", back "
		if a.Return != nil {
			text += strings.Trim(fmt.Sprint(a.Return), "[]") + " "
		}
		text += a.Back.String()
	}
	return text
}

func (p Plan) String() string {
	var acts []string
	for _, a := range p.Acts {
		acts = append(acts, a.String())
	}
	text := fmt.Sprintf("seed %d, %s: %s by peer %d, %s, %s", p.Seed, p.Theme, p.Task, p.Owner, p.Policy, p.Recovery)
	if len(p.Liars) > 0 {
		text += fmt.Sprintf(", %v lie, --verify %s", p.Liars, p.Verify)
	}
	if len(p.Small) > 0 {
		text += fmt.Sprintf(", small disks %v", p.Small)
	}
	return text + "; " + strings.Join(acts, "; ")
}

// isolates says whether the plan needs a network that can be cut.
func (p Plan) isolates() bool { return p.has(Cut) }

func (p Plan) has(k Kind) bool {
	return slices.ContainsFunc(p.Acts, func(a Act) bool { return a.Kind == k })
}

// fills says whether the disk of a process is full until the end.
func (p Plan) fills(number int) bool {
	return slices.ContainsFunc(p.Acts, func(a Act) bool {
		return a.Kind == Fill && a.For == forGood &&
			slices.Contains(a.Who, number)
	})
}

// forGood is longer than any trial.
const forGood = time.Hour

// A draw makes a plan.
type draw struct {
	*rand.Rand
	Plan
	fates []int // processes that no act is about yet, the owner excepted
}

// Tasks take about five seconds of one core each: the faults come in the midst of them, and eight processes
// share what there is. In three jobs share: a constant and a lattice, versions of an object, constants. The last
// ones are modules, which the others fetch; the second one has a lattice for its bound.
var short = []string{"nqueens 17", "raytracer balls --samples 3", "tsp --random 110 --seed 1",
	"barneshut 20000 --steps 20 --variant objects", "gene --generate 8,600,800 --threshold 1000000",
	"../../../examples/queens-c/queens.wasm 15", "../../../examples/golomb-c/golomb.wasm 11"}

// long ones take up to twenty.
var long = append(slices.Clone(short), "fib 43", "uts T3L", "uts T1L", "raytracer balls --samples 4 --size 640x640",
	"sat --waerden 4,7,109", "fib 45", inGo+"../../../apps/nqueens 17", inGo+"../../../examples/golomb 11")

// inGo begins the name of a module that is made of a package in Go, a folder.
const inGo = "module:"

// compiled are modules that take a second to compile, so that something can happen meanwhile.
var compiled = []string{inGo + "../../../apps/nqueens 16", inGo + "../../../examples/golomb 10"}

// compared are those whose results can be compared.
var compared = []string{"nqueens 16", "raytracer balls --samples 3", "gene --generate 8,600,800 --threshold 1000000"}

// themes are what a plan can be about; every seed has the one after that of the seed before.
var themes = []struct {
	name string
	draw func(d *draw)
}{
	{"some are killed", (*draw).someKilled},
	{"some stop and go on", (*draw).someStop},
	{"some leave", (*draw).someLeave},
	{"the network is divided", (*draw).divided},
	{"disks are full", (*draw).full},
	{"the owner is killed", (*draw).ownerKilled},
	{"the owner stops and goes on", (*draw).ownerStops},
	{"the owner leaves", (*draw).ownerLeaves},
	{"all but one are killed", (*draw).nearlyAll},
	{"all are killed", (*draw).allKilled},
	{"the run is suspended", (*draw).suspended},
	{"all kinds", (*draw).mixture},
	{"processes that compute are killed", (*draw).reaped},
	{"one lies", (*draw).oneLies},
	{"processes that compile are killed", (*draw).compiling},
	{"users want their cores", (*draw).somePaused},
}

// Draw makes the plan of a seed.
func Draw(seed uint64, brief bool) Plan {
	theme := themes[seed%uint64(len(themes))]
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 0x6368616f73)), Plan: Plan{Seed: seed, Theme: theme.name}}
	tasks := long
	if brief {
		tasks = short
	}
	d.Task, d.Owner = tasks[d.IntN(len(tasks))], d.IntN(peers)
	for _, n := range d.Perm(peers) {
		if n != d.Owner {
			d.fates = append(d.fates, n)
		}
	}
	theme.draw(d)
	d.Policy, d.Recovery = "adaptive", "salvage"
	if d.IntN(3) == 0 {
		d.Policy = policies[d.IntN(len(policies))]
	}
	if d.IntN(6) == 0 {
		d.Recovery = "naive"
	}
	if len(d.Liars) > 0 {
		d.Task = compared[d.IntN(len(compared))]
	}
	return d.Plan
}

// policies are those there are besides the default.
var policies = []string{"rs", "crs", "chs", "cmrs", "acrs", "push", "load", "master"}

// some takes so many processes, at least one, that no act is about yet.
func (d *draw) some(least, most int) []int {
	n := min(least+d.IntN(most-least+1), len(d.fates))
	who := slices.Clone(d.fates[:n])
	d.fates = d.fates[n:]
	return who
}

// on draws when an act about processes happens: mostly when they work for others, so that there is something to lose.
func (d *draw) on() Cue {
	sign := Holding
	if d.IntN(3) == 0 {
		sign = Progress
	}
	return Cue{sign, d.Float64() * 0.6}
}

// cluster lists the processes of one.
func cluster(which int) (who []int) {
	for n := which; n < peers; n += clusters {
		who = append(who, n)
	}
	return who
}

// back draws when processes come back, if at all.
func (d *draw) back() Cue {
	return []Cue{{Sign: Never}, {Sign: Never}, {Sign: AtOnce}, {Sign: Ended}}[d.IntN(4)]
}

// span draws how long something lasts: below and above what it takes the others to notice.
func (d *draw) span() time.Duration {
	return []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond,
		6 * time.Second, 9 * time.Second}[d.IntN(5)]
}

func (d *draw) act(a Act) { d.Acts = append(d.Acts, a) }

func (d *draw) someKilled() {
	for range 1 + d.IntN(2) {
		d.act(Act{Kind: Kill, Who: d.some(1, 3), On: d.on(), Back: d.back()})
	}
}

// reaped kills the processes that compute, when they begin, in the midst and when others rely on them; each once, as
// a peer leaves a run alone that ended two. Now and then the owner's is among them, or a daemon with its own.
func (d *draw) reaped() {
	who := d.some(1, 3)
	if d.IntN(2) == 0 {
		who = append(who, d.Owner)
	}
	d.act(Act{Kind: Reap, Who: who, On: []Cue{{Sign: AtOnce}, {Progress, 0.5 * d.Float64()}, d.on()}[d.IntN(3)]})
	d.act(Act{Kind: Reap, Who: d.some(1, 2), On: d.on()})
	if d.IntN(2) == 0 {
		d.act(Act{Kind: Kill, Who: d.some(1, 1), On: d.on(), Back: d.back()})
	}
}

// compiling kills processes that check or compile a module, the owner's and daemons with their own among them, and one
// that has come to jobs: each once.
func (d *draw) compiling() {
	d.Task = compiled[d.IntN(len(compiled))]
	who := d.some(1, 3)
	if d.IntN(2) == 0 {
		who = append(who, d.Owner)
	}
	d.act(Act{Kind: Reap, Who: who, On: Cue{Sign: Compiling}})
	if d.IntN(2) == 0 {
		d.act(Act{Kind: Kill, Who: d.some(1, 2), On: Cue{Sign: Compiling}, Back: d.back()})
	}
	d.act(Act{Kind: Reap, Who: d.some(1, 2), On: d.on()})
}

// oneLies has a process lie whom the founder, the first of all, has let in; others may be killed besides. Where spot
// checks are to find it, it makes all of its jobs up.
func (d *draw) oneLies() {
	d.fates = slices.DeleteFunc(d.fates, func(n int) bool { return n == 0 })
	d.Liars, d.Verify = d.some(1, 1), []string{"quorum=2", "doubt=1e-4", "spot=0.05"}[d.IntN(3)]
	if d.IntN(2) == 0 {
		d.act(Act{Kind: Kill, Who: d.some(1, 2), On: Cue{Progress, 0.5 * d.Float64()}, Back: d.back()})
	}
}

func (d *draw) someStop() {
	for range 1 + d.IntN(2) {
		d.act(Act{Kind: Stop, Who: d.some(1, 2), On: d.on(), For: d.span()})
	}
}

// somePaused pauses some, the owner now and then, and so long that another peer goes on with its root; one of the
// others may be killed meanwhile.
func (d *draw) somePaused() {
	who := d.some(1, 3)
	lasts := d.span()
	if d.IntN(2) == 0 {
		who, lasts = append(who, d.Owner), lasts+[]time.Duration{0, 12 * time.Second}[d.IntN(2)]
	}
	d.act(Act{Kind: Pause, Who: who, On: d.on(), For: lasts})
	if d.IntN(2) == 0 {
		d.act(Act{Kind: Kill, Who: d.some(1, 1), On: d.on(), Back: d.back()})
	}
}

// someLeave has single peers leave, or all of a cluster.
func (d *draw) someLeave() {
	kind := []Kind{Term, Leave}[d.IntN(2)]
	if d.IntN(3) == 0 {
		d.act(Act{Kind: kind, Who: cluster((d.Owner + 1) % clusters), On: d.on(), Back: d.back()})
		return
	}
	d.act(Act{Kind: kind, Who: d.some(1, 3), On: d.on(), Back: d.back()})
}

// divided cuts off single peers, a cluster, or half of all, with the owner on this side or on that.
func (d *draw) divided() {
	switch d.IntN(3) {
	case 0:
		d.act(Act{Kind: Cut, Who: d.some(1, 1), On: d.on(), For: d.span()})
	case 1:
		d.act(Act{Kind: Cut, Who: cluster(d.IntN(clusters)), On: d.on(), For: d.span()})
	default:
		d.act(Act{Kind: Cut, Who: d.some(peers/2, peers/2), On: d.on(), For: d.span()})
	}
}

// full fills disks, the owner's now and then.
func (d *draw) full() {
	who := d.some(1, 2)
	if d.IntN(2) == 0 {
		who = append(who, d.Owner)
	}
	d.Small = who
	lasts := forGood
	if d.IntN(2) == 0 {
		lasts = d.span()
	}
	d.act(Act{Kind: Fill, Who: who, On: Cue{Sign: Progress, Share: 0.3 * d.Float64()}, For: lasts})
	if d.IntN(2) == 0 {
		d.act(Act{Kind: Kill, Who: d.some(1, 2), On: d.on(), Back: Cue{Sign: Never}})
	}
}

// again draws when an owner comes back: before another peer has taken over, after that, or when all is done.
// It does come back: only the owner can be asked for the answer.
func (d *draw) again() Cue {
	return Cue{Sign: []Sign{AtOnce, Takeover, Ended}[d.IntN(3)]}
}

// ownerKilled kills the owner, and now and then whoever goes on.
func (d *draw) ownerKilled() {
	d.act(Act{Kind: Kill, Who: []int{d.Owner}, On: Cue{Progress, 0.5 * d.Float64()}, Back: d.again()})
	for range d.IntN(3) {
		d.act(Act{Kind: Kill, Master: true, On: Cue{Sign: Takeover}, Back: d.back()})
	}
}

func (d *draw) ownerStops() {
	d.act(Act{Kind: Stop, Who: []int{d.Owner}, On: Cue{Progress, 0.5 * d.Float64()}, For: d.span() + 6*time.Second})
}

func (d *draw) ownerLeaves() {
	kind := []Kind{Term, Leave}[d.IntN(2)]
	d.act(Act{Kind: kind, Who: []int{d.Owner}, On: Cue{Progress, 0.5 * d.Float64()}, Back: d.again()})
}

// nearlyAll leaves one, the owner or another.
func (d *draw) nearlyAll() {
	var gone []int
	last := d.IntN(peers)
	for n := range peers {
		if n != last && n != d.Owner {
			gone = append(gone, n)
		}
	}
	cue := d.on()
	if last != d.Owner {
		d.act(Act{Kind: Kill, Who: []int{d.Owner}, On: cue, Back: d.again()})
		cue = Cue{Sign: AtOnce}
	}
	d.act(Act{Kind: Kill, Who: gone, On: cue, Back: d.back()})
}

// allKilled kills all, and has the owner and some others start again, or others alone, with a copy of the
// owner's checkpoint.
func (d *draw) allKilled() {
	on := Cue{Progress, 0.2 + 0.5*d.Float64()}
	if d.IntN(3) == 0 {
		d.restart(on, d.fates[:1+d.IntN(peers-1)])
		d.act(Act{Kind: Copy, Who: d.fates[:1], On: Cue{Sign: There}})
		return
	}
	d.restart(on, append(slices.Clone(d.fates[:d.IntN(peers)]), d.Owner))
}

// restart kills all and starts some of them again.
func (d *draw) restart(on Cue, some []int) {
	all := append(slices.Clone(d.fates), d.Owner)
	some = slices.Clone(some)
	slices.Sort(all)
	slices.Sort(some)
	d.act(Act{Kind: Kill, Who: all, On: on, Back: Cue{Sign: AtOnce}, Return: some})
}

// suspended has the run suspended, and resumed: at once, when all were killed, or elsewhere.
func (d *draw) suspended() {
	d.act(Act{Kind: Suspend, Who: []int{d.Owner}, On: Cue{Progress, 0.1 + 0.6*d.Float64()}})
	switch d.IntN(3) {
	case 0:
		d.act(Act{Kind: Resume, Who: []int{d.Owner}, On: Cue{Sign: AtOnce}})
	case 1:
		d.restart(Cue{Sign: AtOnce}, append(slices.Clone(d.fates[:d.IntN(peers)]), d.Owner))
		d.act(Act{Kind: Resume, Who: []int{d.Owner}, On: Cue{Sign: There}})
	case 2:
		d.act(Act{Kind: Copy, Who: d.fates[:1], On: Cue{Sign: AtOnce}})
	}
}

// mixture has several kinds, and newcomers.
func (d *draw) mixture() {
	newcomer := peers
	for range 3 {
		switch d.IntN(6) {
		case 0:
			d.act(Act{Kind: Kill, Who: d.some(1, 2), On: d.on(), Back: d.back()})
		case 1:
			d.act(Act{Kind: Stop, Who: d.some(1, 1), On: d.on(), For: d.span()})
		case 2:
			d.act(Act{Kind: Term, Who: d.some(1, 1), On: d.on(), Back: d.back()})
		case 3:
			d.act(Act{Kind: Cut, Who: d.some(1, 2), On: d.on(), For: d.span()})
		case 4:
			d.act(Act{Kind: Enter, Who: []int{newcomer}, On: Cue{Sign: Progress, Share: 0.3 * d.Float64()}})
			newcomer++
		case 5:
			d.act(Act{Kind: Pause, Who: d.some(1, 2), On: d.on(), For: d.span()})
		}
	}
}
