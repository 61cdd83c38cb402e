package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Guards that a history is bounded, keeps what is newest, and says nothing of workers while there is no run.
func TestHistoryIsBounded(t *testing.T) {
	h := &history{}
	for i := range 2 * momentsKept {
		h.add(momentOf(&Status{State: "idle", Workers: 2}, time.Unix(int64(i), 0)))
	}
	if n := len(h.moments); n != momentsKept || h.moments[n-1].At.Unix() != 2*momentsKept-1 ||
		h.moments[0].At.Unix() != momentsKept || h.moments[0].Busy != nil {
		t.Errorf("%d moments from %+v", n, h.moments[0])
	}
}

// Guards that it is remembered who came and went, by which name and how, and only of the last ones, in few words
// however many they are at once.
func TestMembersAreRemembered(t *testing.T) {
	h := &history{}
	look := func(at int64, peers ...Peer) { h.look(peers, time.Unix(at, 0)) }
	a, b := Peer{Peer: "12D3KooWaaaaaaaa", Name: "<b>a", Alive: true}, Peer{Peer: "12D3KooWbbbbbbbb", Alive: true}
	silent := a
	silent.Alive = false
	look(1, a)         // comes, as all do to a daemon that has just been started
	look(2, a, b)      // comes
	look(3, silent, b) // is not heard, and then forgotten, which is nothing new
	look(4, b)
	look(5, a)
	var got []string
	for _, e := range h.members() {
		got = append(got, fmt.Sprint(e.At.Unix(), " ", e.Kind, " ", e.Text))
	}
	want := []string{"1 joined joined: <b>a (…aaaaaaaa)", "2 joined joined: …bbbbbbbb", "3 left not heard any more: <b>a (…aaaaaaaa)",
		"5 joined joined: <b>a (…aaaaaaaa)", "5 left gone: …bbbbbbbb"}
	if !slices.Equal(got, want) {
		t.Errorf("remembered is %q, want %q", got, want)
	}
	crowd := make([]Peer, maxPeers)
	for i := range crowd {
		crowd[i] = Peer{Peer: fmt.Sprintf("peer%08d", i), Name: strings.Repeat("x", 1000), Alive: true}
	}
	for i := range int64(rosterKept) {
		look(10+2*i, crowd...)
		look(11 + 2*i)
	}
	list := h.members()
	if last := list[len(list)-1]; len(list) != rosterKept || last.At.Unix() != 9+2*rosterKept ||
		!strings.HasSuffix(last.Text, fmt.Sprint(" and ", maxPeers-mostNamed, " more")) || len(last.Text) > 400 {
		t.Errorf("%d are remembered, the last %+v", len(list), list[len(list)-1])
	}
}

// Guards that a long name is cut between two letters, not in the middle of one.
func TestNamesAreCutBetweenLetters(t *testing.T) {
	if got := peerName(Peer{Peer: "12D3KooWaaaaaaaa", Name: "x" + strings.Repeat("ö", 60)}); got !=
		"x"+strings.Repeat("ö", 29)+"… (…aaaaaaaa)" {
		t.Errorf("it is called %q", got)
	}
}
