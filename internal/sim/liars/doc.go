// Package liars runs the core of package verify among peers that lie, in virtual time: lazy ones that do not compute,
// careless ones that get leaves wrong, a gang that agrees on the same wrong outcome, one that lies once, and one
// that is honest until it is trusted. An owner gives nodes of a random tree away and believes what the core accepts.
//
// A schedule is drawn from a seed. Always: nobody is blamed that has not lied, every proof holds for whoever runs
// the node, and everything is accepted in the end. Whether something wrong was accepted, and what it cost, is counted.
//
// Schedules of RunSpread begin where there is a proof: members tell it each other, try it and put the liar out by the
// rules of package peer/alarm, on lines that lose some of it and among partitions, while liars accuse honest ones.
// Always: nobody honest is out for anybody, and the liar is, within 3 s, for all who are connected to one that tells.
package liars
