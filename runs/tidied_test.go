package runs

import "testing"

// What a process leaves that is killed when it has written an answer, and not removed yet what it was made of, the next
// one removes: both the file of the run and its checkpoint.
func TestKilledBeforeItHasTidiedUp(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	orders := c.Recall(noon, &Recalled{Answers: []RecalledAnswer{{Manifest: m}},
		Own: []RecalledOwn{{Own: Own{Manifest: m}}}})
	if len(of[Remove](orders)) != 1 || len(of[Discard](orders)) != 1 {
		t.Errorf("the orders are %v", orders)
	}
}
