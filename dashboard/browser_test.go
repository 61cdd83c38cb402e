//go:build browser

package dashboard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/dashboard"
)

// A wish is what web/test/page.mjs asks for.
type wish struct {
	Do    string
	Level dashboard.Level
	State string
}

// The page in Chromium: go test -tags browser ./dashboard, after npm ci in dashboard/web. CHROMIUM is the program if it is not
// /usr/bin/chromium; pictures of the views go into the folder SHOTS, if given.
func TestPageInBrowser(t *testing.T) {
	source := newFake()
	source.peers = append(source.peers, dashboard.Peer{Peer: "12D3KooWC", Name: "second", Version: "v0", Connected: true, Alive: true, Cluster: "there", State: "working", Workers: 8, RTT: 0.09})
	dir := t.TempDir()
	serve := func(listen string) *dashboard.Server {
		s, err := dashboard.Open(dashboard.Config{Source: source, Dir: dir, Listen: listen, Every: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Serve() }()
		return s
	}
	s := serve("")
	defer func() { _ = s.Close(context.Background()) }()
	listen := strings.TrimPrefix(line(t, dir, dashboard.AddressFile), "http://")

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "web/test/page.mjs")
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	asked := bufio.NewScanner(out)
	for asked.Scan() {
		var w wish
		if err := json.Unmarshal(asked.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		answer := map[string]any{}
		switch w.Do {
		case "link":
			answer["link"] = s.Link(w.Level)
		case "actions":
			source.change(func(f *fake) { answer["actions"] = f.actions })
		case "lose":
			source.change(func(f *fake) {
				f.peers = append([]dashboard.Peer{}, f.peers...)
				f.peers[0].Alive = false
			})
		case "work":
			source.change(func(f *fake) { f.status.State = w.State })
		case "restart":
			if err := s.Close(ctx); err != nil {
				t.Fatal(err)
			}
			s = serve(listen)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, string(text)+"\n"); err != nil {
			t.Fatal(err)
		}
		if w.Do == "end" {
			in.Close()
		}
	}
	if err := node.Wait(); err != nil {
		t.Error("the page:", err)
	}
}
