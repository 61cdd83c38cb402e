package policy

import (
	"slices"
	"time"
)

// Adaptive is the default policy. Like CRS it steals inside the cluster while one wide-area request is out,
// and draws the remote peer alike from all of a cluster, so that no small cluster is favoured; it differs in
// when, whom and how it asks.
//
// When. A peer goes across clusters only after a local steal has failed, but for one of two far from all others. CRS
// does it whenever a worker is idle, to hide the latency (CRS paper, 2.2), and brings home more than twice as many
// jobs. Every job that crosses makes the way back longer, since at the end results come home hop by hop, and each has
// to get through the link as a whole. For the same reason only pioneers of each cluster ask when a run begins: they
// ask all clusters, as nobody knows yet where the root is. If all peers did, they would carry the largest jobs from
// cluster to cluster before these have been divided; a ray tracer whose topmost job has crossed three links has to
// send nearly the whole picture over each of them after the last ray.
//
// Whom. The chance of a cluster is in proportion to the square of (how often it had work lately) / (how long
// a steal and the way home of its result take). ACRS's equation 2 counts only the time of requests and, as
// CRS, forgets what they brought (3.6). A cluster whose time is far beyond the best one's is not stolen from
// before one has been idle for that long: so a slow steal costs at most twice what it must, and a result that
// takes minutes over 1 KB/s, which is what ruins CRS and ACRS in scenarios 10 and 11, is not asked for. In the cluster
// each peer is as likely, but who has given a job and has more is asked first where the chance of others is small. A
// link that has never been measured is measured first: a request over it waits at the victim until the victim
// knows the way.
//
// Dryness. A request from a cluster says that it has no work, so its own chance falls. A peer whose local
// steals go on failing stops drawing: it leaves patient requests with a few neighbours whose graph is
// connected (the lifelines of Saraswat et al., PPoPP 2011), so that work spreads through an idle cluster from
// wherever it comes in, without polling. Who gets some for one of several workers draws for the others again, since
// then there is more. Between clusters a few ms apart requests wait as well, two pauses long: a program that goes on in
// steps has work for all at once, in one cluster, and those of the others would only have heard of it when they next
// asked. Their patience, and the pauses between wide-area requests that bring nothing, double up to a second, the
// latter later if clusters are near: a peer that stays idle sends a few messages a second.
//
// Giving. Work goes to the own cluster first. A peer with nothing left steals on behalf of the requests that
// wait with it.
//
// Results. Route sends a result through a third cluster if the straight way looks bad or did not answer (3.6
// proposes it and shies at the topology one would have to know; here the two ways alternate, or are taken at once by
// what is small, and the first copy to come is used).
//
// What was tried and lost, at 200 ms and 100 KB/s: several wide-area requests at once (3.5 found the same),
// wide-area batches, stealing across clusters ahead of idleness, or only after several local failures,
// patient wide-area requests (which pay where a steal takes a few ms), and keeping back what came from another cluster.
// In scenarios 5 and 8 of the CRS paper, in which links change every second, these gained nothing that 8 to 12 seeds
// show: asking across clusters whenever a worker is idle, as CRS does, and two or four jobs a request, both of which
// have peers idle less in the middle of a run and more at its start or end; asking a near cluster while a far one
// has not answered; and all peers as pioneers. In scenario 8 ACRS loses 22 to 33 worker seconds less at the start,
// and with all as pioneers ours loses 23 less, but 80 to 200 more at the end of the ray tracer.
type Adaptive struct {
	far     map[ClusterID]*farCluster
	greeted bool // the clusters have been measured or asked once
	// strangers says that a cluster asked for work to which the way has not been measured.
	strangers bool
	dryAt     time.Duration // since when idle workers have got nothing
	// fails counts the wide-area steals in a row that brought nothing; the next is not sent before wideAt.
	fails  int
	wideAt time.Duration

	of        *Members // whom far, others and the lifelines are about
	mine      ClusterID
	peers     int // of this cluster
	lifelines []PeerID
	others    []*farCluster // of far, all of the membership but this peer's own, by name
}

const (
	// pioneers is how many peers of a cluster ask all others for work when they begin.
	pioneers = 2
	// slowFactor and slowLeast say which clusters are too far to begin with: those beyond slowFactor times
	// the best one's time, and beyond slowLeast, which any link between continents keeps, and one of 1 KB/s
	// does not.
	slowFactor = 2
	slowLeast  = 450 * time.Millisecond
	// probeLeast is the least time between two measurements of a cluster that is too far, probeFactor how
	// many times what the last one took, so that measuring does not itself use the link up.
	probeLeast  = 2 * time.Second
	probeFactor = 5
	// greetMost bounds the clusters that a peer measures or asks when it begins.
	greetMost = 16
	// blindPatience is how long a request may wait for the victim to measure the way back.
	blindPatience = time.Second
	// Requests to clusters from which a steal takes less than quickMost, as within a country, may wait there for
	// quickPauses of the pauses between requests, and for quickPatience at most, which tells them from blind ones.
	quickMost     = 8 * time.Millisecond
	quickPauses   = 2
	quickPatience = blindPatience / 2
	// nearSteal is less than a steal takes from a cluster that is not near, as between two continents.
	nearSteal = 50 * time.Millisecond
	// In clusters of so few peers, far from the others, a local steal need not have failed first: among 16 clusters of
	// two, 200 ms apart, runs took 2 to 4 % longer than under CRS. Near ones would gain little, and lines carry more.
	fewPeers = 2
	// manyPeers is how large a cluster is that asks others often enough although each of its peers pauses for
	// backoffMost; in a smaller one each pauses for that part of it. Among 32 clusters of one, runs took 2 % longer.
	manyPeers = 16
	// localDraws is how many local steals may fail before lifelines are used; their patience doubles with
	// every round.
	localDraws       = 6
	lifelinePatience = 20 * time.Millisecond
	lifelineMost     = time.Second
	lifelineMax      = 8
	// backoffLeast and backoffMost bound the pauses between wide-area requests that bring nothing. So do
	// backoffSteals, in times that a steal from the nearest cluster takes, and backoffIdle, the part of the time that
	// workers have been idle, whichever is longer: a program that goes on in steps has work for all again soon after
	// it had none. With five clusters 1ms apart such a program took 40 % longer when all pauses grew to a second.
	backoffLeast  = time.Millisecond
	backoffMost   = time.Second
	backoffSteals = 16
	backoffIdle   = 8
)

// Name is "adaptive".
func (*Adaptive) Name() string { return "adaptive" }

// Plan steals for idle workers, and for requests that wait here while there is nothing to give.
func (a *Adaptive) Plan(v View, p *Plan) {
	idle := v.Idle()
	if idle == 0 || v.Failures() == 0 {
		a.dryAt = v.Now()
	}
	a.follow(v)
	if !a.greeted && v.Workers() > 0 {
		a.greet(v, p, idle > 0)
	}
	if a.strangers {
		a.probeStrangers(v, p)
	}
	need := idle
	if v.Queued() == 0 && slices.ContainsFunc(v.Asks(), func(x Ask) bool { return begsFor(v, x.Thief) }) {
		need++
	}
	if need == 0 {
		return
	}
	if idle > 0 && (v.Failures() > 0 || a.hides()) {
		a.stealWide(v, p)
	}
	if v.Failures() >= localDraws {
		a.holdLifelines(v, p)
		return
	}
	for n := toDraw(v, need); n > 0; n-- {
		victim, ok := RandomLocal(v)
		if !ok {
			return
		}
		p.Steal(victim, 1, 0)
	}
}

// hides says whether to ask across clusters before a local steal has failed, as CRS does to hide how long that takes:
// alone, or with one neighbour and far from all others. With the same work two have none at the same moment.
func (a *Adaptive) hides() bool {
	return a.peers <= 1 || a.peers <= fewPeers && a.nearest() >= nearSteal
}

// toDraw is how many local steals to send beside those that are out: as many as jobs are wanted or, where all that are
// out wait at lifelines and one has just fed some of the workers here, one at a time for the others. Lifelines say when
// work comes, and not where it is: when some hundred short jobs had been spawned, each machine had got one or two from
// its neighbours, and the rest of its workers waited at others that had none. To draw for all of them at once has the
// first machines get more than their share.
func toDraw(v View, need int) int {
	local, _ := v.InFlight()
	n, idle := need-local, v.Idle()
	drawn := func(f Flight) bool { return !f.Wide && f.Patience == 0 }
	if n <= 0 && idle > 0 && idle < v.Workers() && !slices.ContainsFunc(v.Flights(), drawn) {
		return 1
	}
	return n
}

// begsFor says whether this peer steals for a thief that waits here. Without a worker it does so for its guests alone,
// who know nobody else: a job that came too late to be passed on would stay here.
func begsFor(v View, thief PeerID) bool {
	if v.Workers() > 0 {
		return true
	}
	m, ok := v.Members().Find(thief)
	return ok && m.Guest
}

// Give gives one job to whoever asks, but keeps the own cluster's share: a request from elsewhere is refused,
// or waits if it is patient, while workers or neighbours have nothing, and while the way back has not been
// measured. A patient one was sent before its way was measured, and waits too if the way is too long. The
// sender of another knows best how long its workers have been idle.
func (a *Adaptive) Give(v View, ask Ask) int {
	if !ask.Wide {
		return 1
	}
	a.follow(v)
	f := a.remember(ask.Cluster)
	a.refresh(v, f)
	f.note(v.Now(), false) // it would not ask if it had work
	if v.Idle() > 0 || slices.ContainsFunc(v.Asks(), func(x Ask) bool { return !x.Wide }) {
		return 0
	}
	if f.steal == 0 {
		a.strangers = true
	}
	if blind := ask.Until-ask.Since > quickPatience; f.steal == 0 || blind && f.steal > a.survey(v) {
		return 0
	}
	return 1
}

// holdLifelines leaves a patient request with every lifeline that has none.
func (a *Adaptive) holdLifelines(v View, p *Plan) {
	if len(a.lifelines) == 0 {
		return
	}
	rounds := (v.Failures() - localDraws) / len(a.lifelines)
	patience := min(lifelinePatience<<min(rounds, 8), lifelineMost)
	for _, id := range a.lifelines {
		if v.Usable(id) {
			p.Steal(id, 1, patience)
		}
	}
}

// follow sees to it that what is remembered is about the present membership.
func (a *Adaptive) follow(v View) {
	if a.of == v.Members() && a.mine == v.Cluster() {
		return
	}
	a.of, a.mine, a.lifelines = v.Members(), v.Cluster(), lifelinesOf(v)
	a.peers = len(a.of.Cluster(a.mine).Members)
	a.forget()
	a.others = a.others[:0]
	for _, c := range a.of.Clusters() {
		if c.ID != a.mine {
			a.others = append(a.others, a.remember(c.ID))
		}
	}
}

// lifelinesOf are the peers 1, 2, 4, … places further in the cluster, round and round: with them everybody is
// reached from everybody in a logarithmic number of steps.
func lifelinesOf(v View) (ids []PeerID) {
	mine, me := neighbours(v)
	for d := 1; me >= 0 && d < len(mine) && len(ids) < lifelineMax; d *= 2 {
		ids = append(ids, mine[(me+d)%len(mine)].ID)
	}
	return ids
}

// neighbours are the members of this peer's cluster, and its own place among them; -1 if it is no member.
func neighbours(v View) (all []Member, me int) {
	all = v.Members().Cluster(v.Cluster()).Members
	return all, slices.IndexFunc(all, func(m Member) bool { return m.ID == v.Self() })
}

// jitter draws from half to one and a half times d.
func jitter(v View, d time.Duration) time.Duration {
	return d/2 + time.Duration(v.Rand().Float64()*float64(d))
}
