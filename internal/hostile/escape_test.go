package hostile

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/control"
)

// obeyed is what terminals and pages obey, in the middle of a text.
const obeyed = "a\x1b]0;mine\x07\u009b2J\u202eb"

// obeys finds what is left of it.
func obeys(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	})
}

// What a thief says of a job that failed, its stack, its function and the peer that it was on, comes to the user as
// text that nothing obeys.
func TestEscapeSequences(t *testing.T) {
	t.Parallel()
	v := computing(t)
	r := invited(t, v)
	r.volunteers(t)
	run, end := pairs(t, v, 2, control.Submission{})
	x := r.steals(t, run)
	g, from := x.take(t)
	outcome, err := wire.Value().Encode(&compute.Outcome{Panic: &compute.Failure{Path: g.Job.Path, Func: obeyed,
		Peer: obeyed, Panic: obeyed, Stack: []byte(obeyed + "\n\t" + obeyed), Is: []string{obeyed}}})
	if err != nil {
		t.Fatal(err)
	}
	x.send(from, x.result(t, &g, outcome, x.key))
	out := end()
	if !strings.Contains(out.Failure, "a") || !strings.Contains(out.Stack, "\n\t") {
		t.Fatalf("the failure is %q, its stack %q", out.Failure, out.Stack)
	}
	status, err := v.Status(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	peers, err := v.Peers(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal([]any{status, peers})
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"failure": out.Failure, "stack": out.Stack, "status": string(shown)} {
		if obeys(text) || what == "status" && strings.Contains(text, `\u001b`) {
			t.Errorf("the %s is %q", what, text)
		}
	}
}
