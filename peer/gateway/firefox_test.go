//go:build browser

package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// A firefox is one that a test drives by WebDriver BiDi: playwright knows builds of its own only.
type firefox struct {
	x    *stage
	conn *websocket.Conn
	page string
	last int
}

// newFirefox starts one without a window.
func newFirefox(x *stage, path string) *firefox {
	x.t.Helper()
	c := exec.CommandContext(x.ctx, path, "--headless", "--no-remote", "--profile", x.t.TempDir(),
		"--remote-debugging-port=0")
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	})
	f := &firefox{x: x}
	for lines := bufio.NewScanner(said); f.conn == nil && lines.Scan(); {
		_, at, listens := strings.Cut(lines.Text(), "WebDriver BiDi listening on ")
		if !listens {
			continue
		}
		conn, reply, err := websocket.DefaultDialer.DialContext(x.ctx, at+"/session", nil)
		if err != nil {
			x.t.Fatal(err)
		}
		_ = reply.Body.Close()
		f.conn = conn
	}
	if f.conn == nil {
		x.t.Fatal("Firefox says nowhere how to drive it")
	}
	go func() { // it goes on talking
		for b := make([]byte, 4096); err == nil; {
			_, err = said.Read(b)
		}
	}()
	f.call("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	var made struct{ Context string }
	f.call("browsingContext.create", map[string]any{"type": "tab"}, &made)
	f.page = made.Context
	return f
}

// call has it do something.
func (f *firefox) call(method string, params, result any) {
	f.x.t.Helper()
	f.last++
	err := f.conn.WriteJSON(map[string]any{"id": f.last, "method": method, "params": params})
	for err == nil {
		var said struct {
			ID     int
			Error  string
			Result json.RawMessage
		}
		if err = f.conn.ReadJSON(&said); err != nil || said.ID != f.last {
			continue // an event
		}
		if said.Error != "" {
			f.x.t.Fatalf("Firefox refuses %s: %s", method, said.Error)
		}
		if result != nil {
			err = json.Unmarshal(said.Result, result)
		}
		break
	}
	if err != nil {
		f.x.t.Fatalf("%s: %v", method, err)
	}
}

// is gives what an expression of the page is, as text.
func (f *firefox) is(expression string) string {
	f.x.t.Helper()
	var said struct {
		Result struct{ Value any }
	}
	f.call("script.evaluate", map[string]any{"expression": "String(" + expression + ")", "awaitPromise": true,
		"target": map[string]any{"context": f.page}}, &said)
	return fmt.Sprint(said.Result.Value)
}

// until waits until the page shows a text.
func (f *firefox) until(id, text string) {
	f.x.t.Helper()
	shown := ""
	for shown = ""; !strings.Contains(shown, text); time.Sleep(50 * time.Millisecond) {
		if f.x.ctx.Err() != nil {
			f.x.t.Fatalf("the page shows %q and not %q", shown, text)
		}
		shown = f.is(`document.getElementById("` + id + `")?.textContent`)
	}
}

// Firefox helps as Chromium does: with a built-in program, and with a module on its own engine. The number is OEIS
// A000170's.
func TestFirefoxInBrowser(t *testing.T) {
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		if path, err = exec.LookPath("firefox"); err != nil {
			t.Skip("there is no Firefox here: apt-get install firefox-esr")
		}
	}
	x := newStage(t)
	link, err := x.gateway.Command(x.ctx, "share", "--all")
	if err != nil {
		t.Fatal(err)
	}
	f := newFirefox(x, path)
	f.call("browsingContext.navigate", map[string]any{"context": f.page, "url": strings.TrimSpace(link),
		"wait": "complete"}, nil)
	f.until("what", "asks for help")
	f.is(`document.getElementById("start").click()`)
	f.until("state", "Waiting for work")
	for _, what := range []string{"nqueens 16", "../../examples/queens-c/queens.wasm 16"} {
		jobs := f.is(`document.getElementById("jobs").textContent`)
		x.printed(x.run(strings.Fields(what)...), "14772512")
		if now := f.is(`document.getElementById("jobs").textContent`); now == jobs {
			t.Errorf("%s: the page has done %s jobs, and no more", what, now)
		}
		f.until("state", "Waiting for work")
	}
}
