package control

import (
	"context"
	"io"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// Daemon is what a running peer does for the commands. Methods may be called from several goroutines at once,
// return when ctx ends, and give errors that wrap one of the sentinels of this package where one fits
// ([ErrNotFound], ErrBadInput, ErrRefused, ErrUnavailable); other errors are reported as failures of the
// daemon. The text of an error is one line that says what to do next.
type Daemon interface {
	// Status is the peer at one glance. It must not wait for other peers.
	Status(ctx context.Context) (Status, error)

	// Peers lists the other members that this one knows, connected or not, by cluster and then by ID.
	Peers(ctx context.Context) ([]PeerInfo, error)

	// Runs lists the runs that the peer knows: those in progress and the last ones that ended, newest first.
	Runs(ctx context.Context) ([]RunInfo, error)

	// Submit starts a run that this peer owns, and returns when it is accepted, not when it ends. ErrBadInput if
	// the application, its function or the argument is not what this peer has; ErrRefused when it is leaving or has
	// too many runs.
	Submit(ctx context.Context, s Submission) (RunInfo, error)

	// AddConstant takes in a value that the argument of a run to come names, as many bytes as it says, if it is not
	// there already; without a reader it says only whether it is. It stays for some minutes, and as long as a run that
	// names it. ErrBadInput for one that is larger than what one run may share here, or not what its name says.
	AddConstant(ctx context.Context, c Constant, from io.Reader) (ConstantInfo, error)

	// AddModule takes in a module for runs that this peer owns, and names it. ErrRefused if the daemon has nothing
	// to do with modules.
	AddModule(ctx context.Context, f ModuleFile) (ModuleInfo, error)

	// Modules lists the modules that members have published, by name, and then the others that are here, the one
	// used last first.
	Modules(ctx context.Context) ([]ModuleInfo, error)

	// Module gives the bytes of a module: one that is published under a name, NAME or PUBLISHER/NAME, or the one
	// whose hash begins so. It is fetched if it is not here. ErrNotFound if there is none, ErrBadInput if there are
	// several.
	Module(ctx context.Context, name string) (ModuleFile, error)

	// Deposit has bytes kept by other members, so that they outlive this machine, and names them; without bytes it
	// says how many of the others have those that are named. ErrRefused if there are too many deposits, ErrNotFound if
	// there is none of that name.
	Deposit(ctx context.Context, d Deposit) (DepositInfo, error)

	// Deposited gives the bytes of a deposit, whoever made it. ErrUnavailable if no member that has it answers.
	Deposited(ctx context.Context, hash string) (Deposit, error)

	// Publish signs that this peer stands for a module, and tells everybody.
	Publish(ctx context.Context, p Publication) (ModuleInfo, error)

	// Share makes a link by which visitors lend their browsers' cores, and opens the gateway that it leads to, if it is
	// not open. ErrNotFound for a run that this peer takes no part in, ErrBadInput for a gateway that cannot be,
	// ErrRefused for a run that browsers cannot help with, or if this program has nothing for them.
	Share(ctx context.Context, s Sharing) (Shared, error)

	// Wait blocks until a run of this peer's own has ended and gives what came of it, as often as it is asked
	// while the peer remembers the run. In the meantime it calls progress, from the same goroutine, at least
	// once a second. The run goes on when ctx ends. ErrNotFound for a run that is not this peer's own.
	Wait(ctx context.Context, run string, progress func(Progress)) (Outcome, error)

	// Cancel ends a run of this peer's own, everywhere. One that has ended already is left as it is, without
	// an error.
	Cancel(ctx context.Context, run string) error

	// Suspend ends a run of this peer's own everywhere, so that ResumeRun can take it up again: what the
	// peers have of it is written to this peer's disk first, as far as that comes within a bounded time.
	// ErrRefused if checkpoints are off here.
	Suspend(ctx context.Context, run string) error

	// ResumeRun takes a run up again that was suspended, or whose peers were all lost: one of this peer's own
	// by its name, or the one whose checkpoint is in a directory. A run that belongs to another peer becomes
	// a new one of this peer's own, of the same problem and with what the checkpoint has of it. Returns when
	// it is accepted. ErrBadInput for a directory that has no checkpoint which can be used, ErrRefused for a
	// run that has ended or goes on.
	ResumeRun(ctx context.Context, r Resumption) (RunInfo, error)

	// Invite makes an invitation into a swarm that admits invited peers only.
	Invite(ctx context.Context, i Invitation) (Invited, error)

	// Revoke puts a peer out and keeps it out, with all whom it invited: for all members, if this peer may say so, else
	// for this one. Invite with its ID takes it back.
	Revoke(ctx context.Context, peer string) error

	// Refuse has this peer take no part in a run, or in any of an owner, now and after restarts, or lifts that.
	// ErrRefused for what is its own.
	Refuse(ctx context.Context, r Refused) error

	// Join connects to a member by a full multiaddr, or by the line that Invite printed, and returns when the
	// member has admitted this peer, or said why not (ErrRefused), or could not be reached in time
	// (ErrUnavailable).
	Join(ctx context.Context, address string) (PeerInfo, error)

	// Leave gives back the work of others, says goodbye and stops taking part; then the daemon ends. When ctx ends
	// first, it leaves at once.
	Leave(ctx context.Context) error

	// Pause stops computing for others and for own runs within a second, for so long, or until Resume if d is 0.
	// The peer remains a member. Pausing again sets the time anew.
	Pause(ctx context.Context, d time.Duration) error

	// Finish takes nothing more from others, and pauses until Resume as soon as all that others wait for is done: the
	// jobs that are here, and their results home; an own run whose root is here among them. It does not wait for that.
	Finish(ctx context.Context) error

	// Resume ends a pause, or takes Finish back. It is no error if there is none.
	Resume(ctx context.Context) error

	// Doctor looks at everything that may keep a peer from being useful. It may take some seconds.
	Doctor(ctx context.Context) ([]Finding, error)
}

// Watched is a daemon in this process. Besides what it does for commands, it tells the page of the segments of
// runs.
type Watched interface {
	Daemon

	// Watch gives what the peers of the runs have told of their parts since it was last called, and has them
	// asked for some seconds more. It must not wait for them. What was given is not given again: one page
	// watches.
	Watch(ctx context.Context) ([]report.Part, error)
}

// A Sharing asks for a link by which visitors lend their browsers' cores.
type Sharing struct {
	Run     string `json:"run,omitempty"`     // the one that they are for; "": all that the peer takes part in
	Seconds int64  `json:"seconds,omitempty"` // how long the link is good; 0: a day
	// The rest says how the gateway is opened, the first time: an IP address with a port, where browsers find it if not
	// there, and the files of a certificate and its key.
	Listen string `json:"listen,omitempty"`
	URL    string `json:"url,omitempty"`
	Cert   string `json:"cert,omitempty"`
	Key    string `json:"key,omitempty"`
	// Stop, alone, ends all visits and closes the gateway instead. There is no link then.
	Stop bool `json:"stop,omitempty"`
}

// Shared is such a link.
type Shared struct {
	Link    string    `json:"link"`
	Expires time.Time `json:"expires"`
}

// A Constant is a value that the argument of a run names, and that goes beside it.
type Constant struct {
	Digest string // its name in the argument, 64 hexadecimal digits
	Name   string // of its type, as package satin has it
	Size   int64  // bytes, encoded
}

// A ConstantInfo says whether a constant is there.
type ConstantInfo struct {
	Here bool `json:"here"`
}

// A Submission asks for a run.
type Submission struct {
	App string `json:"app"` // the application's name, "nqueens"
	// Sources is the version that the command tells of the application; the run is refused if the daemon has another.
	Sources string `json:"sources,omitempty"`
	// what followed it on the command line, flags included; shown to people, and read again by "wait"
	Args     []string `json:"args"`
	Title    string   `json:"title"`    // the problem in words, "18 queens"
	Function string   `json:"function"` // registered name of the root job's function, "nqueens.search"
	Argument []byte   `json:"argument"` // its argument in CBOR, as package wire encodes values; at most 16 MiB
	// Constants are the digests of those that the argument names, as AddConstant has taken them in.
	Constants []string `json:"constants,omitempty"`
	// Module is the hash of the module that Function is in, as AddModule gave it; "": it is built in.
	Module string `json:"module,omitempty"`
	// Recovery says what becomes of the work of peers that are lost: "salvage" or "naive"; "" is salvage.
	Recovery string `json:"recovery,omitempty"`
	// Verify says what is done before an outcome of another peer is used: "members", believe it, "quorum=K", have K
	// peers whom different members have let in come to it, or "doubt=P", as many as their records call for, so that it
	// is wrong with probability P at most; "" is members. With ",others" after it the owner's machine makes no copies.
	Verify string `json:"verify,omitempty"`
	// MaxCores is how many cores of one peer the run may use; 0 leaves it to each peer.
	MaxCores int `json:"max_cores,omitempty"`
	// Adapt says how the run decides who takes part: "paper", "volunteers" or "off"; "" is volunteers, and off if
	// outcomes are compared. MinPeers and MaxPeers bound how many peers it wants, the one that submits it among them; 0
	// is no bound.
	Adapt    string `json:"adapt,omitempty"`
	MinPeers int    `json:"min_peers,omitempty"`
	MaxPeers int    `json:"max_peers,omitempty"`
	// Eager is of how many of 100 jobs given away, 0 to 100, idle peers may get a copy when nothing else is left for
	// them. Runs whose outcomes are compared have none.
	Eager int `json:"eager,omitempty"`
}

// A Resumption names what is to be resumed: exactly one field is set.
type Resumption struct {
	Run       string `json:"run,omitempty"`       // of this peer's own
	Directory string `json:"directory,omitempty"` // an absolute path: a checkpoint, or a copy of one
}

// A Progress is how far a run is.
type Progress struct {
	Run      string       `json:"run"`
	State    RunState     `json:"state"`
	Elapsed  float64      `json:"elapsed_seconds"` // since it was submitted
	Share    float64      `json:"share"`           // of the job tree that is done, 0 to 1
	Left     *report.Left `json:"left,omitempty"`  // see RunInfo
	Executed uint64       `json:"executed"`        // jobs executed on all peers, as far as this one has heard
	Peers    int          `json:"peers"`           // that work on it now, this one counted
	Workers  int          `json:"workers"`         // of those peers
	Busy     int          `json:"busy"`            // of those workers
	Waits    string       `json:"waits,omitempty"` // see RunInfo
}

// An Outcome is the end of a run.
type Outcome struct {
	Run     string   `json:"run"`
	State   RunState `json:"state"`           // RunDone, RunFailed or RunCancelled
	Elapsed float64  `json:"elapsed_seconds"` // from the submission to the end

	// Result is the root job's result in CBOR, as package wire encodes values; only of a run that is done.
	Result []byte `json:"result,omitempty"`

	// Failure says in one line why a run failed: the job's ID, the peer and its error. Stack is where a panic
	// happened, in several lines; may be empty.
	Failure string `json:"failure,omitempty"`
	Stack   string `json:"stack,omitempty"`

	// Warning is what the user should know although there is an answer, in one line; "" is nothing: that it
	// could not be kept on the disk, that the answer is disputed.
	Warning string `json:"warning,omitempty"`

	// AnsweredBy is the peer that had the root job at the end, if that was not the owner. Disputed says that
	// another peer came to another answer; both are kept.
	AnsweredBy string `json:"answered_by,omitempty"`
	Disputed   bool   `json:"disputed,omitempty"`

	Peers int             `json:"peers"` // that worked on it, this one counted
	Stats report.RunStats `json:"stats"`
	// Unheard is how many of them did not tell what they did last: they crashed, or were slow to answer. Stats and
	// Gave lack that.
	Unheard int `json:"unheard,omitempty"`
	// Gave is the processor time of each of these peers in seconds, as far as it told. Lost with the daemon's process.
	Gave map[string]float64 `json:"gave_seconds,omitempty"`
	// Trust says what the answer rests on; nil if that is not known any more.
	Trust *report.Trust `json:"trust,omitempty"`
	// Sworn are jobs on which others agreed, as many as there was room for. Lost with the daemon's process.
	Sworn []report.Sworn `json:"sworn,omitempty"`
}

// An Invitation asks for a line that lets peers join.
type Invitation struct {
	// Peer is the libp2p peer ID of one that is let in by name; its line is then a plain address, and no
	// secret. Empty: whoever has the line may join.
	Peer string `json:"peer,omitempty"`
	// Uses is how many peers may join by the line, 1 to 1000; 0 means 1. Not with Peer.
	Uses int `json:"uses,omitempty"`
	// MayInvite lets those who join invite others. Not with Peer.
	MayInvite bool `json:"may_invite,omitempty"`
	// Valid is for how long the line may be used, in seconds, from a minute to 30 days; 0 means a day. Not with
	// Peer.
	Valid float64 `json:"valid_seconds,omitempty"`
}

// An Invited is an invitation that was made.
type Invited struct {
	Line    string    `json:"line"`             // what "satin-peer join" takes: one word without blanks
	Swarm   string    `json:"swarm"`            // the name of the swarm it leads into
	Expires time.Time `json:"expires,omitzero"` // zero: never
}
