// Package provision runs the command by which the owner of a peer asks for more machines.
package provision

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/runs"
)

const (
	// provisionFor is how long the owner's command may take to ask for machines; then it is killed.
	provisionFor = time.Minute
	// provisionSays bounds what is kept of what it prints, in bytes.
	provisionSays = 1 << 10
)

// A Command is the owner's, with its arguments. It runs with the owner's rights, as if he had started it: what others
// say of a run comes to it as a number, which package runs bounds.
type Command []string

// Ask runs the command: with its own arguments, how many machines, and the run's ID. It waits for its end, for a minute
// at most, and says in the log what came of it.
func (t Command) Ask(ctx context.Context, log *slog.Logger, o runs.Provision) {
	ctx, cancel := context.WithTimeout(ctx, provisionFor)
	defer cancel()
	args := slices.Concat(t[1:], []string{strconv.Itoa(o.Machines), o.Run.Hex()})
	c := exec.CommandContext(ctx, t[0], args...)
	together(c)
	c.WaitDelay = time.Second // for what it has left running, and that holds its output
	said := &beginning{}
	c.Stdout, c.Stderr = said, said
	if err := c.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		log.Warn("the command of the setting provision has failed", "run", o.Run, "machines", o.Machines, "error",
			plain.OneLine(err), "printed", said.String())
		return
	}
	log.Info("machines asked for", "run", o.Run, "machines", o.Machines, "printed", said.String())
}

// A beginning keeps the first bytes that are written to it.
type beginning struct{ kept bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), provisionSays-b.kept.Len())])
	return len(p), nil
}

func (b *beginning) String() string { return plain.Name(b.kept.String()) }
