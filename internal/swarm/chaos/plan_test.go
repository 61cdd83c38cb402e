//go:build unix

package chaos

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A seed gives the same plan each time, and another seed another one.
func TestSeedDecidesThePlan(t *testing.T) {
	kinds, signs, themesSeen := map[Kind]bool{}, map[Sign]bool{}, map[string]bool{}
	for seed := range uint64(200) {
		for _, brief := range []bool{true, false} {
			p := Draw(seed, brief)
			if again := Draw(seed, brief); !reflect.DeepEqual(p, again) {
				t.Fatalf("seed %d draws %v, then %v", seed, p, again)
			}
			if next := Draw(seed+1, brief); p.Theme == next.Theme {
				t.Errorf("seeds %d and %d have the same theme: %s", seed, seed+1, p.Theme)
			}
			themesSeen[p.Theme] = true
			checkPlan(t, p)
			for _, a := range p.Acts {
				kinds[a.Kind], signs[a.On.Sign] = true, true
			}
		}
	}
	if len(themesSeen) != len(themes) {
		t.Errorf("of %d themes only %v are drawn", len(themes), themesSeen)
	}
	for _, k := range []Kind{Kill, Stop, Pause, Term, Leave, Cut, Fill, Enter, Suspend, Resume, Copy, Reap} {
		if !kinds[k] {
			t.Errorf("nobody ever has to %s", k)
		}
	}
	for _, s := range []Sign{AtOnce, Progress, Holding, Takeover, There, Compiling} {
		if !signs[s] {
			t.Errorf("nothing ever happens %s", s)
		}
	}
}

// checkPlan sees that a plan can be played.
func checkPlan(t *testing.T, p Plan) {
	t.Helper()
	for _, k := range []Kind{Kill, Cut, Copy} {
		if has := slices.ContainsFunc(p.Acts, func(a Act) bool {
			return strings.HasPrefix(a.String(),
				string(k)+" ")
		}); has != p.has(k) {
			t.Errorf("that there is a fault %q is said to be %v: %v", k, !has, p)
		}
	}
	if len(p.Acts)+len(p.Liars) == 0 || p.Owner < 0 || p.Owner >= peers || p.Task == "" {
		t.Errorf("nothing happens: %v", p)
	}
	for _, a := range p.Acts {
		if len(a.Who) == 0 && !a.Master {
			t.Errorf("an act about nobody: %v", p)
		}
		for _, n := range a.Who {
			if (n >= peers) != (a.Kind == Enter) {
				t.Errorf("process %d, %s: %v", n, a.Kind, p)
			}
			if a.Kind == Fill && !slices.Contains(p.Small, n) {
				t.Errorf("a large disk is to be filled: %v", p)
			}
		}
		if a.On.Sign == Compiling && !strings.HasPrefix(p.Task, inGo) {
			t.Errorf("nothing takes long to compile: %v", p)
		}
		if lasts := slices.Contains([]Kind{Stop, Pause, Cut, Fill}, a.Kind); lasts != (a.For > 0) {
			t.Errorf("%s for %v: %v", a.Kind, a.For, p)
		}
		if text := a.String(); !strings.HasPrefix(text, string(a.Kind)) {
			t.Errorf("an act is told as %q", text)
		}
	}
}

// Goroutines of a run that are left at the end are found in what a process says of them, the peer's own are not, and a
// process that has said nothing is told.
func TestLeaksAreFound(t *testing.T) {
	const head = "level=INFO msg=started\nSIGQUIT: quit\nPC=0x1\n\n"
	const idle = "goroutine 7 [select]:\ngithub.com/satin-peer/satin/peer.(*Peer).upkeep(0x1)\n\t/peer.go:1 +0x1\n\n"
	const worker = "goroutine 8 [runnable]:\ngithub.com/satin-peer/satin.(*Pool).Close(0x1)\n\t/pool.go:1 +0x1\n\n"
	const session = "goroutine 9 [select]:\ngithub.com/satin-peer/satin/peer/session.(*Session).loop(0x1)\n\t/loop.go:1 +0x1\n"
	for _, c := range []struct{ log, has string }{
		{head + idle, ""}, {head + idle + worker, "goroutine 8"}, {head + session, "goroutine 9"},
		{"level=INFO msg=left\n", "has not said"},
	} {
		if got := leaks(c.log); c.has == "" && got != "" || !strings.Contains(got, c.has) {
			t.Errorf("of %q: %q", c.log, got)
		}
	}
}

// After its end a peer has the files that it keeps, compiled modules in its user's cache, and perhaps files that it
// was just writing; any other is found.
func TestWhatBelongsWhere(t *testing.T) {
	for _, name := range []string{"peer.key", "incarnation", "peers",
		"answers/0123456789abcdef0123456789abcdef.answer", "owed/0123456789abcdef0123456789abcdef-12D3Koo.receipt"} {
		if !belongs(name) {
			t.Errorf("%s is said not to belong there", name)
		}
	}
	hash := strings.Repeat("0a", 32)
	for name, fine := range map[string]bool{"prepared-0a": true, "wazero-v1.12.0-amd64-linux/" + hash: true,
		"others/" + hash + "/prepared-0a": true, "others/0a/prepared-0a": false, hash + ".wasm": false} {
		if belongsAtHome.MatchString(".cache/satin-peer/modules/"+name) != fine {
			t.Errorf("%s is at home in a cache: %v", name, !fine)
		}
	}
	for _, name := range []string{"answers/.new-123", ".new-1"} {
		if belongs(name) || !halfWritten.MatchString(name) {
			t.Errorf("%s is not said to be half written", name)
		}
	}
	for _, name := range []string{"answers/new-123", ".peers-1", "core", "answers/x.answer", "own/new-1", "filler/x",
		"submitted", "control/control.sock"} {
		if belongs(name) {
			t.Errorf("%s is said to belong there", name)
		}
	}
}
