// Package control is how the commands talk to the daemon on the same machine: HTTP with JSON over a Unix socket.
//
// A [Server] opens the socket in a directory of the daemon's and answers with whatever a [Daemon] says; a
// [Client], which is a Daemon itself, asks it. The types that pass between them are also what "status --json"
// and its like print.
//
// # Who may ask
//
// The directory is 0700, the socket and the token file in it 0600. Every request carries the token, which is
// made anew with each start of the daemon. So only programs of the same user are answered, and one that kept
// an old token is not.
//
// # One daemon a directory
//
// The server holds a lock on a file beside the socket for as long as it lives. The system drops the lock when
// the process ends, however it ends: a socket without a lock belongs to a dead daemon and is replaced; with a
// lock it belongs to a live one, which the second is told with its process ID ([RunningError]).
//
// # What is bounded
//
// Requests, in number, size and time; replies, in size and time. Submissions, modules and deposits may have [MaxBody]
// bytes, constants as many as they are said to have, other requests 256 KiB, and replies [MaxReply]. No call waits
// longer than its deadline or the caller's context but Wait, which ends when the run does, when the caller's context
// does, or when the daemon has been silent for some seconds.
package control

// MaxBody bounds a request with a job's argument in it: 16 MiB as base64, and some room. MaxReply bounds a reply, which
// may have a run's answer in it: 256 MiB in the same way.
const (
	MaxBody  = 16<<20*4/3 + 1<<20
	MaxReply = 256<<20*4/3 + 1<<20
)
