//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/module/build"
	"github.com/satin-peer/satin/internal/swarm"
)

// Bounds of waiting. They are far beyond what anything takes on a busy machine: what is not there then hangs.
const (
	formTime   = time.Minute
	cueTime    = 30 * time.Second // then the act is played without its cue
	stallTime  = 3 * time.Minute  // without a job executed by anybody, after the last act
	settleTime = 30 * time.Second
	leaveTime  = 20 * time.Second // leave_after, and as much again
	lingerTime = 3 * time.Second  // after a process has said that it has left; it waits for no more than two
)

// mostAgain is how often the jobs of a run may be executed in all: more is a swarm that goes round in circles.
const mostAgain = 20

// smallDisk is the size of a disk that is to be filled, in bytes.
const smallDisk = 8 << 20

// A Hall is where trials are held: it has what they share.
type Hall struct {
	Binary string
	Liar   string // the program of processes that lie
	// LiarAlone is the same under another name: see the folder liar.
	LiarAlone string
	Dir       string // its trials' directories are made in here
	// NoLab has the network cut by a Shaper, as where no Lab can be made.
	NoLab bool

	mu      sync.Mutex
	answers map[string]local // by task
	trials  int
	unmasked
}

// A Report is what came of a trial.
type Report struct {
	Plan  Plan
	Took  time.Duration
	Notes []string // what was not as planned, though not wrong
	Err   error    // what was wrong
	Logs  string   // where the logs are; empty if they are not kept
}

func (r *Report) String() string {
	end := "ok"
	if r.Err != nil {
		end = "FAILED: " + r.Err.Error()
	}
	text := fmt.Sprintf("%s: %s after %.1f s", r.Plan, end, r.Took.Seconds())
	for _, n := range r.Notes {
		text += "\n\t" + n
	}
	if r.Err != nil {
		text += fmt.Sprintf("\n\trepeat it with: make chaos SEEDS=1 FROM=%d", r.Plan.Seed)
	}
	if r.Logs != "" {
		text += "\n\tlogs are in " + r.Logs
	}
	return text
}

// A trial is a plan on its way.
type trial struct {
	hall   *Hall
	plan   Plan
	number int
	dir    string
	swarm  swarm.Swarm
	lab    *swarm.Lab
	shaper *swarm.Shaper
	began  time.Time
	want   local

	watch   *watch
	run     string
	asked   int            // the process that is asked for the answer
	before  map[int]int    // goroutines of each process before the run, by number
	fresh   map[int]bool   // started in the midst of the run
	later   sync.WaitGroup // faults that will end
	faster  bool           // was the answer than the command to suspend the run
	mu      sync.Mutex
	all     []*swarm.Process
	errs    []error
	notes   []string
	away    map[int]bool  // told to leave
	settled map[int]int   // goroutines afterwards
	over    chan struct{} // closed when the answer is there, or will not come
}

// Try holds the trial of a plan. Logs of one that fails are kept in keep, if that is not empty.
func (h *Hall) Try(ctx context.Context, plan Plan, keep string) *Report {
	h.mu.Lock()
	h.trials++
	t := &trial{hall: h, plan: plan, number: h.trials, began: time.Now(), before: map[int]int{},
		fresh: map[int]bool{}, away: map[int]bool{},
		settled: map[int]int{}, over: make(chan struct{})}
	h.mu.Unlock()
	err := t.hold(ctx)
	report := &Report{Plan: plan}
	if err != nil && keep != "" {
		report.Logs = filepath.Join(keep, fmt.Sprintf("seed-%d", plan.Seed))
		err = errors.Join(err, t.keep(report.Logs))
	}
	err = errors.Join(err, t.clear())
	report.Took, report.Notes, report.Err = time.Since(t.began), t.notes, err
	return report
}

// note remembers what the reader should know.
func (t *trial) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, fmt.Sprintf("%.1f s: ", time.Since(t.began).Seconds())+fmt.Sprintf(format, args...))
}

// wrong remembers an error; the trial goes on.
func (t *trial) wrong(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errs = append(t.errs, err)
}

// everybody lists the processes that there have been so far.
func (t *trial) everybody() []*swarm.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}

// hold does all of it.
func (t *trial) hold(ctx context.Context) (err error) {
	if t.want, err = t.hall.alone(ctx, t.plan.Task); err != nil {
		return err
	}
	if err := t.form(ctx); err != nil {
		return err
	}
	owner := t.swarm.Peers[t.plan.Owner]
	how := []string{"run", "--detach", "--recovery", t.plan.Recovery}
	if t.plan.Verify != "" {
		how = append(how, "--verify", t.plan.Verify)
	}
	out, err := owner.Command(ctx, append(how, t.hall.words(t.plan.Task)...)...)
	if err != nil {
		return err
	}
	t.run, t.asked = strings.TrimSpace(out), t.plan.Owner
	t.note("submitted")
	t.watch = newWatch(ctx, t.run, t.want.jobs, t.swarm.Peers)
	defer t.watch.end()
	unmasking{t}.expose(ctx, owner)
	for _, a := range t.plan.Acts {
		if err := t.play(ctx, a); err != nil {
			return err
		}
	}
	t.answer(ctx)
	t.note("the answer is there")
	close(t.over)
	t.later.Wait()
	unmasking{t}.end()
	t.settle(ctx)
	t.note("all have come to rest, with so many goroutines more than before: %v", t.more())
	t.watch.end()
	t.dismiss(ctx)
	return errors.Join(t.errs...)
}

// more is by how much the goroutines of those that were there all the time have become more.
func (t *trial) more() (list []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, before := range t.before {
		if after, ok := t.settled[n]; ok && !t.fresh[n] {
			list = append(list, after-before)
		}
	}
	slices.Sort(list)
	return list
}

// A local is a run without a swarm.
type local struct {
	answer string
	jobs   uint64
}

// moduleJobs is how many jobs a module gives away in a swarm, about: alone it runs them inside, where nobody counts.
const moduleJobs = 200

// words are the arguments of a task. The files of modules are named from the top: in a Lab commands run elsewhere.
func (h *Hall) words(task string) []string {
	list := strings.Fields(task)
	for i, w := range list {
		if folder, is := strings.CutPrefix(w, inGo); is {
			list[i] = filepath.Join(h.Dir, filepath.Base(folder)+".wasm")
		} else if path, err := filepath.Abs(w); err == nil && strings.HasSuffix(w, ".wasm") {
			list[i] = path
		}
	}
	return list
}

// executed finds the number of jobs in what --stats prints.
var executed = regexp.MustCompile(`(\d[\d,]*) executed`)

// alone runs a task without a swarm on one core, once.
func (h *Hall) alone(ctx context.Context, task string) (l local, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, ok := h.answers[task]; ok {
		return l, nil
	}
	if folder, is := strings.CutPrefix(strings.Fields(task)[0], inGo); is {
		if err := build.Go(ctx, folder, h.words(task)[0]); err != nil {
			return l, err
		}
	}
	out, stats, err := swarm.CommandSays(ctx, h.Binary, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Dir},
		append([]string{"run", "--local", "--workers", "1", "--stats"}, h.words(task)...)...)
	if err != nil {
		return l, fmt.Errorf("%s without a swarm: %w", task, err)
	}
	found := executed.FindStringSubmatch(stats)
	if found == nil {
		return l, fmt.Errorf("%s without a swarm: no number of jobs in %q", task, stats)
	}
	l.answer = out
	if l.jobs, err = strconv.ParseUint(strings.ReplaceAll(found[1], ",", ""), 10, 64); err != nil {
		return l, err
	}
	if h.answers == nil {
		h.answers = map[string]local{}
	}
	if strings.HasSuffix(h.words(task)[0], ".wasm") {
		l.jobs = moduleJobs
	}
	h.answers[task] = l
	return l, nil
}

// form starts the processes and waits until all know each other.
func (t *trial) form(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, formTime)
	defer cancel()
	if t.dir, err = os.MkdirTemp(t.hall.Dir, "trial-"); err != nil {
		return err
	}
	t.swarm = swarm.Swarm{Binary: t.hall.Binary, Dir: t.dir, Invited: len(t.plan.Liars) > 0, Others: map[int]string{},
		// Whatever else wants the cores of this machine: it would get all of them.
		Settings: []string{"SATIN_LOG_LEVEL=debug", "SATIN_CHECKPOINT_INTERVAL=1s", "SATIN_PRIORITY=normal"}}
	for _, n := range t.plan.Liars {
		t.swarm.Others[n] = t.hall.Liar
		if strings.HasPrefix(t.plan.Verify, "spot=") {
			t.swarm.Others[n] = t.hall.LiarAlone
		}
	}
	if err := t.place(ctx); err != nil {
		return err
	}
	var settings [][]string
	for n := range peers {
		settings = append(settings, t.settings(n))
	}
	if err := t.swarm.Form(ctx, settings); err != nil {
		return err
	}
	t.all = slices.Clone(t.swarm.Peers)
	return t.gather(ctx)
}

// place makes what the plan needs of networks and disks, as far as that can be had.
func (t *trial) place(ctx context.Context) (err error) {
	if !t.plan.isolates() && len(t.plan.Small) == 0 {
		return nil
	}
	if !t.hall.NoLab {
		if t.lab, err = swarm.OpenLab(ctx); err == nil {
			t.swarm.Lab, t.swarm.Disks = t.lab, map[int]int64{}
			for _, n := range t.plan.Small {
				t.swarm.Disks[n] = smallDisk
			}
			return nil
		}
		t.note("%v", err)
	}
	if len(t.plan.Small) > 0 {
		t.note("no disk can be filled here")
	}
	var names []string
	for c := range clusters {
		names = append(names, site(c))
	}
	t.shaper, err = swarm.NewShaper(ctx, t.hall.Binary, t.dir, names)
	return err
}

func site(cluster int) string { return fmt.Sprintf("site%d", cluster) }

// settings are those of a process that differ from the others'. Each has an address of its own, under which
// it is found again when it is started again.
func (t *trial) settings(number int) []string {
	list := []string{
		"SATIN_CLUSTER=" + site(number%clusters), "SATIN_POLICY=" + t.plan.Policy,
		swarm.Listen(fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()%128, t.number%256, 1+number)),
	}
	if t.shaper != nil {
		list = append(list, t.shaper.Setting())
	}
	return list
}

// gather waits until every process is connected to every other, and notes how many goroutines it has when it
// has nothing to do.
func (t *trial) gather(ctx context.Context) error {
	for _, p := range t.swarm.Peers {
		for last := -1; ; {
			st, err := p.Client().Status(ctx)
			if err != nil {
				return fmt.Errorf("peer %d: %w", p.Number, err)
			}
			if st.Peers == len(t.swarm.Peers)-1 && st.Goroutines == last {
				t.before[p.Number] = last
				break
			}
			last = st.Goroutines
			select {
			case <-ctx.Done():
				return fmt.Errorf("peer %d is connected to %d of %d others: %w", p.Number, st.Peers,
					len(t.swarm.Peers)-1, ctx.Err())
			case <-time.After(lookEvery):
			}
		}
	}
	return nil
}

// answer waits for the run's end and compares the answer. Only the owner can be asked for it, so one that is
// gone has to come back.
func (t *trial) answer(ctx context.Context) {
	owner := t.everybody()[t.asked]
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go t.giveUp(ctx, cancel)
	for {
		there := owner.Alive() && owner.Client() != nil && !t.isAway(owner.Number)
		if there {
			pid := owner.PID()
			out, err := owner.Command(ctx, "wait", t.run)
			switch {
			case ctx.Err() != nil:
			case err != nil && (!owner.Alive() || owner.PID() != pid || t.isAway(owner.Number)):
			case err != nil:
				t.wrong("no answer: %w", err)
				return
			case out != t.want.answer:
				t.wrong("the answer is %q, that of the program without a swarm %q", out, t.want.answer)
				return
			default:
				return
			}
		}
		select {
		case <-ctx.Done():
			t.wrong("no answer: nothing was executed for %v, or everything %d times (now %.1f times); the owner is there: %v",
				stallTime, mostAgain, t.watch.done(), there)
			t.stacks()
			return
		case <-time.After(lookEvery):
		}
	}
}

// giveUp cancels when the run goes on no more, however slow the machine is.
func (t *trial) giveUp(ctx context.Context, cancel func()) {
	for did, since := t.watch.done(), time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
		switch now := t.watch.done(); {
		case now != did:
			did, since = now, time.Now()
		case time.Since(since) > stallTime:
			cancel()
		}
		if did > mostAgain {
			cancel()
		}
	}
}

// stacks has all processes that hang write where their goroutines are into their logs, and ends them.
func (t *trial) stacks() {
	for _, p := range t.everybody() {
		if p.Alive() {
			t.setAway(p, true)
			_ = p.Signal(syscall.SIGCONT)
			_ = p.Signal(syscall.SIGQUIT)
			<-p.Ended()
		}
	}
}

// keep copies the logs.
func (t *trial) keep(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, "plan"),
		[]byte(t.plan.String()+"\n"+strings.Join(t.notes, "\n")+"\n"), 0o644)}
	for _, p := range t.swarm.Peers {
		errs = append(errs, os.WriteFile(filepath.Join(dir, fmt.Sprintf("peer%d.log", p.Number)), []byte(p.Log()),
			0o644))
	}
	return errors.Join(errs...)
}

// clear ends everything and removes what was written.
func (t *trial) clear() error {
	select {
	case <-t.over:
	default:
		close(t.over) // it failed before
	}
	t.later.Wait()
	err := t.swarm.Close()
	if t.lab != nil {
		err = errors.Join(err, t.lab.Close())
	}
	if t.dir != "" {
		err = errors.Join(err, os.RemoveAll(t.dir))
	}
	return err
}
