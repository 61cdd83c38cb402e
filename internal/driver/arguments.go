package driver

import (
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// Large arguments
//
// A job that is too large for a message leaves without its argument, which the core of what is shared keeps and the
// job names, like a constant that it reads. So it is fetched in pieces, beside the messages of others, from whoever has
// it, and the job begins when it is here, or goes back. Neither steal's core nor an engine knows of it: the first moves
// jobs whose argument is empty, and the second gets them whole. The identity is that of the whole job. What has no room
// is left as it is, and steal's core leaves it with its engine.
//
// It is kept as long as the job is outside of its engine, and where it was fetched, as long as steal's core knows the
// segment; then it is forgotten, at both ends.

// keepsArgument has the argument of a job that leaves kept here, and the job name it; false if there is no room.
func (s *shared) keepsArgument(now time.Duration, j *steal.Job, names *port.Names) bool {
	if len(names.Needs) >= port.MaxNeeds {
		return false
	}
	d, out, ok := s.core.Keep(now, j.Function, sharedobj.Build(j.Arg))
	s.absorb(out)
	if ok {
		names.Argument, j.Arg = d, nil
		names.Needs = append(names.Needs, sharedobj.Need{Digest: d})
	}
	return ok
}

// makeWhole puts back the argument that a job has left behind. It is here: what the engine gets was fetched, or was
// given away here and is pinned.
func (s *shared) makeWhole(j *steal.Job) {
	if s == nil || len(j.Arg) > 0 || len(j.Names) == 0 {
		return
	}
	if names, err := port.DecodeNames(j.Names); err == nil {
		j.Arg, _ = s.core.Private(sharedobj.Argument, names.Argument)
	}
}
