package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/settings"
)

// Guards a daemon under a manager of services that wants answers: it is told that the service runs and that it stops,
// and the service does not end before the daemon has said goodbye; nor does it live on when a command made the daemon
// leave. Its log is found where that of others is.
func TestServed(t *testing.T) {
	for _, by := range []string{"the manager", "leave"} {
		m := newFakeMember()
		f := starter(t, m)
		asked, runs := make(chan struct{}), make(chan struct{})
		var told []serviceState
		f.managed = func(live func(stop <-chan os.Signal) error) error {
			return answering(live, asked, func(s serviceState) {
				if told = append(told, s); s == serviceRuns {
					close(runs)
				}
			})
		}
		code := make(chan int)
		go func() { code <- f.run("start") }()
		<-runs
		d := f.connected(t)
		want := []serviceState{serviceRuns, serviceStops}
		if by == "leave" {
			want = want[:1]
			if err := d.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		} else {
			asked <- struct{}{}
		}
		d.Close()
		if got := <-code; got != 0 || !m.closed || len(told) != len(want) {
			t.Errorf("by %s: exit code %d, closed %v, the manager was told %v", by, got, m.closed, told)
		}
		log, err := os.ReadFile(filepath.Join(f.dirs.State, settings.LogFile))
		if err != nil || !strings.Contains(string(log), "left") {
			t.Errorf("by %s: the log says %q, %v", by, log, err)
		}
	}
}
