package locality_test

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/locality"
)

func newMap(t *testing.T, cfg locality.Config) *locality.Map {
	t.Helper()
	m, err := locality.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const ms = time.Millisecond

// TestReasons goes through the evidence in the order in which it counts.
func TestReasons(t *testing.T) {
	leader := func(id string) locality.Member { return locality.Member{ID: id, Cluster: "~" + id} }
	home := leader("a")
	home.Networks, home.Public = []string{"192.168.1.0/24"}, []string{"203.0.113.7"}
	beside := leader("b")
	beside.Networks = home.Networks
	labeled := locality.Member{ID: "x", Label: "panda", Cluster: "panda"}
	for _, c := range []struct {
		name     string
		label    string
		members  []locality.Member
		networks []string
		public   []string
		rtt      map[string]time.Duration
		want     locality.Place
	}{
		{name: "alone", want: locality.Place{Cluster: "~m", Why: "no other peer is near", Leader: "m"}},
		{name: "label", label: "das", members: []locality.Member{home}, rtt: map[string]time.Duration{"a": ms},
			want: locality.Place{Cluster: "das", Why: "label"}},
		{name: "same prefix, near", members: []locality.Member{home}, networks: []string{"192.168.1.0/24"},
			rtt: map[string]time.Duration{"a": ms}, want: locality.Place{Cluster: "~a", Why: "same LAN", Leader: "a"}},
		{name: "same prefix of another house", members: []locality.Member{home},
			networks: []string{"192.168.1.0/24"}, rtt: map[string]time.Duration{"a": 20 * ms},
			want: locality.Place{Cluster: "~m", Why: "no other peer is near", Leader: "m"}},
		{name: "same prefix, not measured", members: []locality.Member{home}, networks: []string{"192.168.1.0/24"},
			want: locality.Place{Cluster: "~m", Why: "no other peer is near", Leader: "m"}},
		{name: "same public address, near", members: []locality.Member{home}, public: []string{"203.0.113.7"},
			rtt: map[string]time.Duration{"a": ms}, want: locality.Place{Cluster: "~a", Why: "same LAN", Leader: "a"}},
		{name: "round trip", members: []locality.Member{home},
			rtt:  map[string]time.Duration{"a": 800 * time.Microsecond},
			want: locality.Place{Cluster: "~a", Why: "round trip 0.8 ms", Leader: "a"}},
		{name: "the LAN before the smaller ID", members: []locality.Member{leader("a"), beside},
			networks: home.Networks, rtt: map[string]time.Duration{"a": ms, "b": 2 * ms},
			want: locality.Place{Cluster: "~b", Why: "same LAN", Leader: "b"}},
		{name: "the smaller ID of two", members: []locality.Member{leader("b"), leader("a")},
			rtt:  map[string]time.Duration{"a": 2 * ms, "b": ms},
			want: locality.Place{Cluster: "~a", Why: "round trip 2.0 ms", Leader: "a"}},
		{name: "a label is followed, whatever its bearer's ID", members: []locality.Member{leader("a"), labeled},
			rtt:  map[string]time.Duration{"a": ms, "x": 2 * ms},
			want: locality.Place{Cluster: "panda", Why: "round trip 2.0 ms"}},
		{name: "who does not lead is not followed", members: []locality.Member{{ID: "a", Cluster: "~0"}},
			rtt: map[string]time.Duration{"a": ms}, want: locality.Place{Cluster: "~m",
				Why: "no other peer is near", Leader: "m"}},
		{name: "a larger ID is not followed", members: []locality.Member{leader("z")},
			rtt: map[string]time.Duration{"z": ms}, want: locality.Place{Cluster: "~m",
				Why: "no other peer is near", Leader: "m"}},
		{name: "a leader names its followers' evidence", members: []locality.Member{{ID: "z", Cluster: "~m"}},
			rtt: map[string]time.Duration{"z": ms}, want: locality.Place{Cluster: "~m", Why: "round trip 1.0 ms",
				Leader: "m"}},
		{name: "a label that is not one", members: []locality.Member{{ID: "x", Label: "~m", Cluster: "~m"}},
			rtt: map[string]time.Duration{"x": ms}, want: locality.Place{Cluster: "~m", Why: "round trip 1.0 ms",
				Leader: "m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMap(t, locality.Config{Self: "m", Label: c.label})
			m.SetSelf(c.networks, c.public)
			m.SetMembers(c.members)
			for id, rtt := range c.rtt {
				m.Measured(id, rtt)
			}
			if got := m.Mine(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
