package control

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBadRequests sends what no client of ours does: each is answered with its kind of error, and none
// reaches the daemon.
func TestBadRequests(t *testing.T) {
	f := &fake{}
	_, c, _ := serve(t, f)
	submission := func(fields string) string { return `{"app":"a","function":"a.b"` + fields + `}` }
	for _, r := range []struct{ call, body, kind, text string }{
		{"GET /", "", "bad_input", "of different versions"},
		{"GET /v1/nothing", "", "bad_input", "GET /v1/nothing"},
		{"GET /v2/status", "", "bad_input", "restart the daemon"},
		{"POST /v1/status", "", "bad_input", "POST /v1/status"},
		{"DELETE /v1/runs", "", "bad_input", "DELETE"},
		{"GET /v1/leave", "", "bad_input", "GET /v1/leave"},
		{"POST /v1/runs", "", "bad_input", "it is empty"},
		{"POST /v1/runs", "null", "bad_input", "names an application"},
		{"POST /v1/runs", "[]", "bad_input", "array"},
		{"POST /v1/runs", "{}", "bad_input", "names an application"},
		{"POST /v1/runs", submission("") + submission(""), "bad_input", "more than one"},
		{"POST /v1/runs", submission(`,"speed":9`), "bad_input", `"speed"; known are: app, `},
		{"POST /v1/runs", submission(`,"argument":"*"`), "bad_input", "base64"},
		{"POST /v1/runs", submission(`,"args":[` + strings.Repeat(`"",`, maxArgs) + `""]`), "bad_input",
			"at most 256 arguments"},
		{"POST /v1/runs", submission(`,"title":"` + strings.Repeat("x", MaxBody) + `"`), "bad_input", "larger than"},
		{"POST /v1/runs/xyz/cancel", "", "bad_input", "hexadecimal"},
		{"POST /v1/runs/" + strings.Repeat("a", 65) + "/cancel", "", "bad_input", "hexadecimal"},
		{"POST /v1/runs/a%2Fb/cancel", "", "bad_input", "hexadecimal"},
		{"GET /v1/runs/AB/wait", "", "bad_input", "hexadecimal"},
		{"GET /v1/constants/ab", "", "bad_input", "size in bytes"},
		{"POST /v1/constants/ab?size=x", "bytes", "bad_input", "size in bytes"},
		{"POST /v1/join", `{}`, "bad_input", "1 to 4096 bytes"},
		{"POST /v1/join", `{"address":"` + strings.Repeat("x", maxAddress+1) + `"}`, "bad_input", "not 4097"},
		{"POST /v1/join", `{"address":"` + strings.Repeat("x", maxSmallBody) + `"}`, "bad_input", "larger than"},
		{"POST /v1/runs/resume", `{}`, "bad_input", "not by both or neither"},
		{"POST /v1/runs/resume", `{"run":"ab","directory":"/x"}`, "bad_input", "not by both or neither"},
		{"POST /v1/runs/resume", `{"run":"xyz"}`, "bad_input", "hexadecimal"},
		{"POST /v1/runs/resume", `{"directory":"x"}`, "bad_input", "absolute path"},
		{"POST /v1/refuse", `{}`, "bad_input", "a run or an owner"},
		{"POST /v1/refuse", `{"run":"ab","owner":"x"}`, "bad_input", "a run or an owner"},
		{"POST /v1/revoke", `{}`, "bad_input", "1 to 128 bytes"},
		{"POST /v1/pause", `{"for_seconds":-1}`, "bad_input", "from 0 seconds"},
		{"POST /v1/pause", `{"for_seconds":1e300}`, "bad_input", "from 0 seconds"},
		{"POST /v1/pause", `{"for_seconds":"1h"}`, "bad_input", "string"},
		{"POST /v1/invite", `{"valid_seconds":1}`, "bad_input", "valid for 1m0s to"},
		{"POST /v1/invite", `{"valid_seconds":1e9}`, "bad_input", "valid for 1m0s to"},
		{"POST /v1/invite", `{"uses":-1}`, "bad_input", "1 to 1000 peers"},
		{"POST /v1/invite", `{"uses":1001}`, "bad_input", "1 to 1000 peers"},
		{"POST /v1/invite", `{"peer":"x","uses":1}`, "bad_input", "let in by name"},
		{"POST /v1/invite", strings.Repeat(`{"peer":`, 100_000), "bad_input", ""},
	} {
		method, path, _ := strings.Cut(r.call, " ")
		request, err := http.NewRequestWithContext(t.Context(), method, "http://daemon"+path, strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+c.token)
		response, err := c.http.Do(request)
		if err != nil {
			t.Errorf("%s: %v", r.call, err)
			continue
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		var got fault
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || got.Kind != r.kind || !strings.Contains(got.Text, r.text) ||
			response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s %.60s: got %s, %v", r.call, r.body, text, err)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("the daemon was asked %v", f.asked)
	}
}

// TestTokens checks that without the token nothing is answered.
func TestTokens(t *testing.T) {
	f := &fake{}
	s, c, _ := serve(t, f)
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer x", "Basic " + s.socket.token, s.socket.token,
		"Bearer " + s.socket.token + "x", "bearer " + s.socket.token} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://daemon/v1/leave", nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			request.Header.Set("Authorization", header)
		}
		response, err := c.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(response.Body); response.StatusCode != http.StatusUnauthorized ||
			len(body) > 0 || err != nil {
			t.Errorf("%q: %s, %s, %v", header, response.Status, body, err)
		}
		response.Body.Close()
	}
	if len(f.asked) > 0 {
		t.Errorf("the daemon was asked %v", f.asked)
	}
}

// FuzzRequest sends any body to any call: it is answered, and nothing that the calls promise to check gets past them.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{"", "{}", "null",
		`{"app":"a","args":["1"],"title":"t","function":"a.b","argument":"AA=="}`, `{"address":"x"}`,
		`{"for_seconds":3600}`, `{"uses":2,"valid_seconds":60}`, `{"for_seconds":NaN}`} {
		for i := range 4 {
			f.Add(uint8(i), []byte(body))
		}
	}
	calls := []string{"/v1/runs", "/v1/join", "/v1/pause", "/v1/invite"}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		d := &fake{}
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, calls[int(which)%len(calls)],
			strings.NewReader(string(body)))
		w := httptest.NewRecorder()
		newHandler(d).ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("the reply is %s", w.Body)
		}
		if ok := w.Code == http.StatusOK; ok != (len(d.asked) > 0) {
			t.Errorf("status %d, and the daemon was asked %v", w.Code, d.asked)
		}
		for _, asked := range d.asked {
			switch asked := asked.(type) {
			case Submission:
				if asked.App == "" || asked.Function == "" || len(asked.Args) > maxArgs {
					t.Errorf("submitted %+v", asked)
				}
			case Invitation:
				if asked.Valid != 0 && (asked.Valid < minValid.Seconds() || asked.Valid > maxValid.Seconds()) ||
					asked.Uses < 0 || asked.Uses > maxUses {
					t.Errorf("invited %+v", asked)
				}
			}
		}
	})
}
