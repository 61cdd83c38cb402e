// Package port is what goes between a driver, which carries out what the protocol cores decide, and an engine,
// which runs jobs: orders one way, events the other. Both are plain data. Functions are names, arguments and
// outcomes are bytes, so an engine may be in this process, in another one at the end of a pipe, a WebAssembly
// module, or a model of one in a simulator.
//
// # What each side promises
//
// The driver gives orders one at a time, in the order in which they are to be carried out, and never waits for
// an answer: [Engine.Do] must not block. The engine tells events in the order in which they happened. Neither
// side assumes that the other knows already what it has just been told: an order and an event may cross.
//
//   - Take is answered by one Taken with the same ticket, perhaps without jobs.
//   - Run is answered by one Finished, unless an Abort of the segment comes first. What cannot be run here
//     finishes at once with a panic as its outcome: its spawner has to learn of it. If it is to run Alone, neither it
//     nor what descends from it is told of as Taken or Found.
//   - A job that the engine has named in Taken or Found is outside until one Deliver or PutBack, or until the
//     engine tells that it was Dropped. Orders that come after that are ignored.
//   - What cannot leave stays, by itself or because a PutBack says so: it is not told of as Taken again, and others are
//     in its place.
//   - Deliver is answered by one Delivered, which says whether the outcome is worth keeping: of garbage the engine
//     makes nothing, and runs the job itself.
//   - Abort is answered by one Stopped, unless a Finished was on its way.
//   - LostWork gives what is known of lost work from now on. Workers look it up on their way, inside the engine,
//     before they begin a job under a restarted one; a hit is told as Found.
//   - Made tells of each version that a job names which is given away, before the Taken that has the job; and again
//     if it is forgotten while such a job is outside. Here brings versions before the Run of a job that names them.
//     Wanted is answered by Here or Failed. What an engine has made for an Apply it keeps until Here, without Data, or
//     Discard names that Ticket. Apply, Join, Collect, Encode, Guard and Judge are answered by one event
//     each, when the application's code has run.
//   - Cores says how many jobs may run at once; an engine begins with none. As long as that is none, and not by turns,
//     Joins and Guards wait: jobs are paused.
//   - Count is answered by a Counted; two that ask for all may share one.
//   - Measure has an engine time the run's yardstick on idle cores, for at most half a percent of the time: see
//     [Speed]. What cannot be run is not timed, and a next Measure is about another one.
//   - Load is told when [steal.Load] says that its reader would want to know: see [Differs].
//
// What one segment is called, what a job outside is called and what a Take is called are [steal.SegmentID],
// [steal.Ref] and [steal.Ticket]; nobody uses one of them twice.
package port
