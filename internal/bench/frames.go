package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/swarm"
)

const (
	webDir         = "../../dashboard/web"
	framesSegments = 50_000
)

// frames measures how long the page takes to draw, in a real browser.
func frames(w *workshop) (t table, err error) {
	progress("dashboard: frames of %d segments", framesSegments)
	defer progress("")
	t = table{title: "Frames", notes: []string{
		fmt.Sprintf("Chromium without a graphics card shows the steal tree of %d segments at 1200 x 900, while mouse and keys move about in it: "+
			"what the page's own work takes for a frame, 95 of 100 are below; and the time between frames, which drawing them on the processor is part of.", framesSegments),
	}}
	own := figure{name: "the page's work for a frame, p95", form: "%.1f ms", atMost: 16}
	between := figure{name: "between frames, p95", form: "%.1f ms"}
	if why := noBrowser(); why != "" {
		own.remark, between.remark = why, why
		t.figures = []figure{own, between}
		return t, nil
	}
	dir, err := os.MkdirTemp(w.dir, "page-*")
	if err != nil {
		return t, err
	}
	s, err := dashboard.Open(dashboard.Config{Source: &flood{began: time.Now(), most: framesSegments}, Dir: dir,
		Every: 10 * time.Millisecond})
	if err != nil {
		return t, err
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	ctx, cancel := context.WithTimeout(context.Background(), pagePatience)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "test/frames.mjs", s.Link(dashboard.View), fmt.Sprint(framesSegments))
	node.Dir = webDir
	out, err := swarm.Output(node)
	if err = errors.Join(err, s.Close(context.Background()), <-served); err != nil {
		return t, err
	}
	var times struct{ Draw, Between []float64 }
	if err := json.Unmarshal(out, &times); err != nil || len(times.Draw) < 20 || len(times.Between) < 20 {
		return t, fmt.Errorf("the browser gave the times of %d frames: %v", len(times.Draw), err)
	}
	own.values, between.values = percentile(times.Draw, 0.95), percentile(times.Between, 0.95)
	t.figures = []figure{own, between}
	return t, nil
}

// noBrowser says why no page can be opened; "" if one can.
func noBrowser() string {
	if _, err := exec.LookPath("node"); err != nil {
		return "needs node"
	}
	if _, err := os.Stat(filepath.Join(webDir, "node_modules", "playwright-core")); err != nil {
		return "needs `npm ci` in dashboard/web"
	}
	program := os.Getenv("CHROMIUM")
	if program == "" {
		program = "/usr/bin/chromium"
	}
	if _, err := os.Stat(program); err != nil {
		return "needs Chromium at " + program + ", or its path in CHROMIUM"
	}
	return ""
}
