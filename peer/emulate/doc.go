// Package emulate makes real processes on one machine feel the wide-area network of a scenario file (package
// wan), as the Albatross project did on one cluster (Kielmann et al., "Programming Environments for
// High-Performance Grid Computing", section 3): a frame from another cluster is held on the receiving side
// until it would have come. It imitates what crosses links between clusters; inside a cluster the real
// network is the network, and the scenario's local conditions do not count.
//
// # A link is shared by processes
//
// All peers of an emulated cluster share its links, and they are different processes. So when a link is free
// again is kept in a small file that all processes map: for every directed pair of clusters one word, the
// time in ns of CLOCK_MONOTONIC, which is the same for all processes of a machine. A receiver takes its turn
// on the link by compare-and-swap:
//
//	start = max(now, free);  free = start + bytes / bandwidth;  arrival = start + bytes / bandwidth + latency
//
// so turns never overlap, whoever takes them, and a process that dies leaves the link in order: there is no
// lock to be held. The conditions themselves, script and traces, are computed by each process for itself,
// from the same files and the same origin of time. What Set changes is in the mapped file as well, with the
// time of the change, and every process takes it over before its next frame.
//
// # Guarantees
//
//   - A frame is charged the conditions of the moment at which it comes; what the link has accepted is not
//     hurried later.
//   - Missing links are routed round, link by link; each charges its time. Without a route frames are lost.
//   - Arrive and Set never block for longer than a short critical section of another thread.
//
// The limits of queues (command queue) have no effect: streams do not lose frames, their senders wait.
//
// An Emulator is safe for concurrent use. Only Linux is supported; elsewhere Create and Open give
// errors.ErrUnsupported.
package emulate
