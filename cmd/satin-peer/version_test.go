package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

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
	f := newFake()
	if code := f.run("version"); code != 0 || !strings.HasPrefix(f.out.String(), "satin-peer ") || !strings.HasSuffix(f.out.String(), ", "+runtime.Version()+"\n") {
		t.Errorf("exit code %d, output %q", code, &f.out)
	}
}
