package peer

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/runs"
)

const (
	// provisionFor is how long the owner's command may take to ask for machines; then it is killed.
	provisionFor = time.Minute
	// provisionSays bounds what is kept of what it prints, in bytes.
	provisionSays = 1 << 10
)

// A provisioner has machines asked for by the owner's command. It is the owner's program, with
// the owner's rights, as if he had started it: what others say of a run comes to it as a number, which package runs
// bounds.
type provisioner struct {
	*base.Base
	command []string
}

// ask runs the command: with its own arguments, how many machines, and the run's ID.
func (t *provisioner) ask(ctx context.Context, o runs.Provision) {
	ctx, cancel := context.WithTimeout(ctx, provisionFor)
	defer cancel()
	args := slices.Concat(t.command[1:], []string{strconv.Itoa(o.Machines), o.Run.Hex()})
	c := exec.CommandContext(ctx, t.command[0], args...)
	together(c)
	c.WaitDelay = time.Second // for what it has left running, and that holds its output
	said := &beginning{}
	c.Stdout, c.Stderr = said, said
	if err := c.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Log.Warn("the command of the setting provision has failed", "run", o.Run, "machines", o.Machines, "error",
			plain.OneLine(err), "printed", said.String())
		return
	}
	t.Log.Info("machines asked for", "run", o.Run, "machines", o.Machines, "printed", said.String())
}

// A beginning keeps the first bytes that are written to it.
type beginning struct{ kept bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), provisionSays-b.kept.Len())])
	return len(p), nil
}

func (b *beginning) String() string { return plain.Name(b.kept.String()) }
