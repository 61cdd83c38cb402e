// Package wan describes wide-area networks and computes when a message sent over one arrives.
//
// It is the emulator of the Albatross project (Kielmann et al., "Programming Environments for
// High-Performance Grid Computing", section 3) as a library: clusters, directed links between them with a
// latency, a bandwidth and a queue, links that are missing and routed round, and upcalls that change all of
// this as time passes. It keeps no clock and starts no goroutine: whoever uses it says what time it is, so
// the same [Model] serves a simulator in virtual time and a shaper of real frames.
//
// # Guarantees
//
//   - Equal descriptions, seeds and calls give equal answers, on every architecture: nothing depends on map order, on
//     the wall clock or on fused floating-point instructions.
//   - Messages that cross the same directed link leave it in the order in which they were handed to it.
//   - A message is charged the conditions that hold when it is handed to the link, as in Panda's gateways,
//     which compute the arrival time once, on arrival. A link that becomes fast later does not hurry what it
//     already accepted.
//   - Nothing blocks. Memory is proportional to the square of the number of clusters (at most [MaxClusters])
//     and to the length of scripts and traces (bounded by [MaxFileSize]).
//
// A Model is for one goroutine at a time. Its [Live] handle is the exception: it may be used from any goroutine.
//
// # Upcalls
//
// The paper's four kinds, and room for others (the interface [Upcall]):
//
//	constant   links stay as described; no upcall at all
//	script     a program in the language below changes them ([Scenario.NewModel])
//	measured   a time series in a file gives their conditions ([Trace])
//	live       a person or program sets them while the model is used ([Model.Live])
//
// # The scenario language
//
// A scenario file is a program in the language of figure 4 of the Albatross paper. One command a line; "#" starts a
// comment. Clusters are numbered from 1. Bandwidth is in bytes per second, latency is one way in seconds, sleep is in
// milliseconds, as in the paper.
//
//	file    = { [ command ] [ "#" text ] newline } .
//	command = "read" name                       commands of another file, as if they stood here (at most 8 deep)
//	        | "clusters" size { size }          once, first: peers in each cluster
//	        | "local" bandwidth latency         between two peers of one cluster
//	        | "set" links bandwidth latency     nominal and present conditions
//	        | "vary" links low high near far    bandwidth = nominal * a random number in [low,high],
//	                                            latency = nominal * a random number in [near,far]
//	        | "remove" links | "restore" links  the link does not exist (messages go round it) | exists again
//	        | "queue" links bytes               what a link may hold before it drops messages; 0 = no limit
//	        | "measure" name                    conditions come from the trace in that file from now on
//	        | "sleep" milliseconds
//	        | "forever" .                       what follows is repeated for ever; it must contain a sleep
//	links   = "all" | "one" from to .
//
// set, vary, remove, restore and queue act on the link from the first cluster to the second; with the suffix
// _sym (set_sym …) they act on both directions alike, and vary_sym draws one pair of numbers for both. "all"
// with the plain form draws for each direction. A link that was never set does not exist.
//
// # The trace language
//
//	file   = { [ "period" seconds | sample ] [ "#" text ] newline } .
//	sample = seconds from to bandwidth latency .
//
// A sample holds from its time until the next one for the same directed link. Times do not decrease. With a
// period, the series starts again every so many seconds; without one the last samples hold for ever.
package wan
