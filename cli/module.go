package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	computing "github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/peer/control"
)

// moduleSuffix marks an argument of run as the file of a module, and the name of the application that it becomes.
const moduleSuffix = ".wasm"

// withModule loads the module that args of run name, by its file or as one that was published, as one more
// application, which args name in its place. release gives it up.
func (c console) withModule(args []string, list []apps.App) (_ []string, _ []apps.App, release func(), err error) {
	release = func() {}
	if len(args) < 2 || args[0] != runName && args[0] != appsName {
		return args, list, release, nil
	}
	at := slices.IndexFunc(args[1:], func(a string) bool {
		return strings.HasSuffix(a, moduleSuffix) && isPlain(a)
	}) + 1
	if slices.ContainsFunc(list, func(a apps.App) bool { return slices.Contains(args[1:max(at, 1)], a.Name) }) {
		return args, list, release, nil // it is an application's argument
	}
	var bin []byte
	load, byName := c.loadModule, at == 0
	if !byName {
		bin, err = apps.ReadFile(args[at], module.MaxSize)
	} else {
		at, bin, err = c.publishedModule(args, list)
		load = func(what string, bin []byte) (*runModule, func(), error) { return askModule(c, what, bin) }
	}
	if err != nil || bin == nil {
		return args, list, release, err
	}
	m, release, err := load(args[at], bin)
	if err != nil {
		return nil, nil, release, err
	}
	c.modules[m.hash] = m
	if byName {
		m.called = args[at]
		return args, append(slices.Clone(list), moduleApp(m)), release, nil
	}
	args = slices.Clone(args)
	args[at] = m.Name + moduleSuffix
	return args, append(slices.Clone(list), moduleApp(m)), release, nil
}

// publishedModule gets the module that args of run name from the daemon; nil if they name none, or there is no
// daemon.
func (c console) publishedModule(args []string, list []apps.App) (at int, bin []byte, err error) {
	run := runCommand(newRoot(list, c))
	s := split(run, args[1:])
	if !s.clear || slices.ContainsFunc(list, func(a apps.App) bool { return a.Name == s.plain[0] }) {
		return 0, nil, nil
	}
	run.FParseErrWhitelist.UnknownFlags = true // the module's own
	if err := run.ParseFlags(args[1:]); err != nil {
		return 0, nil, nil // whoever reads them again says what is wrong
	}
	d, err := c.connect(run.Flags())
	if err != nil {
		return 0, nil, nil
	}
	defer d.Close()
	f, err := d.Module(context.Background(), s.plain[0])
	if errors.Is(err, control.ErrNotFound) {
		return 0, nil, unknownHere(run, s.plain[0], d)
	}
	return slices.Index(args, s.plain[0]), f.Bytes, daemonError(err)
}

// unknownHere says that there is neither an application nor a module of that name, and which there are.
func unknownHere(run *cobra.Command, name string, d control.Daemon) error {
	err := unknown("application", run, name)
	in, ctx := (*apps.InputError)(nil), context.Background()
	list, bad := d.Modules(ctx)
	s, worse := d.Status(ctx)
	if !errors.As(err, &in) || bad != nil || worse != nil {
		return err
	}
	var names []string
	for _, m := range list {
		if m.Name != "" && !slices.Contains(names, m.Name) {
			names = append(names, oneLine(m.Name))
		}
	}
	switch {
	case s.Modules.Whose == "off":
		in.Want += "; this daemon runs no modules (setting modules)"
	case len(names) == 0:
		in.Want += "; no member has published a module"
	default:
		in.Want += "; or a module: " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return in
}

// A runModule is a module that a command runs.
type runModule struct {
	module.Description
	hash  module.Hash
	bytes []byte
	asked interface { // the module in this process, or in one of its own
		Setup(args, flags []string, files []module.File) (module.Root, error)
		Render(root module.Call, result []byte) (text string, fields map[string]any, err error)
		Check(root module.Call, result []byte) error
	}
	here bool // its jobs run in this process

	called string // the name by which the user asked the daemon for it
}

// calledAs is how the user names an application: one that is a published module by the name that it has there.
func calledAs(modules map[module.Hash]*runModule, app string) string {
	for _, m := range modules {
		if m.called != "" && m.Name+moduleSuffix == app {
			return m.called
		}
	}
	return app
}

// loadModule makes a module run in this process, and describe itself: one whose file the user has named. What names it
// in errors.
func (c console) loadModule(what string, bin []byte) (_ *runModule, release func(), err error) {
	say := func(line string) { fmt.Fprintln(c.err, line) }
	h, err := module.NewHost(module.Config{Cache: cacheDir(), Log: say})
	if err != nil {
		return nil, func() {}, failed("%w", err)
	}
	m, err := h.Load(bin)
	if err != nil {
		return nil, func() {}, &apps.InputError{What: what, Want: "a module that can be run: " + err.Error()}
	}
	module.Provide(m)
	return &runModule{m.Description, m.Hash, bin, m, true, ""}, func() {
		module.Withdraw(m.Hash)
		m.Close()
		_ = h.Close() // nothing of it is wanted any more
	}, nil
}

// askModule has a module describe itself in a process without files and network: one that somebody else has
// published, or that a daemon has.
func askModule(c console, what string, bin []byte) (_ *runModule, release func(), err error) {
	hash := module.HashOf(bin)
	cache := cacheDir()
	if cache != "" { // what is in there nobody else runs
		cache = filepath.Join(cache, "others", fmt.Sprintf("%x", hash[:]))
		if os.MkdirAll(cache, 0o700) != nil {
			cache = ""
		}
	}
	say := func(line string) { fmt.Fprintln(c.err, oneLine(line)) }
	a, err := computing.Ask(computing.Config{Command: processes(), Log: say,
		Module: &computing.Module{Hash: hash, Bytes: bin, Cache: cache}})
	if bad := (*module.Error)(nil); errors.As(err, &bad) {
		return nil, func() {}, &apps.InputError{What: what, Want: "a module that can be run: " + bad.Error()}
	}
	if err != nil {
		return nil, func() {}, failed("%w", err)
	}
	return &runModule{a.Description, a.Hash, bin, a, false, ""}, a.Close, nil
}

// provide makes jobs of a problem run in this process, if they are a module's.
func provide(c console, p *apps.Problem) (release func(), err error) {
	call, ok := p.Arg.(module.Call)
	if m := c.modules[call.Module]; ok && m != nil && !m.here {
		_, release, err = c.loadModule(m.Name, m.bytes)
		return release, err
	}
	return func() {}, nil
}

// offer gives the daemon the module whose job a problem is, if it is one's, and names it.
func (c console) offer(d control.Daemon, arg any) (name string, err error) {
	call, ok := arg.(module.Call)
	if !ok {
		return "", nil
	}
	info, err := d.AddModule(context.Background(), control.ModuleFile{Bytes: c.modules[call.Module].bytes})
	return info.Module, err
}

// moduleOf gets the module of a run from the daemon, as one more application.
func (c console) moduleOf(ctx context.Context, d control.Daemon, run control.RunInfo, list []apps.App) (_ []apps.App,
	release func(), err error) {
	if run.Module == "" {
		return list, func() {}, nil
	}
	f, err := d.Module(ctx, run.Module)
	if err != nil {
		return nil, func() {}, err
	}
	m, release, err := askModule(c, run.App, f.Bytes)
	if err != nil {
		return nil, release, err
	}
	return append(slices.Clone(list), moduleApp(m)), release, nil
}

// cacheDir is where compiled modules are kept; none where the user has no such place.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "satin-peer", "modules")
}

// moduleApp is a module as an application.
func moduleApp(m *runModule) apps.App {
	return apps.App{
		Name:     m.Name + moduleSuffix,
		Summary:  m.Summary,
		Args:     m.Args,
		Long:     m.Long,
		Examples: m.Examples,
		Setup: func(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
			given := fileFlag{}
			fs.Var(&given, fileFlagName, "a file for the module, as `NAME=PATH`, again or after a comma for another one")
			values := make([]func() string, len(m.Flags))
			for i, f := range m.Flags {
				if f.Bool {
					on := fs.Bool(f.Name, f.Default == "true", f.Usage)
					values[i] = func() string { return strconv.FormatBool(*on) }
					continue
				}
				text := fs.String(f.Name, f.Default, f.Usage)
				values[i] = func() string { return *text }
			}
			return func(args []string) (*apps.Problem, error) {
				flags := make([]string, len(values))
				for i, v := range values {
					flags[i] = v()
				}
				files, err := given.read()
				if err != nil {
					return nil, err
				}
				return moduleProblem(m, args, flags, files)
			}
		},
	}
}

func moduleProblem(m *runModule, args, flags []string, files []module.File) (*apps.Problem, error) {
	if want := len(strings.Fields(m.Args)); !strings.Contains(m.Args, "...") && !choices(m.Args) {
		if err := apps.ArgCount(args, want, m.Args); err != nil {
			return nil, err
		}
	}
	root, err := m.asked.Setup(args, flags, files)
	if in, ok := err.(*module.InputError); ok {
		return nil, &apps.InputError{What: in.What, Got: written(m, in.What, args, flags, files), Want: in.Want}
	}
	if err != nil {
		return nil, failed("%w", err)
	}
	call := root.Call
	bytes := func(result any) []byte { b, _ := result.([]byte); return b }
	return &apps.Problem{
		Title: root.Title,
		Root:  module.Func,
		Arg:   call,
		Sequential: func() any {
			result, err := (*satin.Pool)(nil).RunNamed(context.Background(), module.Func, call)
			if err != nil {
				panic(err)
			}
			return result
		},
		Check: func(result any) error { return m.asked.Check(call, bytes(result)) },
		Answer: func(result any) apps.Answer {
			text, fields, err := m.asked.Render(call, bytes(result))
			if err != nil {
				panic(err) // see examine
			}
			return apps.Answer{Text: text, Fields: fields}
		},
	}, nil
}

// choices says whether a usage leaves the user some, as "[FILE]" and "FILE | N R I" do: how many arguments it wants
// then, and which one a word of it stands for, only the module knows.
func choices(usage string) bool { return strings.ContainsAny(usage, "[|") }

// written finds what the user wrote for what a module refuses: an argument by its word in the usage, or a flag.
func written(m *runModule, what string, args, flags []string, files []module.File) string {
	if what == "--"+fileFlagName {
		return filesText(files)
	}
	if i := slices.Index(strings.Fields(m.Args), what); i >= 0 && i < len(args) && !choices(m.Args) {
		return args[i]
	}
	for i, f := range m.Flags {
		if what == "--"+f.Name {
			return flags[i]
		}
	}
	return ""
}
