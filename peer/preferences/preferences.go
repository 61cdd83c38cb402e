// Package preferences is what the owner of a machine allows jobs of it, and when: as many cores as are left over while
// he works, all of them at night, none on battery. It is one pure rule, [Preferences.Decide], from what was seen of the
// machine; package senses sees it, and the peer does what was decided.
//
// The preferences are those of BOINC's volunteers (D. P. Anderson, "BOINC: a platform for volunteer computing", 2020,
// section 2.2, "computing preferences"): whether somebody is at the machine, battery, hours, programs that want it for
// themselves, heat. Two owners' wishes never conflict: the strictest rule decides, and says so in one line.
package preferences

import (
	"fmt"
	"time"
)

// Same as a number of cores means no other number than usual.
const Same = -1

// Preferences are what the owner of a machine allows. The zero value allows nothing.
type Preferences struct {
	// Workers is how many cores may be used at most, 1 or more.
	Workers int
	// Here is how many while somebody is at the machine; Same: as many as else.
	Here int
	// AwayAfter is how long nobody must have touched the machine to be away.
	AwayAfter time.Duration
	// OnBattery says whether cores may be used while the machine runs on its battery.
	OnBattery bool
	// Hours are when cores may be used, in local time; none means always.
	Hours []Hours
	// YieldTo are programs, by the names of their processes, beside which no core is used.
	YieldTo []string
	// Rest is the percentage of their time in which the cores that may be used are to be left alone, 0 to 99.
	Rest int
	// OnMetered says whether cores may be used while the network counts, or costs, what goes through it.
	OnMetered bool
	// The rest is no matter of the moment: bytes a second that may be sent to other peers and received from them,
	// bytes of memory for the jobs of a run that begins, and of the disk for what is kept of others' runs; 0: any,
	// and of memory as the system has it.
	Up, Down, Memory, Disk int64
	// Hottest is the temperature in degrees Celsius from which on no core is used, until it is Cooling below; 0: any.
	Hottest int
}

// Cooling is by how many degrees Celsius a machine that became too hot must cool down, so that it does not begin anew
// every few seconds.
const Cooling = 10

// Seen is what there is to know of the machine now. What is not known is zero, and forbids nothing.
type Seen struct {
	Now time.Time // local
	// Zone is the zone of that; nil: the one in which this process began.
	Zone *time.Location
	// Untouched is since when nobody has touched keyboard, mouse or a terminal; valid if Watched.
	Untouched time.Duration
	Watched   bool
	// Battery says that the machine runs on its battery.
	Battery bool
	// Metered says that the network is.
	Metered bool
	// Running is the first of YieldTo that runs; "" for none.
	Running string
	// Celsius is the temperature of the hottest part; 0 if not known.
	Celsius int
	// Lost is the part of their time, 0 to 1, in which cores that had jobs were given to other programs, and Taken that
	// of all cores in which anything ran; 0 if not known.
	Lost, Taken float64
}

const (
	// MostLost is the part of their time that jobs may lose to other programs before they are stopped: at the lowest
	// priority they lose 0.997 of a core of Linux that another program wants all the time.
	MostLost = 0.98
	// Crowded is what of all cores is taken if there is nothing left for jobs.
	Crowded = 0.95
	// CrowdedFor is for how long jobs are stopped before they are tried again: whatever the crowd, they go on, at a
	// quarter of the little that they would get.
	CrowdedFor = 3 * time.Second
)

// A Verdict is what may be used now, and why not more.
type Verdict struct {
	Cores int
	Rest  int    // percentage of their time in which they are to be left alone
	Limit string // in one line, why it is not all of Workers, all the time; "" if it is
	hot   bool
	// Crowded is since when no core is used because other programs want all; zero: it is not so.
	Crowded time.Time
}

// Needs says which of the senses the preferences ask for: others need not be looked at.
func (p *Preferences) Needs() (touched, battery, metered, programs, heat bool) {
	return p.Here != Same && p.Here < p.Workers, !p.OnBattery, !p.OnMetered, len(p.YieldTo) > 0, p.Hottest > 0
}

// Decide says how many cores may be used; before is what it said the last time.
func (p *Preferences) Decide(s Seen, before Verdict) Verdict {
	v := p.wished(s, before)
	if stays := !before.Crowded.IsZero() && s.Now.Sub(before.Crowded) < CrowdedFor; s.Taken >= Crowded && stays {
		v.Crowded = before.Crowded
	} else if s.Taken >= Crowded && s.Lost >= MostLost {
		v.Crowded = s.Now
	}
	if !v.Crowded.IsZero() && v.Cores > 0 {
		v.Cores, v.Rest, v.Limit = 0, 0, "other programs want all cores"
	}
	return v
}

// wished is the verdict without the crowd, which is no matter of wishes.
func (p *Preferences) wished(s Seen, before Verdict) Verdict {
	hot := p.Hottest > 0 && (s.Celsius >= p.Hottest || before.hot && s.Celsius > p.Hottest-Cooling)
	switch {
	case !within(p.Hours, s.Now):
		return Verdict{hot: hot, Limit: "it is not the time: hours allows " + describe(p.Hours)}
	case s.Battery && !p.OnBattery:
		return Verdict{hot: hot, Limit: "the machine runs on its battery, and on_battery is false"}
	case s.Metered && !p.OnMetered:
		return Verdict{hot: hot, Limit: "the network is metered, and on_metered is false"}
	case s.Running != "":
		return Verdict{hot: hot, Limit: s.Running + " is running, and yield_to names it"}
	case hot && s.Celsius >= p.Hottest:
		return Verdict{hot: hot, Limit: fmt.Sprintf("the machine has %d degrees, and hottest is %d", s.Celsius,
			p.Hottest)}
	case hot:
		return Verdict{hot: hot, Limit: fmt.Sprintf("the machine has %d degrees and cools down to %d", s.Celsius,
			p.Hottest-Cooling)}
	case p.Here != Same && p.Here < p.Workers && s.Watched && s.Untouched < p.AwayAfter:
		v := Verdict{Cores: p.Here, Limit: fmt.Sprintf("somebody is at the machine, and workers_here is %d", p.Here)}
		if p.Rest > 0 && p.Here > 0 {
			v.Rest, v.Limit = p.Rest, fmt.Sprintf("%s; cpu_share is %d", v.Limit, 100-p.Rest)
		}
		return v
	case p.Rest > 0:
		return Verdict{Cores: p.Workers, Rest: p.Rest, Limit: fmt.Sprintf("cpu_share is %d", 100-p.Rest)}
	}
	return Verdict{Cores: p.Workers}
}
