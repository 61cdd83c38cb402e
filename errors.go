package satin

import (
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// ErrAborted is the error of a job that Abort, an early end of a Results loop, or the end of the run's
// context dropped.
var ErrAborted = engine.ErrAborted

// ErrClosed is returned by what a closed Pool is asked to do.
var ErrClosed = engine.ErrClosed

type (
	// A JobError says that a job failed, and which. It travels to the job's spawner, however far away the job
	// ran, and keeps naming the job that failed first.
	JobError = job.Error

	// A JobID names a job in all the swarm: its run, and its path in the run's tree of jobs.
	JobID = job.ID
)
