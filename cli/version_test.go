package cli

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// The version says what was built.
func TestVersion(t *testing.T) {
	vcs := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "1a2b3c4d5e6f708192a3b4c5d6e7f80912345678"},
		{Key: "vcs.time", Value: "2026-11-20T20:32:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{GoVersion: "go1.26.8"}, "(devel), go1.26.8"},
		{debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v0.2.0"}}, "v0.2.0, go1.26.8"},
		{debug.BuildInfo{GoVersion: "go1.26.8", Settings: vcs},
			"(devel), revision 1a2b3c4d5e6f of 2026-11-20T20:32:00Z with local changes, go1.26.8"},
		{debug.BuildInfo{GoVersion: "go1.26.8", Settings: vcs[:1]}, "(devel), revision 1a2b3c4d5e6f, go1.26.8"},
	} {
		if got := version(&c.info); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	for long, want := range map[string]string{
		"v0.2.0": "v0.2.0", "v0.2.0, go1.26.8": "v0.2.0", "(devel), go1.26.8": "(devel)", "": "",
		"v0.0.0-20261120203200-1a2b3c4d5e6f+dirty, revision 1a2b3c4d5e6f of 2026-1": "1a2b3c4d5e6f+dirty",
		"v0.2.1-0.20261120203200-1a2b3c4d5e6f":                                      "1a2b3c4d5e6f",
		"(devel), revision 1a2b3c4d5e6f of 2026-11-20T20:32:00Z with local chang":   "1a2b3c4d5e6f",
	} {
		if got := briefVersion(long); got != want {
			t.Errorf("%q became %q, want %q", long, got, want)
		}
	}
	flag := newFake()
	if code := flag.run("--version"); code != 0 || !strings.HasPrefix(flag.out.String(), "satin-peer ") {
		t.Errorf("--version: exit code %d, output %q, %s", code, &flag.out, &flag.err)
	}
	asJSON := newFake()
	var described map[string]any
	if code := asJSON.run("version", "--json"); code != 0 ||
		json.Unmarshal(asJSON.out.Bytes(), &described) != nil || described["go"] != runtime.Version() ||
		described["version"] == "" {
		t.Errorf("--json: exit code %d, output %q", code, &asJSON.out)
	}
	f := newFake()
	if code := f.run("version"); code != 0 || !strings.HasPrefix(f.out.String(), "satin-peer ") ||
		!strings.HasSuffix(f.out.String(), ", "+runtime.Version()+"\n") {
		t.Errorf("exit code %d, output %q", code, &f.out)
	}
}
