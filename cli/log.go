package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/settings"
)

// newLog makes the daemon's log.
func (c console) newLog(l *settings.Loaded) *slog.Logger {
	options := &slog.HandlerOptions{ReplaceAttr: maskedAttr}
	level := slog.LevelInfo
	if level.UnmarshalText([]byte(l.LogLevel)) == nil { // which the settings have checked
		options.Level = level
	}
	to := c.err
	if path := filepath.Join(l.StateDir, settings.LogFile); logsTo(c, path) {
		to = &boundedLog{to: c.err, path: path}
	}
	var h slog.Handler = slog.NewTextHandler(to, options)
	if l.LogFormat == settings.LogJSON {
		h = slog.NewJSONHandler(to, options)
	}
	return slog.New(thinned{h, &flood{now: time.Now}})
}

// isFile says whether what is written there goes to a file.
func isFile(w io.Writer, path string) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	a, err := f.Stat()
	b, bad := os.Stat(path)
	return err == nil && bad == nil && os.SameFile(a, b)
}

// A boundedLog is a log in a file that others hold open too, to go on at its end: so what is there is copied when it is
// too long, and cut off. Its one caller is a slog.Handler, which writes one line after the other.
type boundedLog struct {
	to   io.Writer
	path string
}

// Write implements io.Writer.
func (w *boundedLog) Write(p []byte) (int, error) {
	if info, err := os.Stat(w.path); err == nil && info.Size() > maxDaemonLog {
		w.cut()
	}
	return w.to.Write(p)
}

// cut puts aside what there is. It is cut off also where that cannot be, as on a full disk.
func (w *boundedLog) cut() {
	if from, err := os.Open(w.path); err == nil {
		defer from.Close()
		_ = durable.Write(w.path+".1", 0o600, false, func(to io.Writer) error {
			_, err := io.Copy(to, from)
			return err
		})
	}
	_ = os.Truncate(w.path, 0)
}

const (
	// linesOfOne is how often a log says the same in a second, but for what is there to find mistakes; and so many
	// things are told apart.
	linesOfOne = 20
	thingsSaid = 64
)

// A thinned log leaves out what is said too often, so that what others do here floods neither disk nor reader. What
// else there is to say is not lost for that.
type thinned struct {
	slog.Handler
	*flood
}

// flood counts what is said in the second that has begun.
type flood struct {
	now func() time.Time

	mu    sync.Mutex
	since time.Time
	said  map[string]int
	left  int // out, since that was said
}

// Handle implements slog.Handler.
func (t thinned) Handle(ctx context.Context, r slog.Record) error {
	ok, left := r.Level < slog.LevelInfo, 0
	if !ok {
		ok, left = t.next(r.Message)
	}
	if left > 0 {
		n := slog.NewRecord(r.Time, slog.LevelWarn, "more lines were left out of the log", 0)
		n.Add("lines", left)
		_ = t.Handler.Handle(ctx, n)
	}
	if !ok {
		return nil
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (t thinned) WithAttrs(list []slog.Attr) slog.Handler {
	return thinned{t.Handler.WithAttrs(list), t.flood}
}

// WithGroup implements slog.Handler.
func (t thinned) WithGroup(name string) slog.Handler {
	return thinned{t.Handler.WithGroup(name), t.flood}
}

// next says whether a line may be written, and how many were left out that are to be told of before it.
func (f *flood) next(what string) (ok bool, left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); f.said == nil || now.Sub(f.since) >= time.Second {
		f.since, f.said = now, map[string]int{}
		left, f.left = f.left, 0
	}
	if _, known := f.said[what]; !known && len(f.said) >= thingsSaid {
		what = ""
	}
	f.said[what]++
	if ok = f.said[what] <= linesOfOne; !ok {
		f.left++
	}
	return ok, left
}
