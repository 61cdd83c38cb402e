package engine_test

import (
	"math"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
)

type leaf struct{ X, Y int }

type parts struct {
	A string
	B []byte
	C map[string]leaf
	D *leaf
	E []float64
}

func namedOf(t *testing.T, values ...any) engine.Name {
	t.Helper()
	n, err := engine.NameOf("test", values...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Equal values have one name whatever memory they are in, others have others.
func TestNameOfValues(t *testing.T) {
	full := func() parts {
		m := map[string]leaf{}
		for i := range 50 {
			m[string(rune('a'+i))] = leaf{i, -i}
		}
		return parts{"a", []byte("b"), m, &leaf{1, 2}, []float64{1, math.Inf(1)}}
	}
	want := namedOf(t, full(), 1)
	for range 20 {
		if namedOf(t, full(), 1) != want {
			t.Fatal("the same value has another name")
		}
	}
	for i, change := range []func(*parts){
		func(p *parts) { p.A, p.B = "", []byte("ab") },
		func(p *parts) { p.C["a"] = leaf{0, 1} },
		func(p *parts) { delete(p.C, "b") },
		func(p *parts) { p.D = nil },
		func(p *parts) { p.D.Y = 3 },
		func(p *parts) { p.E = p.E[:1] },
	} {
		p := full()
		change(&p)
		if namedOf(t, p, 1) == want {
			t.Errorf("change %d does not show in the name", i)
		}
	}
	if namedOf(t, full(), 2) == want || namedOf(t, []string{"a", "b"}) == namedOf(t, []string{"ab"}) ||
		namedOf(t, []string{"a"}, []string{}) == namedOf(t, []string{}, []string{"a"}) {
		t.Error("where one value ends and the next begins does not show")
	}
	if _, err := engine.NameOf("test", func() {}); err == nil {
		t.Error("a function has a name")
	}
}

// A map's values count also where its keys are not equal to themselves.
func TestNameOfNaN(t *testing.T) {
	if namedOf(t, map[float64]int{math.NaN(): 1}) == namedOf(t, map[float64]int{math.NaN(): 2}) {
		t.Error("maps with other values have one name")
	}
}
