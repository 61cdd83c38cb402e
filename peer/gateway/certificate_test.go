package gateway

import (
	"net/netip"
	"testing"
	"time"
)

// The certificate that a gateway makes is good on the day on which it is shown, though the clock was wrong at the
// start, or that is long ago; and the same as long as it is good, for browsers that were told to take it.
func TestCertificateIsGoodToday(t *testing.T) {
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	at := begin
	m := &made{at: netip.MustParseAddr("192.0.2.1"), now: func() time.Time { return at }}
	shown := map[string]int{}
	for i, days := range []int{0, 1, 396, 398, 500, -7000, 500} {
		at = begin.AddDate(0, 0, days)
		c, err := m.certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if at.Before(c.Leaf.NotBefore) || at.After(c.Leaf.NotAfter) {
			t.Errorf("at time %d it is good from %s to %s", i, c.Leaf.NotBefore, c.Leaf.NotAfter)
		}
		shown[string(c.Certificate[0])]++
	}
	if len(shown) != 4 {
		t.Errorf("%d were made, want one, one after a year, one in the past and one after that", len(shown))
	}
}
