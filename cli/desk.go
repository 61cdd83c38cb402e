package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
)

// A desk lets the page of a daemon deal with the runs that the daemon owns, as run, suspend, resume and wait do. It
// begins runs of the applications that are built in, and of the modules that members have published. A module reads its
// arguments and renders its answer itself, in a process of its own, one at a time.
type desk struct {
	d      control.Daemon
	list   []apps.App
	asking sync.Mutex // held while a module runs
}

func (k *desk) Apps(ctx context.Context) ([]dashboard.App, error) {
	var list []dashboard.App
	for _, a := range k.list {
		list = append(list, dashboard.App{Name: a.Name, Args: a.Args, Summary: a.Summary})
	}
	all, err := k.d.Modules(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Name == "" {
			continue
		}
		same := func(o control.ModuleInfo) bool { return o.Name == m.Name && o.Publisher != m.Publisher }
		if k.builtIn(m.Name) || slices.ContainsFunc(all, same) {
			m.Name = m.Publisher + "/" + m.Name
		}
		list = append(list, dashboard.App{Name: m.Name, Args: oneLine(m.Args), Summary: oneLine(m.Summary)})
	}
	return list, nil
}

func (k *desk) builtIn(app string) bool {
	return slices.ContainsFunc(k.list, func(a apps.App) bool { return a.Name == app })
}

func (k *desk) Start(ctx context.Context, app, arguments string) (string, error) {
	run := control.RunInfo{App: app, Args: strings.Fields(arguments)}
	list, release, bin := k.list, func() {}, []byte(nil)
	if !k.builtIn(app) {
		f, err := k.d.Module(ctx, app)
		if errors.Is(err, control.ErrNotFound) {
			return "", fmt.Errorf("%w: there is no application and no module %q here", report.ErrBadInput, app)
		}
		if err != nil {
			return "", err
		}
		k.asking.Lock()
		defer k.asking.Unlock()
		m, given, err := askModule(console{err: io.Discard}, app, f.Bytes)
		if err != nil {
			return "", fmt.Errorf("%w: %w", report.ErrBadInput, err)
		}
		own := moduleApp(m)
		list, release, bin, run.App = []apps.App{own}, given, f.Bytes, own.Name
	}
	defer release()
	t, err := readTask(list, run)
	if err == nil && t.problem.Writes() {
		err = errors.New("a file can be written from the command line only: leave the output out")
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", report.ErrBadInput, err)
	}
	sub, loans, err := submission(t, &options{})
	if err != nil {
		return "", err
	}
	if sub.Constants, err = lend(ctx, k.d, loans); err != nil {
		return "", err
	}
	if bin != nil { // which may have gone from the disk meanwhile
		info, err := k.d.AddModule(ctx, control.ModuleFile{Bytes: bin})
		if err != nil {
			return "", err
		}
		sub.Module = info.Module
	}
	begun, err := k.d.Submit(ctx, sub)
	return begun.Run, err
}

func (k *desk) Suspend(ctx context.Context, run string) error { return k.d.Suspend(ctx, run) }

func (k *desk) ResumeRun(ctx context.Context, run string) error {
	_, err := k.d.ResumeRun(ctx, control.Resumption{Run: run})
	return err
}

// Answer checks the result and renders it, as wait does; it writes no file.
func (k *desk) Answer(ctx context.Context, name string) (string, error) {
	run, err := findRun(ctx, k.d, name)
	if err != nil {
		return "", err
	}
	switch {
	case !run.Mine:
		return "", fmt.Errorf("%w: the run belongs to another peer, which has the answer", report.ErrRefused)
	case run.State != control.RunDone:
		return "", fmt.Errorf("%w: the run is %s, and has no answer", report.ErrRefused, run.State)
	}
	if run.Module != "" {
		k.asking.Lock()
		defer k.asking.Unlock()
	}
	list, release, err := console{err: io.Discard}.moduleOf(ctx, k.d, run, k.list)
	if err != nil {
		return "", fmt.Errorf("%w: its module: %w", report.ErrRefused, err)
	}
	defer release()
	t, err := readTask(list, run)
	if err != nil {
		return "", fmt.Errorf("%w: its arguments cannot be read: %w", report.ErrRefused, err)
	}
	t.problem.Save = nil
	s, err := (&swarmRun{d: k.d, run: run.Run, problem: t.problem}).solve(ctx)
	if err != nil {
		return "", err
	}
	text := s.answer.Text
	if s.rival {
		text += "\n" + "Another peer came to another answer."
	}
	return text, nil
}
