package rup

import "testing"

// TestCheck has a proof, and the same with one thing wrong.
func TestCheck(t *testing.T) {
	const formula = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0 -1 -2 0\n"
	for proof, right := range map[string]bool{
		"5 2 0 1 2 0\n6 0 5 3 4 0\n":  true,
		"5 2 0 0\n5 d 1 2 0\n6 0 0\n": true,
		"5 d 1 0\n6 0 0\n":            false,
		"5 2 0 1 2 0\n":               false,
		"5 -3 0 0\n":                  false,
		"x\n":                         false,
		"":                            false,
	} {
		if err := Check(formula, proof); (err == nil) != right {
			t.Errorf("%q: got %v, right: %t", proof, err, right)
		}
	}
	if Check("1 2 0\n", "2 0 1 0\n") == nil {
		t.Error("a formula with a model has none, it says")
	}
}
