// Package gossip tells everybody: announcements of runs, tombstones, cards of members, hints of load. It stands on
// go-libp2p-pubsub (gossipsub), which may lose anything, and promises no more than that.
//
// # What holds
//
//   - Any message may be lost, and messages may come in any order. A message is delivered at most once by a
//     Gossip, and never to its author.
//   - What is delivered was signed by its author, for this swarm, and was not delivered before: sequence
//     numbers are checked against a sliding window for every author. The table of authors is bounded. When it
//     is full, the author that was heard least recently is forgotten, and its old messages could be repeated:
//     what must not happen twice has to be recognized by its content, as runs and tombstones are.
//   - A peer passes on only what it has checked itself: size, form, signature, sequence number, the author's
//     rate, and what the handlers of the kinds inside say. So a peer that sends something false made it, or
//     forwards for one who did; after a few of them it is not listened to for a while.
//   - Publish never blocks, and SetMembers does not wait for the network. Handlers are called one message at a
//     time, and a slow one costs messages, not memory.
//   - It talks to admitted peers only: streams to and from others wait, and fail when the peer is not
//     admitted in time.
//   - Everything is bounded: queues, tables, rates, the names of topics. What is dropped is counted (Stats).
//
// # How messages travel
//
// Small messages of one author are combined for CombineFor or up to CombineBytes and signed once (what jobs
// share does not wait after a silence): a delivery
// costs some hundred microseconds of processor time in all, of which a signature is 17 to make and 38 to
// check.
//
// While the swarm is flat, all its members share one topic. Else each cluster has a topic of its own, and the
// members' gateways share a wide one. Gateways repeat a message of one topic in the other as it is, bytes and
// signature: its identity is the hash of topic and bytes, so that pubsub itself suppresses what a second
// gateway repeats. That is what lets two gateways of a cluster overlap. The first repeats at once, the second
// only what it has not seen repeated within StandbyAfter: a gateway that dies costs delay, not messages, even
// before anybody has noticed. The second also does not pass on in the wide topic what other clusters say. What
// is gained (TestWideBytes): 6 KB between clusters for a message of 128 bytes instead of 35, with 32 peers in
// 4 clusters; with 64 peers and 100 messages a second 5.4 KB, and all were delivered. With one gateway in
// each cluster, whose death was silence, and other parameters of pubsub, 2.7 KB instead of 91 were measured.
//
// Who is a gateway follows from the list of members, from who was heard lately and, for the second, from the hour: see
// election.go. While that changes there are three for a minute, and a message costs 7 to 8.5 KB.
package gossip
