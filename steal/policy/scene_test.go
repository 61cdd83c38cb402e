package policy

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Load is what a peer in a scene has to do.
type Load struct{ Workers, Idle, Queued int }

// scene is a peer in a situation, for asking a policy one question. It is a minute past the start.
type scene struct {
	clusters string // "a: a1 a2, b: b1 b2"
	self     PeerID
	load     Load
	flights  string        // victims that have been asked and not answered
	patience time.Duration // of those requests
	asks     string        // thieves that wait here
	lent     int
	failures int // steals in a row that brought nothing
	links    map[ClusterID]Link
	known    map[PeerID]Acquaintance
}

// shown is the scene as a policy sees it.
type shown struct {
	scene
	members *Members
	cluster ClusterID
	rand    Rand
	out     []Flight
	waiting []Ask
}

func (s scene) view() *shown {
	v := &shown{scene: s, members: parseMembers(s.clusters), rand: rand.New(rand.NewPCG(7, 7))}
	me, _ := v.members.Find(s.self)
	v.cluster = me.Cluster
	for _, id := range strings.Fields(s.flights) {
		m, _ := v.members.Find(PeerID(id))
		v.out = append(v.out, Flight{Victim: m.ID, Cluster: m.Cluster, Wide: m.Cluster != v.cluster, Max: 1,
			Since: v.Now(), Patience: s.patience})
	}
	for i, id := range strings.Fields(s.asks) {
		m, _ := v.members.Find(PeerID(id))
		v.waiting = append(v.waiting, Ask{ID: AskID(i + 1), Thief: m.ID, Cluster: m.Cluster,
			Wide: m.Cluster != v.cluster, Max: 4})
	}
	return v
}

func (v *shown) Now() time.Duration          { return time.Minute }
func (v *shown) Self() PeerID                { return v.self }
func (v *shown) Cluster() ClusterID          { return v.cluster }
func (v *shown) Rand() Rand                  { return v.rand }
func (v *shown) Members() *Members           { return v.members }
func (v *shown) MaxPatience() time.Duration  { return 5 * time.Second }
func (v *shown) Workers() int                { return v.load.Workers }
func (v *shown) Idle() int                   { return v.load.Idle }
func (v *shown) Queued() int                 { return v.load.Queued }
func (v *shown) Lent() int                   { return v.lent }
func (v *shown) Failures() int               { return v.failures }
func (v *shown) Flights() []Flight           { return v.out }
func (v *shown) Asks() []Ask                 { return v.waiting }
func (v *shown) Link(c ClusterID) Link       { return v.links[c] }
func (v *shown) Peer(id PeerID) Acquaintance { return v.known[id] }
func (v *shown) InFlight() (local, wide int) {
	for _, f := range v.out {
		if f.Wide {
			wide++
		} else {
			local++
		}
	}
	return local, wide
}

func (v *shown) BestRate() (best float64) {
	for c, l := range v.links {
		if c != v.cluster {
			best = max(best, l.BytesPerSecond)
		}
	}
	return best
}

func (v *shown) OutcomeBytes() (most float64) {
	for c, l := range v.links {
		if c != v.cluster {
			most = max(most, l.OutcomeBytes)
		}
	}
	return most
}

func (v *shown) Usable(id PeerID) bool {
	_, member := v.members.Find(id)
	return member && id != v.self && !slices.ContainsFunc(v.out, func(f Flight) bool { return f.Victim == id })
}

func parseMembers(s string) *Members {
	var list []Member
	for _, c := range strings.Split(s, ",") {
		name, ids, _ := strings.Cut(c, ":")
		for _, id := range strings.Fields(ids) {
			id, guest := strings.CutSuffix(id, "*")
			list = append(list, Member{ID: PeerID(id), Cluster: ClusterID(strings.TrimSpace(name)), Guest: guest})
		}
	}
	return NewMembers(list)
}

// said asks the policy and writes its answer down: steals by cluster, pushes, tells and refusals.
func (s scene) said(p Policy) string {
	v := s.view()
	var plan Plan
	p.Plan(v, &plan)
	return v.say(&plan)
}

func (v *shown) say(plan *Plan) string {
	var words []string
	for _, x := range plan.Steals {
		m, _ := v.members.Find(x.Victim)
		word := "steal"
		if x.Max == 0 {
			word = "probe"
		}
		if x.Patience > 0 {
			word = "wait at"
		}
		words = append(words, fmt.Sprintf("%s %s", word, m.Cluster))
	}
	for _, x := range plan.Pushes {
		words = append(words, fmt.Sprintf("push %d", x.Max))
	}
	for _, x := range plan.Tells {
		words = append(words, fmt.Sprintf("tell %s", x))
	}
	for _, x := range plan.Refusals {
		words = append(words, fmt.Sprintf("refuse %d", x))
	}
	return strings.Join(words, ", ")
}

const twoClusters = "a: a1 a2 a3, b: b1 b2 b3"

var idleOne = Load{Workers: 1, Idle: 1}

// orTwo fills in what most scenes have.
func (s scene) orTwo() scene {
	s.clusters, s.self = cmp.Or(s.clusters, twoClusters), cmp.Or(s.self, "a1")
	return s
}
