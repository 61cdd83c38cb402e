package peer

import (
	"slices"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/peer/gateway"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/statement"
)

// A page that has lost its gateway goes on at another member's. Members tell of theirs in their cards; a ticket that
// one of the swarm has signed is good at all, as long as that one is a member, and says which page it is for.

// PageOf is the page that a ticket was made for: see gateway.House.
func (v *visitors) PageOf(ticket []byte) (statement.Origin, error) {
	t, err := v.open(ticket)
	if err != nil {
		return "", err
	}
	return t.Page, nil
}

// outdated says whether a tab has an application in another version than the page that this peer serves: it was loaded
// before this peer's program was replaced, and would wait for ever for runs that it fits.
func (v *visitors) outdated(list []statement.App) bool {
	apps, err := gateway.Apps(v.dist)
	return err == nil && slices.ContainsFunc(list, func(a statement.App) bool {
		now, has := apps[a.Name]
		return has && now != hexVersion(string(a.Version[:]))
	})
}

// Others are the gateways of other members, at addresses that mean the same here as to them: see gateway.House.
func (v *visitors) Others() (list []gateway.Another) {
	for _, c := range v.runs.swarm.members.List() {
		if c.Gateway == "" || !v.means(c) {
			continue
		}
		list = append(list, gateway.Another{Member: c.Peer.String(), Hand: v.host.Branch(c.Peer), At: c.Gateway})
	}
	return list
}

// means says whether the address of a member's gateway is the same machine's here, as far as a name shows that.
func (v *visitors) means(c *members.Card) bool {
	at := c.Gateway.Address()
	if !at.IsValid() {
		return true
	}
	m, err := manet.FromIP(at.AsSlice())
	return err == nil && len(v.host.Dialable([]ma.Multiaddr{m}, v.linkTo(c.Peer))) > 0
}
