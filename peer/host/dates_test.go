package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/calendar"
	"github.com/satin-peer/satin/internal/wallclock"
)

// What is seen of the calendar adds up over lives, which end by crashes here; a file that is damaged begins anew.
func TestDatesAddUpOverLives(t *testing.T) {
	path, begin := filepath.Join(t.TempDir(), datesFile), time.Date(2027, 1, 1, 19, 0, 0, 0, time.UTC)
	for life := range 4 {
		d, err := openDatebook(path, wallclock.Time(begin.AddDate(0, 0, life), 0))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.reached(begin.Unix()); got != (life >= 2) {
			t.Errorf("in life %d its begin is past: %t", life, got)
		}
		for after := time.Duration(0); after <= calendar.Doubt/2+5*time.Minute; after += time.Minute {
			if err := d.pass(wallclock.Time(begin.AddDate(0, 0, life).Add(after), after), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(path, []byte(`{"Date":"20`), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := openDatebook(path, begin); err != nil || d.found != (calendar.Seen{}) {
		t.Errorf("of a damaged file: %+v, %v", d, err)
	}
}

// Making an invitation while the clock is ahead forgets none that is open, nor does it when the clock is right again
// after a life in which it was ahead for long.
func TestInvitationsWhileTheClockIsAhead(t *testing.T) {
	dir, begin := t.TempDir(), time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	const days = 24 * time.Hour
	path := filepath.Join(dir, datesFile)
	past := datebook{path: path, day: calendar.Calendar{Seen: calendar.Seen{Date: begin.Add(1000 * days)}}}
	if err := past.pass(begin.Add(1000*days), true); err != nil {
		t.Fatal(err)
	}
	dates, err := openDatebook(path, wallclock.Time(begin, 0))
	if err != nil {
		t.Fatal(err)
	}
	book, err := openTicketBook(filepath.Join(dir, ticketsFile), dates.reached)
	if err != nil {
		t.Fatal(err)
	}
	at := func(after, ahead time.Duration) {
		if err := dates.pass(wallclock.Time(begin.Add(after+ahead), after), false); err != nil {
			t.Fatal(err)
		}
	}
	secret, err := book.issue(ticket{Expires: begin.Add(7 * days).Unix(), Uses: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := book.issue(ticket{Expires: begin.Add(7 * days).Unix(), Uses: 1}); err != nil || len(book.all) != 2 {
		t.Fatalf("%d of two are open, %v", len(book.all), err)
	}
	for after := time.Duration(0); after < calendar.Doubt; after += time.Hour {
		at(after, 1000*days)
	}
	if _, err := book.issue(ticket{Expires: begin.Add(1007 * days).Unix(), Uses: 1}); err != nil {
		t.Fatal(err)
	}
	at(calendar.Doubt, 0)
	if _, err := book.redeem(secret, mustID(1), begin.Add(calendar.Doubt)); err != nil {
		t.Errorf("the first one: %v", err)
	}
	for after := 2 * calendar.Doubt; after < 10*days; after += time.Hour {
		at(after, 0)
	}
	if _, err := book.issue(ticket{Expires: begin.Add(20 * days).Unix(), Uses: 1}); err != nil {
		t.Fatal(err)
	}
	_, err = book.redeem(secret, mustID(1), begin.Add(10*days))
	if !errors.Is(err, ErrInvitation) || len(book.all) != 2 {
		t.Errorf("%d are known, the first one: %v", len(book.all), err)
	}
}
