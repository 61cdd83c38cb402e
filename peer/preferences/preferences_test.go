package preferences

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Guards the promise to the owner of a machine: his strictest wish decides, and the line says which.
func TestTheStrictestWishDecides(t *testing.T) {
	night, ok := ParseHours("mon-fri/22:00-06:00")
	if !ok {
		t.Fatal("hours are not read")
	}
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) // a Monday
	all := Preferences{Workers: 8, Here: 2, AwayAfter: 5 * time.Minute, YieldTo: []string{"game"}, Hottest: 80}
	atNight := all
	atNight.Hours = []Hours{night}
	for _, c := range []struct {
		name  string
		p     Preferences
		seen  Seen
		cores int
		limit string
	}{
		{"nobody there", all, Seen{Now: noon, Watched: true, Untouched: 5 * time.Minute}, 8, ""},
		{"nobody can tell", all, Seen{Now: noon}, 8, ""},
		{"somebody there", all, Seen{Now: noon, Watched: true, Untouched: 5*time.Minute - 1}, 2, "workers_here is 2"},
		{"on battery", all, Seen{Now: noon, Battery: true}, 0, "on_battery"},
		{"metered", all, Seen{Now: noon, Metered: true}, 0, "on_metered is false"},
		{"a program", all, Seen{Now: noon, Running: "game"}, 0, "game is running"},
		{"hot", all, Seen{Now: noon, Celsius: 80}, 0, "80 degrees"},
		{"warm", all, Seen{Now: noon, Celsius: 79}, 8, ""},
		{"by day", atNight, Seen{Now: noon}, 0, "mon-fri/22:00-06:00"},
		{"at night", atNight, Seen{Now: noon.Add(11 * time.Hour)}, 8, ""},
		{"in the morning", atNight, Seen{Now: noon.Add(17*time.Hour + 59*time.Minute)}, 8, ""},
		{"too late", atNight, Seen{Now: noon.Add(18 * time.Hour)}, 0, "not the time"},
		{"friday's night ends on saturday", atNight, Seen{Now: noon.Add(4*24*time.Hour + 17*time.Hour)}, 8, ""},
		{"saturday's is none", atNight, Seen{Now: noon.Add(5*24*time.Hour + 11*time.Hour)}, 0, "not the time"},
		{"all cores are taken", all, Seen{Now: noon, Lost: 0.99, Taken: 1}, 0, "other programs"},
		{"jobs have their part", all, Seen{Now: noon, Lost: 0.9, Taken: 1}, 8, ""},
		{"cores are free", all, Seen{Now: noon, Lost: 1, Taken: 0.9}, 8, ""},
		{"battery before a crowd", all, Seen{Now: noon, Battery: true, Lost: 1, Taken: 1}, 0, "battery"},
		{"battery before somebody", all, Seen{Now: noon, Battery: true, Watched: true}, 0, "battery"},
	} {
		v := c.p.Decide(c.seen, Verdict{})
		if v.Cores != c.cores || !strings.Contains(v.Limit, c.limit) || (v.Limit == "") != (c.limit == "") {
			t.Errorf("%s: %d cores, %q; want %d, %q", c.name, v.Cores, v.Limit, c.cores, c.limit)
		}
	}
}

// A machine that has become too hot works again when it is ten degrees cooler, and not on and off at the edge.
func TestAHotMachineCoolsDownFirst(t *testing.T) {
	p := Preferences{Workers: 4, Here: Same, OnBattery: true, Hottest: 80}
	var v Verdict
	for i, c := range []struct{ celsius, cores int }{{79, 4}, {80, 0}, {75, 0}, {71, 0}, {70, 4}, {79, 4}} {
		if v = p.Decide(Seen{Celsius: c.celsius}, v); v.Cores != c.cores {
			t.Errorf("step %d, %d degrees: %d cores, want %d", i, c.celsius, v.Cores, c.cores)
		}
	}
}

// Whatever is seen, no more is used than allowed, a limit has a reason, and whoever needs no sense is not moved by it.
func TestNoMoreThanAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Preferences{Workers: rapid.IntRange(1, 64).Draw(t, "workers"),
			Here: rapid.IntRange(-1, 64).Draw(t, "here"), AwayAfter: time.Minute,
			OnBattery: rapid.Bool().Draw(t, "battery ok"), OnMetered: rapid.Bool().Draw(t, "metered ok"),
			Rest:    rapid.SampledFrom([]int{0, 1, 99}).Draw(t, "rest"),
			Hottest: rapid.SampledFrom([]int{0, 60, 90}).Draw(t, "hottest")}
		s := Seen{Now: time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "now"), 0).UTC(),
			Watched:   rapid.Bool().Draw(t, "watched"),
			Untouched: time.Duration(rapid.IntRange(0, 120).Draw(t, "untouched")) * time.Second,
			Battery:   rapid.Bool().Draw(t, "battery"), Metered: rapid.Bool().Draw(t, "metered"),
			Celsius: rapid.IntRange(0, 110).Draw(t, "celsius"),
			Lost:    rapid.Float64Range(0, 1).Draw(t, "lost"), Taken: rapid.Float64Range(0, 1).Draw(t, "taken")}
		v := p.Decide(s, Verdict{})
		if v.Cores < 0 || v.Cores > p.Workers || (v.Cores < p.Workers || v.Rest > 0) != (v.Limit != "") ||
			v.Cores > 0 && v.Rest != p.Rest {
			t.Fatalf("%d of %d cores, %q", v.Cores, p.Workers, v.Limit)
		}
		touched, battery, metered, _, heat := p.Needs()
		if !touched {
			s.Watched = !s.Watched
		}
		if !battery {
			s.Battery = !s.Battery
		}
		if !metered {
			s.Metered = !s.Metered
		}
		if !heat {
			s.Celsius = 110 - s.Celsius
		}
		if w := p.Decide(s, Verdict{}); w.Cores != v.Cores {
			t.Fatalf("a sense that is not needed moved %d cores to %d", v.Cores, w.Cores)
		}
	})
}

// Hours that are written in another way are refused, rather than work being done at a time that the owner did not
// mean.
func TestHoursThatAreNone(t *testing.T) {
	for _, s := range []string{"", "mon", "mon-fri", "22:00", "24:00-06:00", "22:00-24:01", "mo/10:00-12:00", "mon/1:00-2:00",
		"mon-fri-sun/10:00-12:00", "10:60-12:00", "-1:00-02:00", "mon/10:00 - 12:00", "mon 10:00-12:00"} {
		if _, ok := ParseHours(s); ok {
			t.Errorf("%q is taken for hours", s)
		}
	}
	for _, s := range []string{"22:00-06:00", "Mon-Fri/18:00-08:00", "sat-mon/00:00-24:00", "sun/10:00-10:00"} {
		if _, ok := ParseHours(s); !ok {
			t.Errorf("%q is not taken for hours", s)
		}
	}
}
