//go:build unix

package chaos

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

// What processes log when they put out whoever has lied: whose run it was, and who has seen for himself.
var (
	proved = regexp.MustCompile(`(?m)^time=(\S+) .*msg="a peer has lied, and is put out" peer=(\w+)`)
	putOut = regexp.MustCompile(`(?m)msg="a peer has lied, [^"]*put out" peer=(\w+)`)
)

// outGoal is how soon after the proof a liar is to be out everywhere, on a quiet machine.
const outGoal = 3 * time.Second

// unmasked is how long it took in all trials, from the proof on, until a liar was out everywhere. The mutex is the
// hall's.
type unmasked struct {
	after []time.Duration
	known int // trials at whose end somebody knew it
}

// Unmasked says how long it took, in a line; "" if no liar was caught.
func (h *Hall) Unmasked() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.after)
	text := ""
	if n := len(h.after); n > 0 {
		text = fmt.Sprintf("liars were out everywhere %.2f s after the proof in the median of %d trials, %.2f in the worst (goal %v)",
			h.after[n/2].Seconds(), n, h.after[n-1].Seconds(), outGoal)
	}
	if h.known > 0 {
		text += fmt.Sprintf("; after %v one was known to somebody in %d trials", settleTime, h.known)
	}
	return text
}

// An unmasking is what is done about the liars of a trial.
type unmasking struct{ trial *trial }

// expose measures how long it takes, from the owner's proof of a lie, until nobody who was there knows the liar.
// What the founder says of whoever is out counts for all; of another owner's proof each has to see for himself.
func (u unmasking) expose(ctx context.Context, owner *swarm.Process) {
	if len(u.trial.plan.Liars) == 0 {
		return
	}
	u.trial.later.Go(func() {
		line, over := proved.FindStringSubmatch(owner.Log()), false
		for line == nil && !over {
			select {
			case <-u.trial.over:
				over = true
			case <-time.After(lookEvery):
			}
			line = proved.FindStringSubmatch(owner.Log())
		}
		if line == nil {
			u.trial.note("the liar was not caught: too little of what it brought was wrong")
			return
		}
		since, err := time.Parse(time.RFC3339Nano, line[1])
		if err != nil {
			u.trial.wrong("the time of a line of the log: %w", err)
			return
		}
		there := map[int]int{} // who is to be convinced, by number and pid: whoever comes later has not heard the proof
		for _, p := range u.trial.everybody() {
			if p.Alive() && !slices.Contains(u.trial.plan.Liars, p.Number) {
				there[p.Number] = p.PID()
			}
		}
		for end := time.Now().Add(settleTime); len(there) > 0 && time.Now().Before(end); time.Sleep(lookEvery) {
			u.convinced(ctx, line[2], there)
		}
		took := time.Since(since)
		u.trial.hall.mu.Lock()
		if len(there) == 0 {
			u.trial.hall.after = append(u.trial.hall.after, took)
		} else {
			u.trial.hall.unmasked.known++
		}
		u.trial.hall.mu.Unlock()
		switch {
		case len(there) == 0:
			u.trial.note("the liar was out everywhere %.2f s after the proof (goal %v)", took.Seconds(), outGoal)
		case owner.Number == 0:
			u.trial.wrong("%v after the founder has proved its lie %s is known to %v", settleTime, line[2], there)
		default:
			u.trial.note("%v after the proof the liar is known to %v, whom it does not convince: the job takes long, or reads what jobs share", settleTime, there)
		}
	})
}

// convinced takes those away who do not know a peer any more, or are not there any more.
func (u unmasking) convinced(ctx context.Context, id string, there map[int]int) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for _, p := range u.trial.everybody() {
		client := p.Client()
		if there[p.Number] == 0 || client == nil {
			continue
		}
		list, err := client.Peers(ctx)
		knows := err != nil || slices.ContainsFunc(list, func(i control.PeerInfo) bool { return i.Peer == id })
		if !knows || !p.Alive() || p.PID() != there[p.Number] {
			delete(there, p.Number)
		}
	}
}

// end ends the liars, which nobody speaks with any more, and sees that nobody else was put out.
func (u unmasking) end() {
	var liars []string
	for _, n := range u.trial.plan.Liars {
		p := u.trial.everybody()[n]
		if st, err := p.Client().Status(context.Background()); err == nil {
			liars = append(liars, st.Peer)
		}
		if err := p.Kill(); err != nil {
			u.trial.wrong("peer %d: %w", n, err)
		}
	}
	for _, p := range u.trial.everybody() {
		for _, m := range putOut.FindAllStringSubmatch(p.Log(), -1) {
			if !slices.Contains(u.trial.plan.Liars, p.Number) && !slices.Contains(liars, m[1]) {
				u.trial.wrong("peer %d has put out %s, which has not lied", p.Number, m[1])
			}
		}
	}
}
