package policy

import (
	"fmt"
	"testing"
)

// Members are found by name and by cluster, in one order.
func TestMembers(t *testing.T) {
	m := parseMembers("b: b1, a: a1, b: b3, c: a1")
	m = NewMembers(append(m.all, Member{ID: "b2", Cluster: "b", Guest: true}))
	if m.Len() != 4 || fmt.Sprint(m.Clusters()) != "[{a [{a1 a false}]} {b [{b1 b false} {b2 b true} {b3 b false}]}]" {
		t.Errorf("members: %v", m.Clusters())
	}
	if from, to := m.span("b"); from != 1 || to != 4 {
		t.Errorf("cluster b spans %d to %d", from, to)
	}
	if from, to := m.span("x"); from != to {
		t.Errorf("an unknown cluster spans %d to %d", from, to)
	}
	if _, ok := m.Find("zz"); ok || len(m.Cluster("x").Members) != 0 {
		t.Error("found what is not there")
	}
}
