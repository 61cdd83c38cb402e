package host

import "errors"

// What errors of this package wrap. The message of each error says which peer, address or file it is about
// and what to do.
var (
	// ErrAddress: a text is not an address of a peer, or lacks the peer ID.
	ErrAddress = errors.New("not a peer's address")
	// ErrSelf: the address is that of this peer.
	ErrSelf = errors.New("that is this peer itself")
	// ErrUnreachable: nobody answered at the address before the deadline. Trying again later may help.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrWrongPeer: another peer than the one named answered.
	ErrWrongPeer = errors.New("another peer answers there")
	// ErrWrongSwarm: the peer belongs to a swarm of another name or key.
	ErrWrongSwarm = errors.New("another swarm")
	// ErrNotInvited: one of the two does not accept the other as a member.
	ErrNotInvited = errors.New("not a member of the swarm")
	// ErrOut: the membership of a peer, or of one by whom it is a member, was revoked; wrapped in ErrNotInvited.
	ErrOut = errors.New("the membership was revoked")
	// ErrInvitation: an invitation cannot be read, or has expired, is used up, or is not known to the peer
	// that is said to have made it.
	ErrInvitation = errors.New("invitation not valid")
	// ErrVersion: the two speak no common version of the protocol.
	ErrVersion = errors.New("protocol versions differ")
	// ErrBusy: the peer has no room or was asked too often. Trying again later may help.
	ErrBusy = errors.New("too many attempts or connections")
	// ErrHello: the peer did not keep to the handshake.
	ErrHello = errors.New("bad handshake")
	// ErrConfig: a field of Config cannot be used.
	ErrConfig = errors.New("configuration")
	// ErrState: something in the state directory cannot be used.
	ErrState = errors.New("state directory")
	// ErrInUse: another process has the state directory open; wrapped together with ErrState.
	ErrInUse = errors.New("in use by another process")
	// ErrListen: an address cannot be listened on, for example because its port is taken.
	ErrListen = errors.New("cannot listen")
	// ErrClosed: the host was closed.
	ErrClosed = errors.New("host is closed")
	// ErrMayNotInvite: this peer holds neither the swarm's key nor a certificate that lets it invite.
	ErrMayNotInvite = errors.New("this peer may not invite")
)
