package satin

import "github.com/satin-peer/satin/job"

// A RunID names one computation.
type RunID = job.RunID

// A Path names a job within its run: the indices, from 1, of the children to be taken from the root down to it.
type Path = job.Path

// A JobID names a job in all the swarm.
type JobID = job.ID

// NewRunID draws a RunID at random.
func NewRunID() RunID { return job.NewRunID() }
