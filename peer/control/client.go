package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/cause"
)

// A Client asks the daemon of a directory. It is a Daemon; errors are those of the daemon, or of
// ErrUnavailable or ErrNotRunning when there is no answer.
type Client struct {
	token string
	http  http.Client
	dial  func(context.Context) (net.Conn, error)
}

var _ Daemon = (*Client)(nil)

// margin is how much longer a client waits than the server, so that the server's own error arrives.
const margin = 2 * time.Second

// maxSilence is how long Wait waits for a word of progress.
const maxSilence = 20 * time.Second

const maxToken = 1 << 10

// Codes of Windows for a socket whose other end is not there, or has gone: those of package syscall are none of them.
const (
	windowsAborted = syscall.Errno(10053)
	windowsReset   = syscall.Errno(10054)
	windowsRefused = syscall.Errno(10061)
)

// Connect finds the daemon of a control directory. An error of ErrNotRunning if there is none: no socket, or
// one that nobody listens on.
func Connect(dir string) (*Client, error) {
	path := SocketPath(dir)
	text, err := readToken(TokenPath(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notRunning(path)
	case errors.Is(err, fs.ErrPermission):
		return nil, Errorf(ErrRefused, "%s: %v: the daemon there belongs to another user", TokenPath(dir),
			cause.Of(err))
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", TokenPath(dir), cause.Of(err))
	}
	c := &Client{token: text}
	var dialer net.Dialer
	c.dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, "unix", path)
		if nobodyListens(err) {
			return nil, notRunning(path)
		}
		return conn, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), quickCall)
	defer cancel()
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := conn.Close(); err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) }
	c.http.Transport = &http.Transport{DialContext: dial, DisableCompression: true, MaxResponseHeaderBytes: maxHeader}
	return c, nil
}

func nobodyListens(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windowsRefused)
}

func readToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxToken))
	return strings.TrimSpace(string(text)), err
}

func notRunning(path string) error {
	return Errorf(ErrNotRunning, "no daemon is running (nobody listens on %s): start one with satin-peer start", path)
}

// askAgain is how often AwaitEnd looks.
const askAgain = 20 * time.Millisecond

// AwaitEnd waits until the daemon has closed its socket, which is the last thing that it does. After Leave
// that takes no second; a daemon that is started then finds its place free.
func (c *Client) AwaitEnd(ctx context.Context) error {
	again := time.NewTicker(askAgain)
	defer again.Stop()
	for {
		conn, err := c.dial(ctx)
		switch {
		case errors.Is(err, ErrNotRunning):
			return nil
		case err == nil:
			_ = conn.Close()
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return Errorf(ErrUnavailable, "the daemon has left, but its process does not end: end it with kill")
		}
	}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status asks for the peer at one glance.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, statusCall, quickCall, nil)
}

// Peers asks for the other members.
func (c *Client) Peers(ctx context.Context) ([]PeerInfo, error) {
	return call[[]PeerInfo](ctx, c, peersCall, quickCall, nil)
}

// Runs asks for the runs that the peer knows.
func (c *Client) Runs(ctx context.Context) ([]RunInfo, error) {
	return call[[]RunInfo](ctx, c, runsCall, quickCall, nil)
}

// Doctor asks what keeps the peer from being useful.
func (c *Client) Doctor(ctx context.Context) ([]Finding, error) {
	return call[[]Finding](ctx, c, doctorCall, slowCall, nil)
}

// Submit asks for a run.
func (c *Client) Submit(ctx context.Context, s Submission) (RunInfo, error) {
	return call[RunInfo](ctx, c, submitCall, slowCall, s)
}

// AddConstant gives the daemon a constant, or asks whether it has it.
func (c *Client) AddConstant(ctx context.Context, k Constant, from io.Reader) (ConstantInfo, error) {
	what := givenCall
	if from != nil {
		what = giveCall
	}
	what = about(what, k.Digest) + "?" + url.Values{"name": {k.Name}, "size": {strconv.FormatInt(k.Size, 10)}}.Encode()
	// The daemon reads as fast as its disk writes, which is slower than this.
	within := slowCall + time.Duration(k.Size/slowestDisk)*time.Second
	return callWith[ConstantInfo](ctx, c, what, within, from)
}

// slowestDisk is how many bytes in a second a daemon is waited for.
const slowestDisk = 1 << 20

// AddModule gives the daemon a module.
func (c *Client) AddModule(ctx context.Context, f ModuleFile) (ModuleInfo, error) {
	return call[ModuleInfo](ctx, c, addCall, slowCall, f)
}

// Modules asks for the modules that are there.
func (c *Client) Modules(ctx context.Context) ([]ModuleInfo, error) {
	return call[[]ModuleInfo](ctx, c, modulesCall, quickCall, nil)
}

// Module asks for one.
func (c *Client) Module(ctx context.Context, name string) (ModuleFile, error) {
	return call[ModuleFile](ctx, c, about(moduleCall, name), slowCall, nil)
}

// Deposit has bytes kept, or asks who has them.
func (c *Client) Deposit(ctx context.Context, d Deposit) (DepositInfo, error) {
	return call[DepositInfo](ctx, c, depositCall, slowCall, d)
}

// Deposited asks for the bytes of a deposit.
func (c *Client) Deposited(ctx context.Context, hash string) (Deposit, error) {
	return call[Deposit](ctx, c, about(fetchCall, hash), slowCall, nil)
}

// Publish asks for a module to be published.
func (c *Client) Publish(ctx context.Context, p Publication) (ModuleInfo, error) {
	return call[ModuleInfo](ctx, c, publishCall, slowCall, p)
}

// Share asks for a link for visitors.
func (c *Client) Share(ctx context.Context, s Sharing) (Shared, error) {
	return call[Shared](ctx, c, shareCall, quickCall, s)
}

// Invite asks for an invitation.
func (c *Client) Invite(ctx context.Context, i Invitation) (Invited, error) {
	return call[Invited](ctx, c, inviteCall, quickCall, i)
}

// Join asks the peer to connect to a member.
func (c *Client) Join(ctx context.Context, address string) (PeerInfo, error) {
	return call[PeerInfo](ctx, c, joinCall, slowCall, joinBody{address})
}

// Leave asks the peer to leave; the daemon ends.
func (c *Client) Leave(ctx context.Context) error {
	return c.tell(ctx, leaveCall, slowCall, nil)
}

// Pause asks the peer to stop computing.
func (c *Client) Pause(ctx context.Context, d time.Duration) error {
	return c.tell(ctx, pauseCall, quickCall, pauseBody{d.Seconds()})
}

// Finish asks it to stop after the jobs that it has.
func (c *Client) Finish(ctx context.Context) error {
	return c.tell(ctx, finishCall, quickCall, nil)
}

// Resume asks it to go on.
func (c *Client) Resume(ctx context.Context) error {
	return c.tell(ctx, resumeCall, quickCall, nil)
}

// Cancel asks for the end of a run.
func (c *Client) Cancel(ctx context.Context, run string) error {
	return c.tell(ctx, about(cancelCall, run), slowCall, nil)
}

// Suspend asks for a run to be suspended.
func (c *Client) Suspend(ctx context.Context, run string) error {
	return c.tell(ctx, about(suspendCall, run), slowCall, nil)
}

// ResumeRun asks for a run to be taken up again.
func (c *Client) ResumeRun(ctx context.Context, r Resumption) (RunInfo, error) {
	return call[RunInfo](ctx, c, goOnCall, slowCall, r)
}

// Revoke asks for a peer to be put out.
func (c *Client) Revoke(ctx context.Context, peer string) error {
	return c.tell(ctx, revokeCall, quickCall, revokeBody{peer})
}

// Refuse asks for a run, or an owner's, to be refused, or not any more.
func (c *Client) Refuse(ctx context.Context, r Refused) error {
	return c.tell(ctx, refuseCall, quickCall, r)
}

// about puts a run into a call's path.
func about(call, run string) string {
	return strings.Replace(call, "{"+runWildcard+"}", url.PathEscape(run), 1)
}

// call asks for one reply.
func call[R any](ctx context.Context, c *Client, what string, within time.Duration, body any) (r R, err error) {
	text, err := jsonOf(body)
	if err != nil {
		return r, err
	}
	return callWith[R](ctx, c, what, within, text)
}

// tell is call for what has no reply.
func (c *Client) tell(ctx context.Context, what string, within time.Duration, body any) error {
	_, err := call[empty](ctx, c, what, within, body)
	return err
}

func callWith[R any](ctx context.Context, c *Client, what string, within time.Duration, body io.Reader) (
	r R, err error) {
	ctx, cancel := context.WithTimeout(ctx, within+margin)
	defer cancel()
	response, err := c.send(ctx, what, body)
	if err != nil {
		return r, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, MaxReply+1))
	switch {
	case err != nil:
		return r, c.broken(ctx, err)
	case len(text) > MaxReply:
		return r, fmt.Errorf("the daemon's reply is larger than %d bytes", MaxReply)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("the daemon's reply cannot be read: %w", err)
	}
	return r, nil
}

// jsonOf is the body of a call.
func jsonOf(v any) (io.Reader, error) {
	if v == nil {
		return bytes.NewReader(nil), nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be written as JSON: %w", err)
	}
	return bytes.NewReader(text), nil
}

// send makes a request and returns its response if all is well, else the daemon's error.
func (c *Client) send(ctx context.Context, what string, body io.Reader) (*http.Response, error) {
	method, path, _ := strings.Cut(what, " ")
	request, err := http.NewRequestWithContext(ctx, method, "http://daemon"+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized {
		return nil, Errorf(ErrRefused,
			"the daemon does not know the token any more: it was restarted this moment; try again")
	}
	var f fault
	if err := json.NewDecoder(io.LimitReader(response.Body, maxSmallBody)).Decode(&f); err != nil {
		return nil, fmt.Errorf("the daemon answers %s", response.Status)
	}
	return nil, f.err()
}

// broken says in plain words why there is no answer.
func (c *Client) broken(ctx context.Context, err error) error {
	var plain *Error
	switch {
	case errors.As(err, &plain):
		return plain
	case errors.Is(context.Cause(ctx), errSilent), errors.Is(err, context.DeadlineExceeded):
		return Errorf(ErrUnavailable,
			"the daemon does not answer in time: it may be stopped or overloaded; see its log")
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, windowsReset), errors.Is(err, windowsAborted):
		return Errorf(ErrUnavailable,
			"the daemon ended before it had answered: see its log, and start it again with satin-peer start")
	}
	return err
}

// errSilent is why Wait gives up.
var errSilent = errors.New("no progress was told")

// heard begins the time of silence anew with whatever comes.
type heard struct {
	io.Reader
	silence *time.Timer
}

func (h heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.silence.Reset(maxSilence)
	return n, err
}

// Wait also ends, with ErrUnavailable, when the daemon ends or is silent for maxSilence.
func (c *Client) Wait(ctx context.Context, run string, progress func(Progress)) (Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() { cancel(errSilent) })
	defer silence.Stop()
	response, err := c.send(ctx, about(waitCall, run), nil)
	if err != nil {
		return Outcome{}, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(heard{response.Body, silence})
	lines.Buffer(nil, MaxReply)
	for lines.Scan() {
		var n news
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			return Outcome{}, fmt.Errorf("the daemon's reply cannot be read: %w", err)
		}
		switch {
		case n.Outcome != nil:
			return *n.Outcome, nil
		case n.Fault != nil:
			return Outcome{}, n.Fault.err()
		case n.Progress != nil && progress != nil:
			progress(*n.Progress)
		}
	}
	if err := lines.Err(); err != nil {
		return Outcome{}, c.broken(ctx, err)
	}
	return Outcome{}, c.broken(ctx, io.ErrUnexpectedEOF)
}
