// Package paper reproduces the load-balancing tables and figures of the CRS paper (van Nieuwpoort et al.,
// "Adaptive Load Balancing for Divide-and-Conquer Grid Applications"), of the Albatross paper and of the
// programming-model paper's section 5.7 with the simulator, published figures beside ours. satin-sim table
// prints them; docs/results/ keeps them.
//
// # How the applications are modelled
//
// The papers publish neither job counts nor message sizes. Each application is a synthetic tree (sim.Split)
// whose parameters were fitted to Table I as published for RS and CRS, and to nothing else:
//
//   - the sequential time is efficiency * time * 64, from the single-cluster column;
//   - the overhead of spawning is what the single cluster loses: its stealing costs next to nothing in the
//     model, as a local steal takes a tenth of a millisecond;
//   - Skew, how unevenly work is divided, is what RS loses at 200 ms and 1 MB/s: it loses one round trip a
//     steal, so the loss counts the steals;
//   - sizes of arguments and results are what RS loses more at 100 KB/s;
//   - the grain is coarse, to save simulation time: halving it changes no figure by more than the spread of
//     the seeds.
//
// CRS was not fitted: that the trees which cost RS what is published cost CRS what is published is the
// evidence for the model. Our own policy was never looked at while fitting.
//
// Published times include what spawning cost on the Manta system of 2001 (7 to 10 % for three of the
// applications). Our engine costs less (at most EngineOverhead), so "ours" is given twice: with
// Manta's overhead, which compares policies, and with our engine's, which compares systems.
package paper
