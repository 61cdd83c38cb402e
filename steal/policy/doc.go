// Package policy decides whom an idle peer asks for work, and how much a peer with work gives: random stealing,
// hierarchical and cluster-aware stealing, and the others of the papers beside our own.
//
// A policy sees numbers of jobs, times of links and who takes part, through a View, and never learns what a job is. It
// does not send, wait or count: it writes a Plan, which the core of package steal carries out within its bounds.
// Given the same view and the same randomness it plans the same. One value serves one core and is not safe for
// concurrent use.
package policy
