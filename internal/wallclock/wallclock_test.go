package wallclock

import (
	"testing"
	"time"
)

// The wall shows what was asked for, and between two times is what has passed, whatever the wall has shown: so package
// time still has its times as this package makes them.
func TestReadings(t *testing.T) {
	at := time.Date(2030, 2, 3, 4, 5, 6, 7, time.UTC)
	a, b := Time(at, time.Hour), Time(at.AddDate(-20, 0, 0), 3*time.Hour)
	if !a.Round(0).Equal(at) || b.Unix() != at.AddDate(-20, 0, 0).Unix() {
		t.Errorf("the wall shows %s and %s", a, b)
	}
	if d := b.Sub(a); d != 2*time.Hour {
		t.Errorf("%s have passed", d)
	}
	if c := a.Add(time.Minute); c.Sub(a) != time.Minute || c.Unix() != at.Unix()+60 {
		t.Errorf("a minute later it is %s", c)
	}
	now := time.Now()
	c := Set(now, -time.Hour)
	if d := Set(now.Add(time.Minute), 0).Sub(c); d != time.Minute || c.Unix() != now.Unix()-3600 {
		t.Errorf("an hour behind %s it is %s, and %s passed while a minute did", now, c, d)
	}
}
