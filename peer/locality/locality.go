package locality

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Config is what New needs. Fields left zero take the defaults that are named.
type Config struct {
	Self  string // this peer's ID
	Label string // of the cluster that the user says it is in; "" to find out

	NearRTT    time.Duration // shorter round trips are within a cluster: default 5 ms
	LeaveRTT   time.Duration // a near peer stays near up to this: default one and a half times NearRTT
	LeaveAfter int           // samples over LeaveRTT in a row that make a near peer far: default 15
	// CoordinatesAbove is how many members make distances by coordinates count: default 1,000.
	CoordinatesAbove int
	MaxMembers       int // of more, those with the smallest IDs count: default 16,384
}

// Member is what is known of another peer, mostly from its card.
type Member struct {
	ID       string
	Label    string    // that it was given
	Cluster  string    // that it says it is in: Place.Cluster of its own Map
	Networks []string  // prefixes of its private networks, in any form as long as all use the same
	Public   []string  // public addresses it is seen at, without ports
	Position []float64 // its Map's Position
}

// Place is a peer's place.
type Place struct {
	Cluster string // never empty
	Why     string // in words: "label", "same LAN", "round trip 0.8 ms", "distance by coordinates 3.1 ms", ...
	Leader  string // ID of the peer that the cluster is named after; "" if it is named by a label
}

// Map knows the places of the members of a swarm.
type Map struct {
	cfg      Config
	networks []string
	public   []string
	members  map[string]*member
	ids      []string // of the members, sorted
	position *position

	mine  Place
	fresh bool // mine is up to date
	turn  uint64
}

type member struct {
	Member
	rtt      samples
	estimate time.Duration // by coordinates; 0: unknown
	byMap    bool          // near by coordinates
	asked    uint64        // turn of Probe in which it was last named
}

// New makes the map of a peer that knows nobody yet.
func New(cfg Config) (*Map, error) {
	if cfg.Self == "" {
		return nil, errors.New("locality: Config.Self must be set")
	}
	if cfg.Label != "" {
		if err := CheckLabel(cfg.Label); err != nil {
			return nil, err
		}
	}
	cfg.NearRTT = cmp.Or(cfg.NearRTT, 5*time.Millisecond)
	cfg.LeaveRTT = cmp.Or(cfg.LeaveRTT, cfg.NearRTT*3/2)
	if cfg.LeaveRTT < cfg.NearRTT {
		return nil, fmt.Errorf("locality: LeaveRTT %v is below NearRTT %v", cfg.LeaveRTT, cfg.NearRTT)
	}
	cfg.LeaveAfter = cmp.Or(cfg.LeaveAfter, 15)
	cfg.CoordinatesAbove = cmp.Or(cfg.CoordinatesAbove, 1000)
	cfg.MaxMembers = cmp.Or(cfg.MaxMembers, 16<<10)
	p, err := newPosition()
	if err != nil {
		return nil, err
	}
	return &Map{cfg: cfg, members: map[string]*member{}, position: p}, nil
}

// leaderMark begins the names of clusters that are named after their leader; labels must not.
const leaderMark = "~"

// maxLabel is how many bytes a label may have.
const maxLabel = 64

// CheckLabel says what is wrong with a label, if anything: it must have 1 to 64 bytes and not begin with "~".
func CheckLabel(label string) error {
	switch {
	case label == "":
		return errors.New("a cluster's name must not be empty")
	case len(label) > maxLabel:
		return fmt.Errorf("a cluster's name has %d bytes, at most %d are allowed", len(label), maxLabel)
	case strings.HasPrefix(label, leaderMark):
		return fmt.Errorf(
			"a cluster's name must not begin with %q: such names are given to clusters that were found by measuring", leaderMark)
	}
	return nil
}

// nameOf is the name of the cluster that a peer leads: the last characters of its ID, which differ for peers.
func nameOf(leader string) string {
	const characters = 12
	return leaderMark + leader[max(0, len(leader)-characters):]
}

// label returns a member's label, unless it is not one.
func (m *member) label() string {
	if CheckLabel(m.Label) != nil {
		return ""
	}
	return m.Label
}

// SetSelf says where this peer is: the prefixes of its private networks and its public addresses, in the form that
// members' are.
func (m *Map) SetSelf(networks, public []string) {
	m.networks, m.public = slices.Clone(networks), slices.Clone(public)
	m.fresh = false
}

// SetMembers says who is in the swarm besides this peer. What was measured of those who stay is kept, of others it is
// forgotten.
func (m *Map) SetMembers(list []Member) {
	list = slices.DeleteFunc(slices.Clone(list), func(x Member) bool { return x.ID == "" || x.ID == m.cfg.Self })
	slices.SortStableFunc(list, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	list = slices.CompactFunc(list, func(a, b Member) bool { return a.ID == b.ID })
	if len(list) > m.cfg.MaxMembers {
		list = list[:m.cfg.MaxMembers]
	}
	members := make(map[string]*member, len(list))
	m.ids = m.ids[:0]
	for _, x := range list {
		known := m.members[x.ID]
		if known == nil {
			known = &member{}
		}
		known.Member = x
		members[x.ID] = known
		m.ids = append(m.ids, x.ID)
	}
	for id := range m.members {
		if members[id] == nil {
			m.position.forget(id)
		}
	}
	m.members = members
	m.fresh = false
	m.estimateAll()
}

// Measured notes a round trip to a member, which must be of the network and not of somebody's work. Samples
// that are not positive, or above ten seconds, are dropped, and so are those of peers that are not members.
func (m *Map) Measured(id string, rtt time.Duration) {
	x := m.members[id]
	if x == nil || rtt <= 0 || rtt > maxRTT {
		return
	}
	x.rtt.add(rtt, m.cfg)
	m.position.update(id, x.Position, rtt)
	m.fresh = false
}

// RTT is the shortest of the last five round trips to a member; 0 if there is none.
func (m *Map) RTT(id string) time.Duration {
	if x := m.members[id]; x != nil {
		return x.rtt.min()
	}
	return 0
}

// Position is this peer's in the coordinate system, for its card; nil before anything was measured against
// the position of another.
func (m *Map) Position() []float64 { return m.position.encode() }

// Of is the place of a member: what it says itself. Of a peer that has not said anything, or is not a member,
// the place is a cluster of its own.
func (m *Map) Of(id string) Place {
	if id == m.cfg.Self {
		return m.Mine()
	}
	x := m.members[id]
	switch {
	case x == nil:
		return Place{nameOf(id), "not a member", id}
	case x.label() != "":
		return Place{x.label(), "label", ""}
	case x.Cluster == "" || len(x.Cluster) > maxLabel:
		return Place{nameOf(id), "has not said", id}
	}
	return Place{x.Cluster, "says so", ""}
}
