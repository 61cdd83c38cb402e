// Package adapt decides how many peers a run should have, and which of them it is better off without: the
// self-adaptivity of the programming-model paper, 4.5, as a pure core.
//
// Peers measure themselves: in each period every one samples which part of its cores' time was useful and how fast
// they are. The coordinator, which is the run's master, gives the samples to [Core.Step] once a period and gets a
// [Decision]: the roster as it should be from now on, and why. The roster is all that others have to know, and all
// that a next master has to start with. Of what a core remembers besides it, what the last period was like is rebuilt
// within one; how patient it was is not known, so the next one is as patient as the last can have been, or more; and
// what was on trial stays away for as long as it had to.
//
// Where several runs compete for a machine, [Divide] says which of its cores each has, by the same efficiency.
//
// # What is published and what is ours
//
// Published are the weighted average efficiency, Emax and Emin, that more is asked for the higher it is and more
// released the lower, that the worst go first "taking their overheads and speeds into account", and that a cluster
// goes whose inter-cluster overhead "exceeds a certain threshold". Not published, and therefore ours: how many are
// asked for and released, what is worst, which threshold, and everything against flapping. [Config] says of each
// constant which it is; docs/results/sim-adaptive.md has those that are ours halved and doubled.
//
// # What is promised
//
//   - The master is never excluded nor released, nor is its cluster.
//   - No roster wants fewer than Config.Min or more than Config.Max peers, nor leaves the run without members.
//   - No volunteer goes for one bad period, or for a speed that nobody has measured; and if less is done without those
//     that went than before, they may come back at once.
//   - A decision never lets go of more than half of the members, but for one cluster behind a bad link, at most one
//     of which goes at a time.
//   - Growth and release do not alternate: each release doubles the time in which nothing more is asked for. Nor do
//     releases and their taking back. So it stays however often another peer becomes master.
//   - The same inputs give the same decisions, in whatever order members and samples come. Samples out of range
//     count for nothing: a member can lie about itself, and no further than its own weight, which is eight times the
//     median at most, nor does it take others' turns by being elsewhere each time. None of several in a cluster,
//     whichever it says it is in, has that excluded or kept out by its word alone, and no word keeps a cluster out for
//     ever.
package adapt
