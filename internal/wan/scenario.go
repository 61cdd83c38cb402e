package wan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// A Scenario is a parsed scenario file and all it reads: how a network begins and how it changes. It is not
// changed by use, so many models may be made from one.
type Scenario struct {
	Name  string
	Sizes []int // peers in each cluster
	local Conditions
	// body is run once; loop, if there is one, for ever after.
	body, loop []command
}

// defaultLocal is what two peers of one cluster see unless the file says otherwise: the Myrinet of the paper's DAS.
var defaultLocal = Conditions{Bandwidth: 30e6, Latency: 50 * time.Microsecond}

type verb int

const (
	verbSet verb = iota
	verbVary
	verbRemove
	verbRestore
	verbQueue
	verbMeasure
	verbSleep
)

// command is one step of a script.
type command struct {
	verb       verb
	from, to   int // -1: all links
	symmetric  bool
	conditions Conditions
	low, high  float64 // vary: bandwidth
	near, far  float64 // vary: latency
	bytes      int
	pause      time.Duration
	trace      *Trace
}

// Parse reads the scenario file of that name from files. Errors are *SyntaxError, or from files.
func Parse(files fs.FS, name string) (*Scenario, error) {
	p := parser{files: files}
	if err := p.file(name, 0); err != nil {
		return nil, err
	}
	if p.sizes == nil {
		return nil, &SyntaxError{name, 0, `no "clusters" command: a scenario says how many peers each cluster has`}
	}
	if p.looping && !p.loopSleeps {
		return nil, &SyntaxError{name, p.loopLine, "forever: nothing after it sleeps, so time would stand still"}
	}
	s := &Scenario{Name: name, Sizes: p.sizes, local: p.local, body: p.commands}
	if p.looping {
		s.body, s.loop = p.commands[:p.loopStart], p.commands[p.loopStart:]
	}
	return s, nil
}

// parser gathers the commands of a file and of those it reads.
type parser struct {
	files      fs.FS
	sizes      []int
	local      Conditions
	commands   []command
	looping    bool
	loopStart  int
	loopLine   int
	loopSleeps bool
}

func (p *parser) file(name string, depth int) error {
	if !fs.ValidPath(name) {
		return fmt.Errorf("%q is not a file name relative to the scenario's folder", clip(name))
	}
	data, err := readFile(p.files, name)
	if err != nil {
		return err
	}
	all, err := lines(name, data)
	if err != nil {
		return err
	}
	for i := range all {
		if err := p.line(&all[i], depth); err != nil {
			return err
		}
		if len(p.commands) > maxCommands {
			return &SyntaxError{name, all[i].line, fmt.Sprintf("more than %d commands", maxCommands)}
		}
	}
	return nil
}

// readFile reads at most one byte more than is allowed.
func readFile(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFileSize+1))
}

func (p *parser) line(f *fields, depth int) error {
	name := f.word("command")
	switch name {
	case "read":
		return p.read(f, depth)
	case "clusters":
		p.clusters(f)
		return f.end(name)
	}
	if p.sizes == nil {
		f.fail(`%s: the first command must be "clusters" (or "read" of a file that has it)`, clip(name))
		return f.err
	}
	switch name {
	case "local":
		c := f.conditions()
		if len(p.commands) > 0 {
			f.fail("local: it must come before the commands about links")
		}
		p.local = c
	case "forever":
		if p.looping {
			f.fail("forever: there is one already, in line %d", p.loopLine)
		}
		p.looping, p.loopStart, p.loopLine = true, len(p.commands), f.line
	case "sleep":
		ms := f.number("milliseconds", 0, float64(maxSleep.Milliseconds()))
		if ms > 0 && ms < leastSleep {
			f.fail("milliseconds: %v is less than the least sleep, %v", ms, leastSleep)
		}
		p.loopSleeps = p.loopSleeps || p.looping && ms > 0
		p.add(f, command{verb: verbSleep, pause: seconds(ms / 1000)})
	case "measure":
		p.measure(f)
	default:
		p.linkCommand(f, name)
	}
	return f.end(name)
}

func (p *parser) add(f *fields, c command) {
	if f.err == nil {
		p.commands = append(p.commands, c)
	}
}

func (p *parser) read(f *fields, depth int) error {
	file := f.word("file name")
	if err := f.end("read"); err != nil {
		return err
	}
	if depth+1 >= maxDepth {
		f.fail("read: files are nested more than %d deep (does one read itself?)", maxDepth)
		return f.err
	}
	err := p.file(file, depth+1)
	var syntax *SyntaxError
	if err != nil && !errors.As(err, &syntax) {
		f.fail("read: %v", err)
		return f.err
	}
	return err
}

func (p *parser) clusters(f *fields) {
	if p.sizes != nil {
		f.fail("clusters: the clusters are described already")
	}
	var sizes []int
	for f.err == nil && (len(f.words) > 0 || len(sizes) == 0) {
		sizes = append(sizes, f.integer("cluster size", 1, maxPeers))
	}
	if len(sizes) > MaxClusters {
		f.fail("clusters: %d of them; at most %d are possible", len(sizes), MaxClusters)
	}
	p.sizes, p.local = sizes, defaultLocal
}

func (p *parser) measure(f *fields) {
	file := f.word("trace file name")
	if f.err != nil {
		return
	}
	trace, err := ParseTrace(p.files, file, len(p.sizes))
	var syntax *SyntaxError
	if err != nil {
		if errors.As(err, &syntax) {
			f.err = err
		} else {
			f.fail("measure: %v", err)
		}
		return
	}
	p.add(f, command{verb: verbMeasure, trace: trace})
}

// linkCommand parses the commands that name links: set, vary, remove, restore, queue and their _sym forms.
func (p *parser) linkCommand(f *fields, name string) {
	plainName, symmetric := strings.CutSuffix(name, "_sym")
	c := command{symmetric: symmetric}
	switch plainName {
	case "set":
		c.verb = verbSet
		p.which(f, &c)
		c.conditions = f.conditions()
	case "vary":
		c.verb = verbVary
		p.which(f, &c)
		c.low = f.number("lowest share of the bandwidth", 0.0001, 10_000)
		c.high = f.number("highest share of the bandwidth", c.low, 10_000)
		c.near = f.number("lowest multiple of the latency", 0, 10_000)
		c.far = f.number("highest multiple of the latency", c.near, 10_000)
	case "remove":
		c.verb = verbRemove
		p.which(f, &c)
	case "restore":
		c.verb = verbRestore
		p.which(f, &c)
	case "queue":
		c.verb = verbQueue
		p.which(f, &c)
		c.bytes = f.integer("bytes", 0, 1<<40)
	default:
		f.fail("%q is not a command; the commands are read, clusters, local, set, vary, remove, restore, queue "+
			"(each of the last five also with _sym), measure, sleep, forever", clip(name))
	}
	p.add(f, c)
}

// which parses "all" or "one" from to.
func (p *parser) which(f *fields, c *command) {
	c.from, c.to = -1, -1
	switch w := f.word(`"all" or "one"`); w {
	case "all", "":
	case "one":
		n := len(p.sizes)
		c.from = f.integer("from-cluster", 1, n) - 1
		c.to = f.integer("to-cluster", 1, n) - 1
		if f.err == nil && c.from == c.to {
			f.fail("cluster %d has no link to itself", c.from+1)
		}
	default:
		f.fail(`%q stands where "all" or "one" is expected`, clip(w))
	}
}
