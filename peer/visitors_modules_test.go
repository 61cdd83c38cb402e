package peer_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/tab"
	"github.com/satin-peer/satin/peer/statement"
)

// fetch gets a module by a link, as the page does.
func fetch(t *testing.T, link string, ticket []byte, h module.Hash) ([]byte, error) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	ask, err := json.Marshal(map[string]string{"ticket": base64.RawURLEncoding.EncodeToString(ticket),
		"module": fmt.Sprintf("%x", h[:])})
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+u.Host+"/module", bytes.NewReader(ask))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Origin", "http://"+u.Host)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", r.Status, b)
	}
	return b, err
}

// A visitor fetches a module, and works for its runs; what was damaged on the way is not run.
func TestVisitorRunsModules(t *testing.T) {
	t.Parallel()
	queens := readModule(t, "examples/queens-c/queens.wasm")
	a := open(t, browsers, inProcesses(t))
	to := link(t, a, "")
	damaged, _ := visitWith(t, to, func(ticket []byte, h module.Hash) ([]byte, error) {
		b, err := fetch(t, to, ticket, h)
		if err == nil {
			b[len(b)-1]++
		}
		return b, err
	})
	v, _ := visitWith(t, to, func(ticket []byte, h module.Hash) ([]byte, error) { return fetch(t, to, ticket, h) })
	for ctx := deadline(t); v.Status().Executed == 0; { // a run may be over before it has the module
		run := queens.submit(t, a, "13")
		if got := queens.answer(t, a, run, "13"); !strings.Contains(got, "73712 solutions") {
			t.Errorf("13 queens: %s", got)
		}
		if ctx.Err() != nil {
			t.Fatal("the visitor does nothing")
		}
	}
	if s := damaged.Status(); s.Executed > 0 {
		t.Errorf("one with other bytes has worked: %+v", s)
	}
}

// A tab that cannot run a module is given its run once, and is no part of it before it says that it is ready; and its
// module is for whoever may help with it.
func TestUnfitForAModule(t *testing.T) {
	t.Parallel()
	queens := readModule(t, "examples/queens-c/queens.wasm")
	a := open(t, browsers, inProcesses(t))
	work := last(t)
	other := submit(t, a, "count", work.arg)
	first := queens.submit(t, a, "18")
	x := intrude(t, link(t, a, ""), func(v *statement.Visit) {
		v.Apps = []statement.App{{Name: module.Consent, Version: statement.Version{module.ABI, 1}}}
	})
	x.begin()
	if x.work.Run.Hex() != first || !bytes.Equal(x.work.Module, queens.Hash[:]) {
		t.Errorf("it is given %+v", x.work)
	}
	x.ask()
	x.say(&tab.Frame{Ready: &tab.Ready{Run: x.work.Run, Cannot: "it is too deep"}})
	second := queens.submit(t, a, "17")
	if f := x.hear(); f.Work == nil || f.Work.Run.Hex() != second {
		t.Errorf("next it hears %+v", f)
	}
	ticket := func(run string) []byte {
		_, b := dial(t, link(t, a, run))
		return b
	}
	if b, err := fetch(t, link(t, a, ""), ticket(other), queens.Hash); err == nil {
		t.Errorf("a link for another run gives %d bytes", len(b))
	}
	if b, err := fetch(t, link(t, a, ""), ticket(second), queens.Hash); err != nil || !bytes.Equal(b, queens.bin) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	work.end(t)
}
