package peer

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// Proofs of lies are kept, by whoever has found one out and by whoever was convinced, and told again, for those who
// join later or were cut off: at meetings, some in turn, and by gossip those that this peer has made itself.
// Whoever has one against the same peer looks at no other: if its user has let that peer in again, it stays in.

const (
	// maxProofsTold bounds the proofs of one meeting.
	maxProofsTold = 2
	// proofFor is how long one is told at meetings after it was found.
	proofFor = 30 * 24 * time.Hour
)

// told are the proofs that a member hears at a meeting.
func (j *jury) told() (list [][]byte) {
	files := slices.DeleteFunc(j.evidence.Files(), func(f cabinet.File) bool {
		return f.Size > maxAccusation+4 || j.Now().Sub(f.At) > proofFor
	})
	turn := int(j.turn.Add(maxProofsTold))
	for i := range min(len(files), maxProofsTold) {
		if parts, err := j.evidence.Read(files[(turn+i)%len(files)].Name, 1); err == nil {
			list = append(list, parts[0])
		}
	}
	return list
}

// tell has everybody see for himself who has lied.
func (j *jury) tell(name string, b []byte) {
	if len(b) > maxAccusation {
		return
	}
	j.court.mu.Lock()
	j.court.repeats.Add(j.Now(), name)
	j.court.mu.Unlock()
	j.voice.tell(gossip.KindAccusation, b)
	j.warn(&meeting{Lies: [][]byte{b}})
}

// keepUp tells everybody again, now and then, one of those that this peer has made.
func (j *jury) keepUp(now time.Time) {
	j.court.mu.Lock()
	name, due := j.court.repeats.Due(now)
	j.court.mu.Unlock()
	if !due {
		return
	}
	if parts, err := j.evidence.Read(name, 1); err == nil {
		j.voice.tell(gossip.KindAccusation, parts[0])
	}
}

// keep keeps a proof that has convinced this peer.
func (j *jury) keep(c *charge) {
	if err := j.evidence.Write(c.said.String(), c.text); err != nil {
		j.Log.Error("the proof of a lie cannot be kept", "peer", c.said, "error", err)
	}
}

// manifest is that of the run of a charge: what this peer knows, or what was told with it, if this peer could have
// taken part.
func (j *jury) manifest(c *charge) *runs.Manifest {
	if m := j.court.known(c.Run); m != nil {
		return m
	}
	m, err := statement.OpenManifest(c.Manifest)
	switch {
	case err != nil || m.Run != c.Run:
		return nil
	case m.Entry == module.Func: // none is fetched for that
		return nil
	case j.court.unfit(m) != "":
		return nil
	}
	return manifestOf(m)
}
