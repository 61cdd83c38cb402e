// Package host is one process's place in the network: who it is, whom it trusts, how it finds others, and the
// connections it has.
//
// # Identity
//
// A peer is its Ed25519 key, in the state directory; the peer ID in base58 is its name everywhere. The state
// directory belongs to one process at a time. Each start has a number, the incarnation, that is on the disk
// before the peer is heard of.
//
// # Trust
//
// A swarm has a name and an Ed25519 key. A certificate says "this peer is a member"; the swarm's key signs
// that of its founder, a member who may invite signs those of others, at most four in a row. Whoever shows a
// chain of certificates from the swarm's key to its own peer ID is a member for every member, even when
// those who signed it are gone. So the founder may go.
//
// A peer that has met nobody is the founder of a swarm of its own, whose key it has just made. By joining
// another it gives that up.
//
//   - An invitation line holds addresses of the inviter, the swarm's name and key, and a secret. The newcomer
//     shows the secret to the inviter, over an encrypted connection on which the inviter has proven its peer
//     ID, and to nobody else. The inviter counts the uses, on disk, and answers with a certificate, which the
//     newcomer keeps. Both check the other's chain. The inviter must run at that moment and not later.
//   - The allow-list (Allow) lets a peer in by its ID. If the member that allows it may invite, the
//     peer gets a certificate when it first connects at its user's wish, by address; otherwise only members
//     that have it on their lists let it in.
//   - Revoke keeps a peer out, and those whose chains go through it. It is on a list of this peer's own, and, if this
//     peer may invite, a signed statement that others pass on and honour for all who are members by it; the founder's
//     for everybody. Of one subject an author's highest number counts. A peer that is on the allow-list is let in here
//     all the same.
//   - TrustOpen has none of this: whoever gives the swarm's name is in. It is for a network that others cannot reach.
//
// A member can do everything, except that only some may sign certificates. An outsider can open a connection,
// say hello within ten seconds, and meanwhile use what libp2p itself offers anybody (identify, ping, asking
// whether it can be reached), all at a limited rate. A thief of peer.key can be that peer until it is revoked; a
// thief of swarm.key can make members. The rest of the state directory holds no secret but hashes of those of
// invitations.
//
// Copying swarm.key into the state directory of another peer before its first start makes that one a founder too.
//
// # The handshake
//
// The dialer of a connection opens /satin/hello/1 and says its protocol versions, its swarm and its proof;
// the other answers with its own, or with the reason why not, which becomes the dialer's error, and hangs up.
// Until it has succeeded no other protocol of the house passes: the libp2p host that Network returns holds
// streams back in both directions. A certificate names a peer ID and the connection proves it, so there is
// nothing to replay.
//
// # Finding others
//
// While no member is connected, what Config.Bootstrap names is tried, ever more slowly, and so are members that
// this peer only knows by what others passed on (Heard; 64 of them are remembered in a file). While there are fewer
// than Config.MinPeers, known addresses are: those where members were met (remembered in a file), those that
// members tell each other after a handshake and then once a minute over /satin/peers/1 (each list signed by
// the peer whose addresses they are), and those heard on the local network, where only members of one swarm
// hear each other. A stream to a member whose address is not known asks the swarm's own Kademlia. Every five
// minutes one more known member is dialed, so that a swarm that was split grows together again.
//
// # Being reached
//
// With Config.NAT a peer asks members to connect to its addresses (AutoNAT), asks the router to forward a
// port, keeps a place at members that relay, and punches holes. Reachability says what came of it, address by
// address. Relayed connections are limited: libp2p gives them to streams only if the context allows it
// (network.WithAllowLimitedConn).
//
// # Bounds
//
// Frames, lists, files, streams, connections per peer and per address, strangers waiting, and attempts per
// peer are all bounded; nothing waits for another peer longer than its deadline.
package host
