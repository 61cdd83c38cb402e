package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/runs"
)

// What the user does not want here, as a command and on the disk: package runs keeps to it.

// refuse takes no part in a run, or in an owner's, or does again.
func (o *owner) refuse(ctx context.Context, r control.Refused) error {
	var what runs.Refused
	if r.Run != "" {
		id, err := runNamed(r.Run)
		if err != nil {
			return err
		}
		what.Run = id
	} else {
		id, err := peerID(r.Owner)
		if err != nil {
			return err
		}
		what.Owner = peerName(id)
	}
	return refused(o.runs.command(ctx, func(c *runs.Core, now time.Time, at runs.Ticket) []runs.Order {
		return c.Refuse(now, at, what, r.Lift)
	}))
}

// refusedName is the one file of the cabinet.
const refusedName = "all"

// refusal is a line of it.
type refusal struct {
	Run   job.RunID `cbor:"1,keyasint"`
	Owner string    `cbor:"2,keyasint,omitempty"`
}

func (a *archive) writeRefused(list []runs.Refused) error {
	lines := make([]refusal, len(list))
	for i, r := range list {
		lines[i] = refusal{r.Run, string(r.Owner)}
	}
	b, err := wire.Value().Encode(lines)
	if err != nil {
		return err
	}
	return a.refused.Write(refusedName, b)
}

func (a *archive) recallRefused() ([]runs.Refused, error) {
	if !a.refused.Has(refusedName) {
		return nil, nil
	}
	parts, err := a.refused.Read(refusedName, 1)
	if err != nil {
		return nil, err
	}
	var lines []refusal
	if err := wire.Value().Decode(parts[0], &lines); err != nil {
		return nil, fmt.Errorf("what is refused: %w", err)
	}
	list := make([]runs.Refused, len(lines))
	for i, l := range lines {
		list[i] = runs.Refused{Run: l.Run, Owner: runs.PeerID(l.Owner)}
	}
	return list, nil
}

// notWanted lists what is refused, for people.
func notWanted(c *runs.Core) (list []control.Refused) {
	for _, r := range c.Refused() {
		if r.Owner != "" {
			list = append(list, control.Refused{Owner: string(r.Owner)})
		} else {
			list = append(list, control.Refused{Run: r.Run.Hex()})
		}
	}
	return list
}
