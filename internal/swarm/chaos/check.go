//go:build unix

package chaos

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/settings"
)

// How many goroutines a process may have after a run more than before it: streams to partners remain open for
// a while, and two peers that find each other again may have two connections. Sessions and workers have none
// at all: see leaks.
const (
	spare   = 16
	perPeer = 8
)

// settle sees that everybody who is left has come to rest after the run, and that nobody else is gone but those who
// were killed or told to leave.
func (t *trial) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	var wait sync.WaitGroup
	for _, p := range t.everybody() {
		if t.isAway(p.Number) {
			continue
		}
		if !p.Alive() {
			if status, ok := p.State().Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
				t.wrong("peer %d has ended by itself, with %s", p.Number, p.State())
			}
			continue
		}
		wait.Go(func() {
			if err := t.rest(ctx, p); err != nil {
				t.wrong("peer %d: %w", p.Number, err)
			}
		})
	}
	wait.Wait()
}

// calm is for how long the number of goroutines must not change: what a run leaves behind has ended then.
const calm = time.Second

// rest waits until a process answers, is in no run, and has as few goroutines as before, and always as many.
func (t *trial) rest(ctx context.Context, p *swarm.Process) error {
	last, since := 0, time.Now()
	for {
		st, err := p.Client().Status(ctx)
		if st.Goroutines != last {
			last, since = st.Goroutines, time.Now()
		}
		most := t.atFirst(p.Number) + spare + perPeer*st.Peers
		if err == nil && len(st.Runs) == 0 && st.Goroutines <= most && time.Since(since) > calm && t.cleared(p) {
			t.mu.Lock()
			t.settled[p.Number] = st.Goroutines
			t.mu.Unlock()
			return nil
		}
		select {
		case <-ctx.Done():
			switch {
			case err != nil:
				return fmt.Errorf("does not answer %v after the run: %w", settleTime, err)
			case len(st.Runs) > 0:
				return fmt.Errorf("still takes part in the run %v after its end: it is %s %s", settleTime,
					st.Runs[0].State, st.Runs[0].Why)
			}
			if st.Goroutines > most {
				return fmt.Errorf("has %d goroutines %v after the run; before it, it had %d", st.Goroutines,
					settleTime, t.atFirst(p.Number))
			}
			if !t.cleared(p) {
				return fmt.Errorf("keeps a checkpoint of the run %v after its end", settleTime)
			}
			return nil // others come and go
		case <-time.After(lookEvery):
		}
	}
}

// cleared says whether a process has removed its checkpoint of the run. One that was started again when the
// run had ended has to ask others first. A run that was resumed from a copy leaves what was copied.
func (t *trial) cleared(p *swarm.Process) bool {
	list, err := filepath.Glob(filepath.Join(t.root(p), "checkpoints", "*", "*.satinlog"))
	return t.plan.has(Copy) || err != nil || len(list) == 0
}

// root is where this program finds a process's state directory.
func (t *trial) root(p *swarm.Process) string {
	if t.lab != nil {
		return t.lab.Path(p.Dir)
	}
	return p.Dir
}

// atFirst is how many goroutines a process had before the run; of those that came later the most that others had.
func (t *trial) atFirst(number int) (most int) {
	if n, ok := t.before[number]; ok {
		return n
	}
	for _, n := range t.before {
		most = max(most, n)
	}
	return most
}

// dismiss ends all that are left, and looks at what remains: half of them leave, the others have to say what
// their goroutines do.
func (t *trial) dismiss(ctx context.Context) {
	var wait sync.WaitGroup
	var left []*swarm.Process // in good order: whoever is ended by SIGQUIT may be in the middle of writing a file
	for i, p := range t.everybody() {
		if !p.Alive() {
			continue
		}
		if i%2 == int(t.plan.Seed%2) {
			left = append(left, p)
			wait.Go(func() { t.depart(ctx, p, false) })
			continue
		}
		wait.Go(func() {
			if err := p.Signal(syscall.SIGQUIT); err != nil {
				t.wrong("peer %d: %w", p.Number, err)
			}
			<-p.Ended()
			if leak := leaks(p.Log()); leak != "" {
				t.wrong("peer %d has no run and a goroutine of one: %s", p.Number, leak)
			}
		})
	}
	wait.Wait()
	for _, p := range t.everybody() {
		t.readLog(p)
	}
	if t.lab != nil && t.plan.fills(t.plan.Owner) && !strings.Contains(t.everybody()[t.plan.Owner].Log(), noSpace) {
		t.wrong("the owner has not said that it could not keep the answer on its disk")
	}
	for _, p := range left {
		if err := t.files(p); err != nil {
			t.wrong("peer %d: %w", p.Number, err)
		}
	}
}

// ofRuns are functions that only a goroutine of a run has on its stack.
var ofRuns = regexp.MustCompile(`(?m)^github\.com/satin-peer/satin(/peer/session|/apps/[a-z]+)?\.[^\n]*$`)

// killedChild is on the stack of whoever waits for the kernel to take down a process that computed, and was killed: see
// swarm.Process.Exiting.
const killedChild = "internal/compute/child.(*Engine).Close("

// leaks finds the first goroutine of a run in what a process writes when it gets SIGQUIT; "" if there is none.
func leaks(log string) string {
	_, dump, ok := strings.Cut(log, "\nSIGQUIT: quit\n")
	if !ok {
		return "it has not said what its goroutines do"
	}
	for block := range strings.SplitSeq(dump, "\n\n") {
		if strings.Contains(block, killedChild) {
			continue
		}
		if strings.HasPrefix(block, "goroutine ") && ofRuns.MatchString(block) {
			return strings.ReplaceAll(block, "\n", " | ")
		}
	}
	return ""
}

// noSpace is what the system says of a full disk.
const noSpace = "no space left on device"

// cries are what no log should have.
var cries = regexp.MustCompile(`(?m)^(panic:|fatal error:|WARNING: DATA RACE|.*level=ERROR).*$`)

// readLog looks for what a process should never say.
func (t *trial) readLog(p *swarm.Process) {
	for _, line := range cries.FindAllString(p.Log(), 3) {
		if strings.Contains(line, noSpace) && t.lab != nil {
			continue // it is right to say that
		}
		t.wrong("peer %d logs: %s", p.Number, line)
	}
}

// belongs says whether a daemon that has ended may have such a file in its state directory.
func belongs(name string) bool {
	top, _, below := strings.Cut(name, "/")
	return name == "filler" || slices.Contains(settings.StateNames(), top) && (!below || belongsBelow.MatchString(name))
}

// belongsBelow are the files in the directories there.
var belongsBelow = regexp.MustCompile(
	`^((refused|records)/all\.list|lies/[0-9A-Za-z]+\.lie|(answers|own|held|deaths|receipts)/[0-9a-f]{32}\.[a-z]+|owed/[0-9a-f]{32}-[0-9A-Za-z]+\.receipt|constants/[0-9a-f]{64}\.constant|modules/[0-9a-f]{64}\.wasm|modules/compiled/[0-9a-f]{64}/(wazero[^/]*/|prepared-)[0-9a-f]+)$`)

// belongsAtHome is what commands keep for their user: modules that they have compiled.
var belongsAtHome = regexp.MustCompile(
	`^\.cache/satin-peer/modules/(others/[0-9a-f]{64}/)?(wazero[^/]*/|prepared-)[0-9a-f]+$`)

// halfWritten are files that a process was writing when it ended without waiting for a slow disk, which its
// next start removes; and the lock of a checkpoint whose process was killed before it had written anything,
// which that removes too.
var halfWritten = regexp.MustCompile(`^(([a-z]+/)?\.new-\d+|modules/compiled/[0-9a-f]{64}/(wazero[^/]*/[0-9a-f]+\.[0-9a-z.]+|\.new-\d+)|checkpoints/[0-9a-f]{32}/lock)$`)

// files sees that a process that was not killed has left nothing but what belongs in its state directory.
func (t *trial) files(p *swarm.Process) error {
	root := t.root(p)
	var strange []string
	for _, dir := range []string{root, p.Home} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if t.plan.has(Copy) && strings.HasPrefix(name, "checkpoints/") {
				return err // nobody has gone on with what was copied
			}
			fine := belongs(name) || halfWritten.MatchString(name)
			if dir == p.Home {
				fine = belongsAtHome.MatchString(name)
			}
			if !fine {
				strange = append(strange, path)
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if len(strange) > 0 {
		return fmt.Errorf("leaves files where they do not belong: %s", strings.Join(strange, ", "))
	}
	return nil
}
