package sources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program in two packages, with a file for another system, one that is embedded, and a module from elsewhere.
var program = map[string]string{
	"go.mod": "module example.org/life\n\ngo 1.26\n\nrequire (\n\tgithub.com/satin-peer/satin v0.1.0\n" +
		"\texample.org/grid v1.2.3\n\texample.org/local v0.0.0\n)\n\nreplace example.org/local => ./local\n",
	"go.sum": "example.org/grid v1.2.3 h1:aaa=\nexample.org/grid v1.2.3/go.mod h1:bbb=\n" +
		"github.com/satin-peer/satin v0.1.0 h1:ccc=\n",
	"jobs/jobs.go": "package jobs\n\nimport (\n\t_ \"embed\"\n\t\"math\"\n\n\t\"example.org/grid\"\n\t\"example.org/life/rules\"\n" +
		"\t\"example.org/local/x\"\n\t\"github.com/satin-peer/satin\"\n)\n\n//go:embed table.txt\nvar table string\n",
	"jobs/jobs_windows.go": "package jobs\n\nconst windows = true\n",
	"jobs/jobs_test.go":    "package jobs\n",
	"jobs/tool.go":         "//go:build ignore\n\npackage main\n",
	"jobs/table.txt":       "1 2 3\n",
	"rules/rules.go":       "package rules\n\nconst Birth = 3\n",
	"unused/unused.go":     "package unused\n",
	"local/go.mod":         "module example.org/local\n\ngo 1.26\n",
	"local/x/x.go":         "package x\n",
	"main.go":              "package main\n",
}

// write writes the program with some changes into a directory and gives its version; a change of "" leaves a file out.
func versionOf(t *testing.T, changes map[string]string, end string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{}
	for name, text := range program {
		all[name] = text
	}
	for name, text := range changes {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "go.") {
			text = strings.ReplaceAll(text, "\n", end)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Hash(filepath.Join(dir, "jobs"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Equal sources have equal versions, wherever they are and however their lines end; whatever jobs reach makes another
// one, and nothing else does.
func TestHash(t *testing.T) {
	was := versionOf(t, nil, "\n")
	if len(was) != 64 {
		t.Fatalf("version %q", was)
	}
	for what, same := range map[string]string{
		"a copy":                 versionOf(t, nil, "\n"),
		"lines that end in CRLF": versionOf(t, nil, "\r\n"),
		"another test":           versionOf(t, map[string]string{"jobs/jobs_test.go": "package jobs\n\nvar x int\n"}, "\n"),
		"another main":           versionOf(t, map[string]string{"main.go": "package main\n\nvar x int\n"}, "\n"),
		"another unused package": versionOf(t, map[string]string{"unused/unused.go": "package unused\n\nvar x int\n"}, "\n"),
		"another tool":           versionOf(t, map[string]string{"jobs/tool.go": ""}, "\n"),
		"the generated file":     versionOf(t, map[string]string{"jobs/" + File: "package jobs\n"}, "\n"),
		"another satin": versionOf(t, map[string]string{
			"go.mod": strings.Replace(program["go.mod"], "v0.1.0", "v0.2.0", 1)}, "\n"),
	} {
		if same != was {
			t.Errorf("%s has another version", what)
		}
	}
	for what, other := range map[string]map[string]string{
		"a job":                      {"jobs/jobs.go": program["jobs/jobs.go"] + "\nvar x int\n"},
		"a file for another system":  {"jobs/jobs_windows.go": "package jobs\n\nconst windows = false\n"},
		"no file for another system": {"jobs/jobs_windows.go": ""},
		"an imported package":        {"rules/rules.go": "package rules\n\nconst Birth = 4\n"},
		"an embedded file":           {"jobs/table.txt": "1 2 4\n"},
		"a replaced module":          {"local/x/x.go": "package x\n\nvar X int\n"},
		"a dependency's version":     {"go.mod": strings.Replace(program["go.mod"], "v1.2.3", "v1.2.4", 1)},
		"a dependency's content":     {"go.sum": strings.Replace(program["go.sum"], "aaa", "abc", 1)},
		"the language's version":     {"go.mod": strings.Replace(program["go.mod"], "go 1.26", "go 1.27", 1)},
	} {
		if versionOf(t, other, "\n") == was {
			t.Errorf("%s has changed, and the version is the same", what)
		}
	}
}

// What is written is checked, and a stale version is an error that says what to do.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", "x.go": "package x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, File))
	text := string(b)
	if err != nil || !strings.Contains(text, "package x\n") || !strings.Contains(text, `const sources = "`+v+`"`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := Check(dir, v); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n\nvar X int\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Check(dir, v); err == nil || !strings.Contains(err.Error(), "run go generate") {
		t.Errorf("a stale version: %v", err)
	}
	for name, text := range map[string]string{"x.go": "package x\n\nimport \"C\"\n",
		"y.go": "package x\n\nimport \"example.org/none\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Hash(dir); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if _, err := Hash(string(filepath.Separator)); err == nil {
		t.Error("the root directory is no module")
	}
}
