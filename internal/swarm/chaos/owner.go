//go:build unix

package chaos

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// handTime bounds a command of the owner's.
const handTime = time.Minute

// suspend has the owner suspend the run, unless its answer was faster.
func (t *trial) suspend(ctx context.Context, p *swarm.Process) error {
	ctx, cancel := context.WithTimeout(ctx, handTime)
	defer cancel()
	_, err := p.Command(ctx, "suspend", t.run)
	if err != nil && (strings.Contains(err.Error(), "has been answered in the meantime") ||
		strings.Contains(err.Error(), "has ended already: it is done")) {
		t.faster = true
		return nil
	}
	return err
}

// resume goes on with a run, or with the checkpoint in a directory, which makes another run of it.
func (t *trial) resume(ctx context.Context, p *swarm.Process, what string) error {
	ctx, cancel := context.WithTimeout(ctx, handTime)
	defer cancel()
	out, err := p.Command(ctx, "resume", what)
	if err != nil {
		return err
	}
	t.run, t.asked = strings.TrimSpace(out), p.Number
	t.watch.follow(t.run)
	return nil
}

// resumeCopy has another process go on with a copy of the owner's checkpoint.
func (t *trial) resumeCopy(ctx context.Context, p *swarm.Process) error {
	from := filepath.Join(t.everybody()[t.plan.Owner].Dir, "checkpoints", t.run)
	to := filepath.Join(t.dir, "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return t.resume(ctx, p, to)
}
