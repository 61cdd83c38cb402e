// Package locality says which cluster a peer is in, and why: the peers near each other, among which cluster-aware
// stealing is free (CRS paper, 2.2). It is logic only: it measures nothing, reads no clock,
// and knows no network.
//
// # Evidence
//
// In the order in which it counts: a label that the user gave; one local network: a shared private prefix or public
// address, and a short round trip too (half the world has 192.168.1.0/24, and a carrier's customers share
// addresses); a short round trip; and past about 1,000 members, with those that there was no time to measure, the
// distance by Vivaldi coordinates, which are poor
// below 10 ms.
//
// # Groups
//
// Peers without label group round leaders. A peer is a leader if no leader that is before it is near to it,
// where smaller peer IDs are before larger ones, and labeled peers before all; else it follows a leader near
// to it. So members of a cluster have a leader in common that is near to each of them, there are no chains
// across the country, and the groups are the same for all whose evidence is: they are the lexicographically
// first maximal independent set of the graph of who is near whom, and its neighbourhoods. Each peer finds its
// own place from its own evidence and from what the others say that they are (their cards), and believes the
// others about theirs. That settles in as many rounds of cards as there are leaders in a chain of near peers,
// because what a peer is depends only on those before it. A cluster is named after its label or its leader,
// so all members name it alike.
//
// # Jitter
//
// A round trip is never shorter than the way: one sample under the threshold shows that a peer is near, and
// the samples that are longer show little. So a peer becomes near with the first sample under NearRTT, and
// stays so until LeaveAfter samples in a row are over LeaveRTT.
//
// # No cluster is favoured
//
// A thief draws its wide-area victim alike from all peers outside its cluster (CRS paper, 3.3), not a cluster
// first and then a peer in it: that would have a machine in a small cluster stolen from more often than one
// in a large cluster, and its cluster hold more of the work than its share. Package steal does that; what it
// needs from here is that clusters are a partition: every member is in one cluster, whether it was measured
// or not, and being near to several leaders does not count twice.
//
// # Bounds
//
// Everything that is kept is about members, of which there are MaxMembers at most. A Map is for one goroutine
// at a time.
package locality
