package peer

import (
	"bytes"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/report"
)

// Guards the figures of what was given and used: own runs are not given, others' are not used, what was told twice or
// less than before counts once, nobody is believed who tells of more than there can be, and a restart loses nothing.
func TestHours(t *testing.T) {
	dir := t.TempDir()
	h := openHours(dir)
	start := time.Unix(1_000_000, 0)
	spent := func(ms report.Span) report.RunStats { return report.RunStats{CPUTime: ms, UsefulTime: 7} }
	mine, others := &part{began: start}, &part{began: start}
	told := func(id peer.ID, ms report.Span) {
		if mine.loads == nil {
			mine.loads = map[peer.ID]*load{}
		}
		mine.loads[id] = &load{Stats: spent(ms)}
	}
	now := start.Add(10 * time.Second)
	h.count(others, false, spent(4000), now)
	h.count(others, false, spent(4000), now)
	h.count(others, false, spent(1000), now)
	h.count(others, false, spent(5000), now)
	told("a", 3000)
	h.count(mine, true, spent(9000), now)
	told("b", math.MaxUint64)
	h.count(mine, true, spent(9000), now)
	h.count(mine, true, spent(9000), now)
	h.count(&part{began: start}, false, spent(math.MaxUint64), now) // by what a process of jobs says
	want := spentHours{Given: 5000 + 10_000*maxCoresTold, Used: 3000 + 10_000*maxCoresTold}
	if got := h.spent(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	h.save(slog.New(slog.DiscardHandler))
	h = openHours(dir)
	if got := h.spent(); got != want {
		t.Errorf("after a restart %+v, want %+v", got, want)
	}
	h.count(&part{began: start}, false, report.RunStats{UsefulTime: 500}, now) // a system that does not tell
	if got := h.spent().Given; got != want.Given+500 {
		t.Errorf("given %d, want %d", got, want.Given+500)
	}
	if err := os.WriteFile(filepath.Join(dir, hoursFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := openHours(dir).spent(); got != (spentHours{}) {
		t.Errorf("of a damaged file %+v", got)
	}
}

// Guards the log of a machine whose disk is full for days: that hours cannot be written down is said once, until they
// were.
func TestHoursOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	h := openHours(filepath.Join(dir, "state")) // a file is in the way of the directory
	if err := os.WriteFile(filepath.Join(dir, "state"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	save := func(lines int) {
		t.Helper()
		h.now.Given++
		h.save(slog.New(slog.NewTextHandler(&log, nil)))
		if n := strings.Count(log.String(), "cannot be written down"); n != lines {
			t.Errorf("the log has %d lines, want %d:\n%s", n, lines, &log)
		}
	}
	full := h.path
	save(1)
	save(1)
	h.path = filepath.Join(dir, hoursFile)
	save(1)
	h.path = full
	save(2)
}
