package peer

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/members"
)

// A door is who comes in, and where this peer goes in itself.
type door struct {
	*base.Base
	host      *host.Host
	members   *members.Members
	meetings  *meetings
	exclusion *exclusion
	reporter  *reporter
	settle    func() // after the host has become a member of another swarm
}

// invite makes an invitation.
func (d *door) invite(ctx context.Context, i control.Invitation) (control.Invited, error) {
	valid := time.Duration(i.Valid * float64(time.Second))
	if i.Valid == 0 {
		valid = 24 * time.Hour
	}
	if valid < time.Minute || valid > 30*24*time.Hour {
		return control.Invited{}, control.Errorf(control.ErrBadInput,
			"an invitation for %s: from a minute to 30 days are possible", valid)
	}
	if i.Peer != "" {
		return d.allow(i.Peer)
	}
	line, err := d.host.Invite(ctx, host.InviteOptions{Uses: i.Uses, For: valid, MayInvite: i.MayInvite})
	if err != nil {
		return control.Invited{}, control.Errorf(control.ErrRefused, "%v", err)
	}
	return control.Invited{Line: line, Swarm: d.host.SwarmName(), Expires: d.Now().Add(valid).UTC()}, nil
}

// allow lets a peer in by name. What it joins by is an address, which is no secret.
func (d *door) allow(name string) (control.Invited, error) {
	id, err := peerID(name)
	if err != nil {
		return control.Invited{}, err
	}
	addrs := d.host.Addrs()
	if len(addrs) == 0 {
		return control.Invited{}, control.Errorf(control.ErrUnavailable,
			"this peer has no address to join by yet: see satin-peer doctor")
	}
	if err := d.host.Allow(id); err != nil {
		return control.Invited{}, listError(err)
	}
	d.exclusion.tell()
	return control.Invited{Line: byUse(addrs)[0], Swarm: d.host.SwarmName()}, nil
}

// revoke puts a peer out.
func (d *door) revoke(name string) error {
	return d.putOut(name, func(id peer.ID) (bool, error) { return true, d.host.Revoke(id) })
}

// condemn puts a liar out.
func (d *door) condemn(name string) error { return d.putOut(name, d.host.Roll().Condemn) }

func (d *door) putOut(name string, f func(peer.ID) (told bool, err error)) error {
	id, err := peerID(name)
	if err != nil {
		return err
	}
	told, err := f(id)
	if err != nil {
		return listError(err)
	}
	if d.exclusion.review(); told {
		d.exclusion.tell()
	}
	return nil
}

// listError is why a peer cannot be put on a list.
func listError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, host.ErrAddress):
		return control.Errorf(control.ErrBadInput,
			"%v: want what 'satin-peer status' shows of that peer, as 12D3KooW…", err)
	case errors.Is(err, host.ErrSelf):
		return control.Errorf(control.ErrBadInput, "that is this peer itself")
	}
	return control.Errorf(control.ErrRefused, "%v", err)
}

// join connects to a member.
func (d *door) join(ctx context.Context, address string) (control.PeerInfo, error) {
	err := d.host.Join(ctx, address)
	switch {
	case err == nil:
	case errors.Is(err, host.ErrAddress), errors.Is(err, host.ErrInvitation), errors.Is(err, host.ErrSelf):
		return control.PeerInfo{}, control.Errorf(control.ErrBadInput, "%v", err)
	case errors.Is(err, host.ErrUnreachable):
		return control.PeerInfo{}, control.Errorf(control.ErrUnavailable, "%v", err)
	default:
		return control.PeerInfo{}, control.Errorf(control.ErrRefused, "%v", err)
	}
	d.settle()
	id := whose(address)
	d.meetings.meet(ctx, id)
	if c := d.members.Get(id); c != nil {
		return d.reporter.describePeer(c), nil
	}
	return control.PeerInfo{Peer: id.String(), Connected: true, State: control.PeerIdle}, nil
}

// whose is the peer that an address or invitation that was good names.
func whose(address string) peer.ID {
	if v, err := host.ParseInvitation(address); err == nil {
		return v.Inviter
	}
	info, err := host.ParseAddr(address)
	if err != nil {
		return ""
	}
	return info.ID
}
