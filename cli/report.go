package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/report"
)

// A task is what the user asked for.
type task struct {
	app     string
	args    []string
	flags   map[string]any // the application's own ones that were given
	problem *apps.Problem
	sources string // the application's Version
}

// run solves t in this process and reports what came of it.
func (c console) run(t *task, o *options) error {
	release, err := provide(c, t.problem)
	defer release()
	if err != nil {
		return err
	}
	var pool *satin.Pool
	if !o.sequential {
		if pool, err = o.pool(); err != nil {
			return err
		}
	}
	r := newLocalRun(t.problem, pool)
	hide := func() {}
	if o.dashboard {
		if hide, err = c.watch(newLocalPage(t, r)); err != nil {
			pool.Close()
			return err
		}
	}
	_, disarm := c.arm(o.faults, c.complain)
	defer disarm()
	err = c.finish(t, o, r)
	hide()
	if stopped := (*interrupted)(nil); pool != nil && !errors.As(err, &stopped) {
		pool.Close() // which would wait for long leaves of an interrupted run
	}
	return err
}

// pool makes what runs jobs in this process.
func (o *options) pool() (p *satin.Pool, err error) {
	cfg := satin.Config{Workers: o.workers, Nice: o.nice}
	if o.exec != nil {
		if cfg.Exec, err = o.exec(); err != nil {
			return nil, err
		}
	}
	if p, err = satin.NewPool(cfg); err != nil {
		return nil, failed("%w", err)
	}
	return p, nil
}

// finish waits for a run and reports what came of it.
func (c console) finish(t *task, o *options, r computation) error {
	s, err := c.attend(r)
	var (
		stopped *interrupted
		broken  *failure
	)
	switch {
	case errors.As(err, &stopped):
		if o.stats && s.end.peers == 0 {
			fmt.Fprint(c.err, newStatistics(s.end).text())
		}
		return err
	case errors.As(err, &broken) && !o.verbose:
		broken.stack = nil
	}
	if err == nil {
		err = c.report(t, o, s)
	}
	return err
}

// report prints the answer on the console's output, and the rest about it on the other one.
func (c console) report(t *task, o *options, s solution) error {
	if s.unsaved != nil { // the text names a file that is not there
		fmt.Fprintln(c.err, "satin-peer: not written: "+oneLine(s.answer.Text))
		return failed("%w", s.unsaved)
	}
	if o.json {
		if err := c.printJSON(t, o, s); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.out, s.answer.Text) // c.out keeps the error
		fmt.Fprintf(c.err, "%s: %s %s\n", oneLine(t.problem.Title), seconds(s.end.at), means(s.end))
		switch {
		case o.stats && s.swarm != nil:
			fmt.Fprint(c.err, swarmText(*s.swarm, s.end))
		case o.stats:
			fmt.Fprint(c.err, newStatistics(s.end).text())
		}
	}
	if s.by != "" {
		fmt.Fprintln(c.err, "This peer was away at the end or computed nothing (paused, or other programs wanted its "+
			"cores): the answer is that of "+oneLine(s.by)+", and rests on its word.")
	}
	if text := trustText(s.trust); text != "" && !o.json {
		fmt.Fprintln(c.err, text)
	}
	if s.warning != "" {
		fmt.Fprintln(c.err, "satin-peer: "+oneLine(s.warning))
	}
	return nil
}

// means says what a run used.
func means(end sample) string {
	if end.peers > 0 {
		return "on " + counted(uint64(end.peers), "peer")
	}
	switch end.Workers {
	case 0:
		return "in the sequential program"
	case 1:
		return "on 1 worker"
	}
	return "on " + strconv.Itoa(end.Workers) + " workers"
}

// trustText says what an answer rests on, if it is more than the word of members.
func trustText(t *report.Trust) string {
	if t == nil || t.Mode == "members" {
		return ""
	}
	text := fmt.Sprintf("verified by %s: %s of others compared, %d of them computed again elsewhere and %d here; %s",
		oneLine(t.Mode), counted(t.Proved, "job"), t.Copies, t.Here, oneLine(t.Bound))
	if t.Reran > 0 {
		text += fmt.Sprintf("; %s committed to, %d run again here alone in %.3g s", counted(t.Nodes, "node"), t.Reran,
			t.RerunSeconds)
	}
	if len(t.Caught) > 0 {
		text += "; caught in a lie and put out: " + oneLine(strings.Join(t.Caught, ", "))
	}
	return text
}

// A document is what --json prints.
type document struct {
	App        string         `json:"app"`
	Args       []string       `json:"args"`
	Flags      map[string]any `json:"flags"` // the application's own ones that were given
	Title      string         `json:"title"`
	Answer     map[string]any `json:"answer"`
	Elapsed    float64        `json:"elapsed_seconds"` // of the run, without reading input and checking the answer
	Sequential bool           `json:"sequential"`
	// 1 for the sequential program; the last that were seen, of a swarm
	Workers int `json:"workers"`
	Peers   int `json:"peers,omitempty"` // of a swarm that worked on it
	// the peer that had the root job at the end, if that is not the owner
	AnsweredBy string `json:"answered_by,omitempty"`
	// another peer came to another answer; standard error has more
	Disputed bool        `json:"disputed,omitempty"`
	Stats    *statistics `json:"stats,omitempty"` // with --stats
	// what the answer rests on, of a run in a swarm
	Trust *report.Trust `json:"trust,omitempty"`
	// with --stats, of a run in a swarm
	Swarm *report.RunStats `json:"swarm_stats,omitempty"`
	// of these peers it lacks what they did last, which they have not told
	Unheard int `json:"unheard_peers,omitempty"`
}

func (c console) printJSON(t *task, o *options, s solution) error {
	text, err := describe(t, o, s)
	if err == nil {
		_, err = c.out.Write(text)
	}
	return err
}

// describe makes the document of a run.
func describe(t *task, o *options, s solution) ([]byte, error) {
	d := document{
		App: t.app, Args: append([]string{}, t.args...), Flags: t.flags, Title: t.problem.Title,
		Answer: s.answer.Fields, Elapsed: s.end.at.Seconds(), Sequential: o.sequential, Workers: max(s.end.Workers, 1),
	}
	d.Peers, d.AnsweredBy, d.Disputed, d.Trust = s.end.peers, s.by, s.rival, s.trust
	switch {
	case o.stats && s.swarm != nil:
		d.Swarm, d.Unheard = s.swarm, s.end.unheard
	case o.stats:
		stats := newStatistics(s.end)
		d.Stats = &stats
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, failed("the answer to %s cannot be written as JSON: %w; it is: %s", t.problem.Title, err,
			s.answer.Text)
	}
	return append(text, '\n'), nil
}
