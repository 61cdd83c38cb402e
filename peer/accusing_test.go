package peer

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/alarm"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/cabinet"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/verify"
)

// says signs that an outcome came of the job that an accusation is about.
func (a *accusation) says(t *testing.T, key crypto.PrivKey, outcome string) testimony {
	t.Helper()
	w := testimony{Digest: compute.Digest([]byte(outcome))}
	claim := (&verify.Opening{Node: driver.NodeOf(a.Path, job.Identify(a.Function, a.Argument)),
		Outcome: w.Digest}).Claim()
	var err error
	if w.Voucher, err = statement.Vouch(key, a.Run, &claim); err != nil {
		t.Fatal(err)
	}
	return w
}

// madeOf has the job's one author say that it was made of the outcome of one below it.
func (a *accusation) madeOf(t *testing.T, key crypto.PrivKey, outcome string) {
	t.Helper()
	o := &verify.Opening{Node: driver.NodeOf(a.Path, job.Identify(a.Function, a.Argument)), Outcome: a.Said.Digest}
	child := (&verify.Opening{Node: driver.NodeOf(append(slices.Clone(a.Path), 1), job.Identify("part", nil)),
		Outcome: compute.Digest([]byte(outcome))}).Claim()
	o.Children = []verify.Claim{child}
	claim := o.Claim()
	var err error
	if a.Said.Voucher, err = statement.Vouch(key, a.Run, &claim); err != nil {
		t.Fatal(err)
	}
	a.Truth, a.Children = testimony{}, driver.ChildrenOf([]driver.Given{{Claim: child, Bytes: []byte(outcome)}})
}

// branches says by whom all are members.
type branches string

func (b branches) Branch(peer.ID) string { return string(b) }

// Tried is what two have signed differently of one job, of a run that is verified and that this peer has a part in,
// and nothing else.
func TestWhatIsTried(t *testing.T) {
	verified, believing := job.RunID{1}, job.RunID{2}
	liar, liarID := newKey(t)
	honest, honestID := newKey(t)
	self, selfID := newKey(t)
	gone, goneID := newKey(t)
	known, knownID := newKey(t)
	reference, _, err := port.Refer([]byte("large"))
	if err != nil {
		t.Fatal(err)
	}
	referred := string(reference)
	judged := func(said, truth string) func(a *accusation) { // these are outcomes that are there
		return func(a *accusation) {
			a.Function = "peertest.answers"
			a.Said, a.Truth = a.says(t, liar, "lie"), a.says(t, honest, "truth")
			a.Said.Outcome, a.Truth.Outcome = []byte(said), []byte(truth)
		}
	}
	for name, c := range map[string]struct {
		run    job.RunID
		by     crypto.PrivKey
		change func(a *accusation)
		tried  bool
	}{
		"a lie":                {run: verified, by: liar, tried: true},
		"outcomes that fit":    {verified, liar, func(a *accusation) { a.Said.Outcome = []byte("lie") }, true},
		"a run of others":      {run: job.RunID{3}, by: liar},
		"a run that believes":  {run: believing, by: liar},
		"this peer itself":     {run: verified, by: self},
		"who is out":           {run: verified, by: gone},
		"who was tried before": {run: verified, by: known},
		"words that agree":     {verified, liar, func(a *accusation) { a.Truth = a.says(t, honest, "lie") }, false},
		"another run's words":  {believing, liar, func(a *accusation) { a.Run = verified }, false},
		"another job's words":  {verified, liar, func(a *accusation) { a.Function = "other" }, false},
		"another application's": {verified, liar, func(a *accusation) {
			a.Function = "peertest2.f"
			a.Said, a.Truth = a.says(t, liar, "lie"), a.says(t, honest, "truth")
		}, false},
		"another path's words":  {verified, liar, func(a *accusation) { a.Path = job.Path{9} }, false},
		"no signature":          {verified, liar, func(a *accusation) { a.Said.Voucher = nil }, false},
		"the other's signature": {verified, liar, func(a *accusation) { a.Truth.Voucher = a.Said.Voucher }, false},
		"an outcome put under":  {verified, liar, func(a *accusation) { a.Said.Outcome = []byte("x") }, false},
		"one put against it":    {verified, liar, func(a *accusation) { a.Truth.Outcome = []byte("x") }, false},
		"what is only referred to": {verified, liar, func(a *accusation) {
			a.Said = a.says(t, liar, referred)
			a.Said.Outcome = []byte(referred)
		}, false},
		"a child only referred to": {verified, liar, func(a *accusation) { a.madeOf(t, liar, referred) }, false},
		"children":                 {verified, liar, func(a *accusation) { a.madeOf(t, liar, "part") }, true},
		"children not signed": {verified, liar, func(a *accusation) {
			a.madeOf(t, liar, "part")
			a.Children[0].Digest, a.Children[0].Outcome = compute.Digest([]byte("x")), []byte("x")
		}, false},
		"a child put under": {verified, liar, func(a *accusation) {
			a.madeOf(t, liar, "part")
			a.Children[0].Outcome = []byte("x")
		}, false},
		"what is judged":           {verified, liar, judged("lie", "truth"), true},
		"what is judged, left out": {verified, liar, judged("", "truth"), false},
		"its truth, left out":      {verified, liar, judged("lie", ""), false},
		"children of what is judged": {verified, liar, func(a *accusation) {
			a.Function = "peertest.answers"
			a.Said = a.says(t, liar, "lie")
			a.madeOf(t, liar, "part")
		}, false},
		"children and truth": {verified, liar, func(a *accusation) {
			a.madeOf(t, liar, "part")
			a.Truth = a.says(t, honest, "truth")
		}, false},
	} {
		j := &jury{Base: base.New(slog.New(slog.DiscardHandler), time.Now, 0), self: selfID, host: branches("branch")}
		j.evidence, _ = cabinet.Open(cabinet.OnDisk{}, time.Now, t.TempDir(), ".lie", maxLies)
		if err := j.evidence.Write(knownID.String(), []byte("a proof")); err != nil {
			t.Fatal(err)
		}
		if begin, _ := j.court.docket.Hear(time.Now(), alarm.Accusation[*charge]{}); begin {
			j.court.docket.Next() // somebody tries that one, so what comes waits
		}
		j.court.unfit = func(*statement.SignedManifest) string { return "" }
		j.court.out = func(id peer.ID) bool { return id == goneID }
		j.court.known = func(run job.RunID) *runs.Manifest {
			return map[job.RunID]*runs.Manifest{verified: {App: "peertest", Verify: "quorum=2"},
				believing: {App: "peertest"}}[run]
		}
		a := &accusation{Run: c.run, Path: job.Path{1, 2}, Function: "peertest.f", Argument: []byte{1}}
		a.Said, a.Truth = a.says(t, c.by, "lie"), a.says(t, honest, "truth")
		if c.change != nil {
			c.change(a)
		}
		b, err := wire.Value().Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		j.hear("accuser", b)
		next, ok := j.court.docket.Next()
		if got := next.Of; ok != c.tried ||
			c.tried && (got.said != liarID || got.against != honestID && len(got.Children) == 0 ||
				got.accuser != "accuser" || next.Hand != alarm.PeerID(selfID.String()) || next.Accused != "branch") {
			t.Errorf("%s: to be tried is %+v", name, got)
		}
		j.Cancel()
	}
}
