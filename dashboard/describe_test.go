package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// at goes down in a JSON value.
func at(v any, path ...string) any {
	for _, p := range path {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[p]
	}
	return v
}

// fits says how a JSON value differs from a schema of the description.
func fits(doc any, schema any, v any, where string) (problems []string) {
	if ref, ok := at(schema, "$ref").(string); ok {
		schema = at(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	switch at(schema, "type") {
	case "object":
		o, ok := v.(map[string]any)
		if !ok {
			return []string{where + " is no object"}
		}
		properties, _ := at(schema, "properties").(map[string]any)
		required, _ := at(schema, "required").([]any)
		for _, name := range required {
			if _, ok := o[name.(string)]; !ok {
				problems = append(problems, fmt.Sprintf("%s lacks %s", where, name))
			}
		}
		for name, value := range o {
			if properties[name] == nil {
				problems = append(problems, fmt.Sprintf("%s has %s, which is not described", where, name))
				continue
			}
			problems = append(problems, fits(doc, properties[name], value, where+"."+name)...)
		}
		return problems
	case "array":
		list, ok := v.([]any)
		if !ok {
			return []string{where + " is no list"}
		}
		for _, item := range list {
			problems = append(problems, fits(doc, at(schema, "items"), item, where+"[]")...)
		}
		return problems
	case "boolean":
		if _, ok := v.(bool); ok {
			return nil
		}
	case "number", "integer":
		if _, ok := v.(float64); ok {
			return nil
		}
	case "string":
		if _, ok := v.(string); ok {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %v, which is no %v", where, v, at(schema, "type"))}
}

// Every call of the description is there and answers as it says, and whom it says; there are no others.
func TestDescription(t *testing.T) {
	source := newFake()
	s := open(t, source)
	client := s.enter(t, dashboard.Control)
	_, text := s.do(t, client, request{path: "/api/v1/openapi.json"})
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	source.change(func(f *fake) { f.reports = parts() })
	watched(t, s)
	bodies := map[string]string{"/api/v1/prefs": `{"theme":"dark","units":"binary"}`,
		"/api/v1/pause": `{"for_seconds":1}`, "/api/v1/links": `{"level":"view"}`, "/api/v1/runs": `{"app":"tsp","arguments":"a"}`}
	var calls []string
	for path, methods := range at(doc, "paths").(map[string]any) {
		for method, call := range methods.(map[string]any) {
			calls = append(calls, method+" "+path)
			q := request{method: strings.ToUpper(method), path: strings.ReplaceAll(path, "{run}", "0123")}
			if q.method == http.MethodPost {
				if q.body = bodies[path]; q.body == "" {
					q.body = "{}"
				}
			}
			byCookie := "default"
			if strings.Contains(fmt.Sprint(at(call, "security")), "cookie") {
				byCookie = "200"
			}
			for _, try := range []struct {
				client *http.Client
				reply  string
			}{{client, "200"}, {&http.Client{Jar: client.Jar}, byCookie}, {&http.Client{}, "default"}} {
				code, text := s.do(t, try.client, q)
				var v any
				if err := json.Unmarshal([]byte(text), &v); err != nil || (code == 200) != (try.reply == "200") {
					t.Errorf("%s %s: %d %s", method, path, code, text)
				}
				for _, problem := range fits(doc, at(call, "responses", try.reply, "content", "application/json",
					"schema"), v, "the reply") {
					t.Errorf("%s %s: %s", method, path, problem)
				}
			}
		}
	}
	slices.Sort(calls)
	want := []string{"get /api/v1/apps", "get /api/v1/clusters", "get /api/v1/flows", "get /api/v1/history", "get /api/v1/members", "get /api/v1/notices", "get /api/v1/peers",
		"get /api/v1/preferences", "get /api/v1/prefs", "get /api/v1/runs", "get /api/v1/runs/{run}/answer",
		"get /api/v1/runs/{run}/segments", "get /api/v1/runs/{run}/timeline", "get /api/v1/runs/{run}/tree",
		"get /api/v1/session", "get /api/v1/status", "get /api/v1/trees",
		"post /api/v1/finish", "post /api/v1/links", "post /api/v1/pause", "post /api/v1/preferences", "post /api/v1/prefs", "post /api/v1/resume",
		"post /api/v1/runs", "post /api/v1/runs/{run}/cancel", "post /api/v1/runs/{run}/resume",
		"post /api/v1/runs/{run}/suspend"}
	if !slices.Equal(calls, want) {
		t.Errorf("the calls are %q, want %q", calls, want)
	}
}

// The counters are those of all runs, and never fall when a run is forgotten; no run is named in them, and without a
// peer there are none.
func TestMetrics(t *testing.T) {
	source := newFake()
	s := open(t, source)
	client := s.enter(t, dashboard.View)
	has := func(want ...string) {
		t.Helper()
		code, text := s.do(t, client, request{path: "/metrics"})
		for _, w := range want {
			if code != 200 || !strings.Contains(text, "\n"+w+"\n") {
				t.Errorf("%d: no %q in\n%s", code, w, text)
			}
		}
		if strings.Contains(text, "0123") {
			t.Errorf("a run's name is in\n%s", text)
		}
	}
	has("satin_workers_busy 1", "satin_jobs_executed_total 10",
		`satin_steals_total{result="success",scope="local"} 3`, `satin_steals_total{result="failure",scope="local"} 2`)
	// Another run adds to the sums, and one that is forgotten takes nothing away.
	source.change(func(f *fake) {
		f.runs = []dashboard.Run{{Run: "4567", Stats: &report.RunStats{LocalStealAttempts: 10,
			LocalStealSuccesses: 1, OrphansReused: 4}}}
	})
	has(`satin_steals_total{result="success",scope="local"} 4`,
		`satin_steals_total{result="failure",scope="local"} 11`, "satin_orphans_reused_total 4")
	source.change(func(f *fake) { f.err = report.ErrUnavailable })
	if code, text := s.do(t, client, request{path: "/metrics"}); code != 500 {
		t.Errorf("without a peer: %d %s", code, text)
	}
}
