package sat

import (
	"context"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
)

// Guards that where nothing can be left nothing is said to be, although the cube was refuted, and what names a piece
// that is elsewhere.
func TestLeaving(t *testing.T) {
	f := pigeonhole(4)
	for _, sequential := range []bool{true, false} {
		p, err := leaving("four", f, defaultThreshold, "1;-1")
		if err != nil {
			t.Fatal(err)
		}
		result := p.Sequential()
		if !sequential {
			pool, err := satin.NewPool(satin.Config{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			if result, err = pool.RunNamed(context.Background(), p.Root, p.Arg); err != nil {
				t.Fatal(err)
			}
			if left := result.([]Left); left[0].Conflicts+left[1].Conflicts == 0 {
				t.Errorf("nothing was done: %+v", left)
			}
		}
		if err := p.Check(result); err != nil {
			t.Error(err)
		}
		if err := p.Check([]Left{{}}); err == nil {
			t.Error("one piece of two parts is taken")
		}
		if a := p.Answer(result); !strings.HasPrefix(a.Text, "of 0 of 2 parts") {
			t.Error(a.Text)
		}
	}

	// a campaign of one part has no literals
	p, err := apptest.Setup(App, "--pigeonhole 4 "+Cube{Formula: f}.parts().Leave([][]int32{nil})[0])
	if err != nil || p.Root != "sat.pieces" || len(p.Arg.(Leaving).Cubes) != 1 {
		t.Errorf("a part without literals is not left: %+v, %v", p, err)
	}

	name := strings.Repeat("ab", 32)
	for word, ok := range map[string]bool{
		"kept:f:10:" + name:              true,
		"kept:f:10:" + name + "+" + name: true,
		"kept:f:10":                      false,
		"kept:f:10:":                     false,
		"kept:f:x:" + name:               false,
		"kept:f:10:" + name[1:]:          false,
		"kept:f:10:" + name + "00":       false,
		"kept:f:10:x" + name[1:]:         false,
		"kept:f:10:" + strings.Repeat(name+"+", maxLeft) + name:   false,
		"kept:f:10:" + strings.Repeat(name+"+", maxLeft-1) + name: true,
	} {
		l, err := parseKept(word)
		if (err == nil) != ok || ok && (l.File != "f" || l.Bytes != 10 || l.Kept[0][31] != 0xab) {
			t.Errorf("%q: %+v, %v", word, l, err)
		}
	}
}
