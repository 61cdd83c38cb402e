//go:build browser

package gateway_test

import (
	"net/url"
	"strings"
	"testing"
)

// A page in Chromium goes on at another daemon's gateway, by the same link, when its own is killed. (That the answer is
// right then, TestKilledGatewayIsReplaced of package peer tries.)
func TestKilledGatewayInBrowser(t *testing.T) {
	x := newStage(t)
	if _, err := x.swarm.Start(x.ctx, "SATIN_WORKERS=1"); err != nil {
		t.Fatal(err)
	}
	next := x.swarm.Peers[2]
	queens := x.run("nqueens", "20") // which lasts until it is cancelled
	at := x.begun()
	link, err := next.Command(x.ctx, "share", "--all")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		t.Fatal(err)
	}
	x.show("moves.mjs", x.link(at), func() {
		if err := x.gateway.Kill(); err != nil {
			t.Error(err)
		}
	}, u.Scheme+"://"+u.Host)
	if _, err := x.owner.Command(x.ctx, "cancel", at); err != nil {
		t.Fatal(err)
	}
	<-queens
}
