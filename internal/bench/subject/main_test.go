package main

import "testing"

// The victim itself checks that its sum is right; here, that something is stolen from it at all. On a machine
// where the thief's thread has to wait, that takes more than one run.
func TestVictimLosesJobs(t *testing.T) {
	for _, shape := range []string{"forest", "comb"} {
		for lost := 0.0; lost == 0; {
			a, err := victim([]string{shape, "1000000", "50"})
			if err != nil {
				t.Fatal(err)
			}
			if lost, err = a.Float("steals"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A thief from outside the workers, which are all busy, comes to as many jobs as it asks for.
func TestThiefGetsJobs(t *testing.T) {
	a, err := thief([]string{"2", "10", "50"})
	if err != nil || a["count"] != "50" {
		t.Errorf("got %v, %v", a, err)
	}
}

// Every packet comes back and is counted, with and without workers that are busy beside it.
func TestPacketsComeBack(t *testing.T) {
	for _, contender := range []string{"idle", "busy"} {
		a, err := pingpong([]string{contender, "20"})
		if err != nil || a["count"] != "20" {
			t.Errorf("%s: %v, %v", contender, a, err)
		}
	}
}

// What is measured has come to a right answer: a wrong one is an error, as a question is that cannot be answered.
func TestSolveChecksAnswers(t *testing.T) {
	for _, workers := range []string{"0", "1", "2"} {
		if _, err := solve([]string{workers, "1", "nqueens", "8"}); err != nil {
			t.Errorf("%s workers: %v", workers, err)
		}
	}
	wrong := *subjects["0 1 nqueens 8"].problem
	wrong.Sequential = func() any { return uint64(91) }
	subjects["0 1 wrong"] = &subject{problem: &wrong}
	if _, err := solve([]string{"0", "1", "wrong"}); err == nil {
		t.Error("a wrong answer is taken for right")
	}
	wrong.Sequential = func() any {
		defer func() { wrong.Sequential = subjects["0 1 nqueens 8"].problem.Sequential }()
		return uint64(91)
	}
	subjects["0 2 wrong"] = subjects["0 1 wrong"]
	if _, err := solve([]string{"0", "2", "wrong"}); err == nil {
		t.Error("a wrong answer is taken for right, before a right one")
	}
	for _, words := range [][]string{{"0", "1", "nosuch"}, {"0", "1", "nqueens", "0"}, {"0"},
		{"x", "1", "nqueens", "8"}} {
		if _, err := solve(words); err == nil {
			t.Errorf("%q is no question", words)
		}
	}
}
